"""Learners of linear models where weights matter: average regret, optimism, speed (docs/notes/linear.md).

python -m bench.linear [ucrl-vtr | ucrl-vtr-plus | lsvi-ucb]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from dprl import RunSpec
from dprl.simulation import start

SEEDS = 10
MOST = {"d": 10, "S": 4, "H": 10}
VTR: tuple[dict[str, Any], ...] = (
    *({"privacy": "none", "episodes": K} for K in (10**6, 10**9)),
    *({"privacy": "central", "episodes": K} for K in (10**6, 10**7, 10**8, 10**9)),
    *({"privacy": "local", "epsilon": e, "episodes": 10**12} for e in (10.0, 1.0)),
    *({"privacy": p, "episodes": 10**9, "environment_params": MOST} for p in ("none", "central", "local")),
    *({"privacy": p, "bonus": "paper", "episodes": 10**9} for p in ("none", "central")),
    *(
        {"privacy": p, "calibration": "paper", "bonus": "paper", "episodes": K}
        for p in ("central", "local")
        for K in (10**9, 10**12, 10**15)
    ),
    {"privacy": "none", "episodes": 50_000, "schedule": "episodic"},
    {"privacy": "central", "episodes": 50_000, "schedule": "episodic"},
)
PURE: dict[str, Any] = {"privacy": "central", "mechanism": "laplace-tree", "delta": 0.0}
LSVI: tuple[dict[str, Any], ...] = (
    *({"privacy": "none", "episodes": K} for K in (10**6, 10**9)),
    *({"privacy": "central", "episodes": K} for K in (10**6, 10**7, 10**8, 10**9, 10**12)),
    *(PURE | {"episodes": K} for K in (10**8, 10**9, 10**10, 10**12)),
    *(
        {"privacy": "central", "episodes": 10**9, "environment_params": params}
        for params in (
            {"stages": 1, "drugs": 4},
            {"stages": 2, "drugs": 2},
            {"stages": 2, "drugs": 4, "H": 6},
        )
    ),
    *({"privacy": p, "episodes": 10**8, "environment": "linear-synthetic"} for p in ("none", "central")),
    *({"privacy": p, "bonus": "paper", "episodes": 10**9} for p in ("none", "central")),
    *(
        {"privacy": "central", "calibration": "paper", "bonus": bonus, "episodes": K}
        for bonus, K in (("paper", 10**9), ("anytime", 10**9), ("anytime", 10**12))
    ),
)
LEARNERS = {
    "ucrl-vtr": ("linear-mixture", VTR),
    "ucrl-vtr-plus": ("linear-mixture", VTR),
    "lsvi-ucb": ("linear-mdp", LSVI),
}


def main(chosen: list[str]) -> None:
    print(
        f"{SEEDS} seeds; regret per episode, in percent of V*; largest gap after the last user, the same; s a seed"
    )
    rows = [(key, home, given) for key, (home, all_of) in LEARNERS.items() for given in all_of]
    for key, home, given in rows:
        if chosen and key not in chosen:
            continue
        usual: dict[str, Any] = {"environment": home, "algorithm": key, "seeds": 1}
        spec = RunSpec(**usual | given)
        start(spec, 0).advance(60.0)
        traces, began = [], time.perf_counter()
        for seed in range(SEEDS):
            run = start(spec, seed)
            while not run.advance(60.0):
                pass
            traces.append(run.trace())
        took = (time.perf_counter() - began) / SEEDS
        v_star = traces[0].v_star
        average = 100 * np.array([t.regret[-1] for t in traces]) / spec.episodes / v_star
        gap = 100 * np.array([t.gap[-1] for t in traces]) / v_star
        said = ", ".join([key, *(f"{name} {value}" for name, value in given.items())])
        print(
            f"{said}: mean {average.mean():.4g} ({average.min():.4g} to {average.max():.4g}), gap {gap.max():.3g}, "
            f"optimism {min(t.optimism.min() for t in traces):.4f}, indefinite "
            f"{max(t.series['indefinite'][-1] for t in traces):.0f}, {took:.3f} s, "
            f"{np.median([t.rate for t in traces]):,.0f} episodes/s",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
