"""Whether defaults learn everywhere: python -m bench.everywhere --seeds 20 (half an hour on one core).

Every environment, or problems that nothing was chosen on (--held-out), K = 10^12, all else as it is by default. For
each: the median regret, its mean over its median, how many seeds are settled (final loss at most 10^-6 of V*), how many
ever had a Q~ below Q* (it never rises, so the last one tells), and what was lost more than with UCBVI: the mean
difference, with its 95% interval over seeds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import dprl
from dprl.mdp import planning
from dprl.metrics import regret_band

Problem = tuple[str, dict[str, Any]]

PROBLEMS: list[Problem] = [
    ("riverswim", {}),
    ("riverswim", {"variant": "strehl-littman"}),
    ("gridworld", {}),
    ("chain", {}),
    ("clinic", {}),
    ("random", {}),
    ("hard-jdp", {}),
    ("gymnasium", {"id": "FrozenLake-v1"}),
    ("gymnasium", {"id": "CliffWalking-v1"}),
]


def ring(S: int, H: int) -> Problem:
    """A model as a visitor may upload it: states in a ring, steps either way that slip, and one state that pays."""
    P = np.zeros((S, 2, S))
    for s in range(S):
        P[s, 0, (s + 1) % S], P[s, 0, s] = 0.8, 0.2
        P[s, 1, (s - 1) % S], P[s, 1, s] = 0.6, 0.4
    r = np.full((S, 2), 0.1)
    r[S // 2] = 0.9
    return "custom", {
        "model": json.dumps({"P": P.tolist(), "R": r.tolist(), "d1": [1.0] + [0.0] * (S - 1)}),
        "H": H,
    }


def held_out() -> Iterator[Problem]:
    """Other sizes, uploads, and 20 random problems."""
    yield "riverswim", {"S": 10, "H": 30}
    yield "riverswim", {"S": 4, "H": 10}
    yield "chain", {"S": 8, "A": 2}
    yield "clinic", {"levels": 4, "doses": 2}
    yield "clinic", {"effect": 0.4, "toxicity": 0.8, "H": 5}
    yield "hard-jdp", {"n": 4, "m": 4, "alpha": 0.05}
    yield "gridworld", {"slip": 0.3}
    yield "gymnasium", {"id": "FrozenLake-v1", "H": 12}
    yield ring(4, 6)
    yield ring(7, 14)
    for seed in range(20):
        rng = np.random.default_rng(seed + 100)
        sizes = {"S": int(rng.integers(3, 8)), "A": int(rng.integers(2, 5)), "H": int(rng.integers(4, 13))}
        yield "random", {**sizes, "seed": seed + 100}


def cells(epsilons: list[float]) -> Iterator[dict[str, Any]]:
    """What is run on each problem; the first is what the others are compared with."""
    yield {"algorithm": "ucbvi"}
    yield {"algorithm": "ucbvi-hoeffding"}
    for privacy in ("central", "shuffle", "local"):
        for epsilon in epsilons:
            yield {"algorithm": "dp-ucbvi", "privacy": privacy, "epsilon": epsilon}


def rows(
    environment: str, params: dict[str, Any], epsilons: list[float], seeds: int, K: int
) -> Iterator[str]:
    """The lines of the table for one problem."""
    mdp = dprl.ENVIRONMENTS[environment].make(**params)
    v_star = planning.start_value(mdp, planning.optimum(mdp).V)
    named = f"S={mdp.S} {' '.join(f'{k}={v}' for k, v in params.items() if k != 'model')}"
    twin = np.zeros(seeds)
    for cell in cells(epsilons):
        start = time.perf_counter()
        try:
            spec = dprl.RunSpec(
                environment=environment, environment_params=params, episodes=K, seeds=seeds, **cell
            )
            traces = dprl.run(spec).seeds
        except dprl.SpecError as refused:
            yield f"{environment} {named} | {list(cell.values())} | refused: {refused}"
            continue
        regret = np.array([trace.regret[-1] for trace in traces])
        if cell == {"algorithm": "ucbvi"}:
            twin = regret
        more, low, high = (float(x[0]) for x in regret_band((regret - twin).reshape(-1, 1)))
        settled = sum(trace.gap[-1] <= 1e-6 * v_star for trace in traces)
        lost = sum(bool(trace.optimism[-1] < 1) for trace in traces)
        median = float(np.median(regret))
        run = " ".join(map(str, cell.values()))
        yield (
            f"{environment} {named} | {run} | {median:.3g} | {regret.mean() / median:.3f} | "
            f"{settled}/{seeds} | {lost} | {more:.3g} ({low:.3g} to {high:.3g}) | {time.perf_counter() - start:.0f} s"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--episodes", type=float, default=1e12)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0])
    parser.add_argument("--only", help="an environment")
    parser.add_argument("--held-out", action="store_true", help="problems that nothing was chosen on")
    given = parser.parse_args()
    print("problem | run | median | mean/median | settled | Q~ < Q* | more than ucbvi | time")
    for environment, params in held_out() if given.held_out else PROBLEMS:
        if given.only in (None, environment):
            for line in rows(environment, params, given.epsilons, given.seeds, int(given.episodes)):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
