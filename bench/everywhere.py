"""Whether defaults learn everywhere: python -m bench.everywhere --seeds 20 (some minutes).

Anytime bonus and adaptive blocks on every environment, K = 10^12: the median regret, its mean over its median, how many
seeds are settled (final loss at most 10^-6 of V*) and how many ever recorded a Q~ below Q*.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

import dprl
from dprl.mdp import planning

PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("riverswim", {}),
    ("riverswim", {"variant": "strehl-littman"}),
    ("gridworld", {}),
    ("chain", {}),
    ("clinic", {}),
    ("random", {}),
    ("hard-jdp", {}),
    ("gymnasium", {"id": "FrozenLake-v1"}),
]


def line(environment: str, params: dict[str, Any], privacy: str, algorithm: str, seeds: int) -> str:
    """One row of the table."""
    spec = dprl.RunSpec(environment=environment, environment_params=params, algorithm=algorithm, privacy=privacy,
                        bonus="anytime", schedule="adaptive", episodes=10**12, seeds=seeds)  # fmt: skip
    mdp = dprl.ENVIRONMENTS[environment].make(**params)
    v_star = planning.start_value(mdp, planning.optimum(mdp).V)
    traces = dprl.run(spec).seeds
    regret = np.array([trace.regret[-1] for trace in traces])
    settled = sum(trace.gap[-1] <= 1e-6 * v_star for trace in traces)
    lost = sum(bool((trace.optimism < 1).any()) for trace in traces)
    median = float(np.median(regret))
    return (
        f"{environment} {' '.join(map(str, params.values()))} | {algorithm} | {privacy} | {median:.3g} | "
        f"{regret.mean() / median:.3f} | {settled}/{seeds} | {lost}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    for environment, params in PROBLEMS:
        for privacy in ("none", "central", "shuffle"):
            print(line(environment, params, privacy, "dp-ucbvi", seeds), flush=True)
        print(line(environment, params, "none", "ucbvi-hoeffding", seeds), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
