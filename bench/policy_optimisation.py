"""Policy optimisation: blocks against one user at a time, and how regret grows with K.

    python -m bench.policy_optimisation [--seeds 3]

The first table is about small problems, which can be run one user at a time; the second about environments with their
defaults and blocks of adaptive:0.1, whose steps are tuned to each K anew. About three minutes.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

import dprl
from dprl.simulation import start

ONE_BY_ONE = "episodic"
SCHEDULES = ("geometric:0.02", "geometric:0.1", "adaptive:0.1", "geometric:0.5", "adaptive:0.5")
SMALL: dict[str, dict[str, Any]] = {
    "hard-jdp": {},
    "chain": {"S": 3, "H": 4},
    "random": {"S": 3, "A": 3, "H": 4},
    "riverswim": {"S": 3, "H": 5},
}
ENVIRONMENTS = ("riverswim", "gridworld", "chain", "clinic", "random", "hard-jdp")
DECADES = range(6, 16)
SETTLED = 1e-6  # of V*


def ends(seeds: int, **fields: Any) -> tuple[float, float]:
    """Mean regret after the last user, and the largest gap of the last policy, both as shares of V*."""
    traces = []
    for seed in range(seeds):
        run = start(dprl.RunSpec(algorithm="private-ucb-po", seeds=1, **fields), seed)
        while not run.advance(60.0):
            pass
        traces.append(run.trace())
    v_star = traces[0].v_star
    return float(np.mean([t.regret[-1] for t in traces])) / v_star, max(t.gap[-1] for t in traces) / v_star


def blocks(seeds: int) -> None:
    """By how much regret in blocks differs from that of one user at a time."""
    print("| problem | K | " + " | ".join(SCHEDULES) + " |\n| --- | --- |" + " --- |" * len(SCHEDULES))
    for environment, params in SMALL.items():
        for K in (10**5, 10**6):
            known: dict[str, Any] = {
                "environment": environment,
                "environment_params": params,
                "privacy": "none",
                "episodes": K,
            }
            one, _ = ends(seeds, schedule=ONE_BY_ONE, **known)
            others = [ends(seeds, schedule=schedule, **known)[0] for schedule in SCHEDULES]
            said = " | ".join(f"{other / one - 1:+.1%}" for other in others)
            print(f"| {environment} | {K:.0e} | {said} |", flush=True)


def growth(seeds: int) -> None:
    """Regret over V*, its exponent, and from which K the last policy is as good as the best."""
    at = [10**d for d in DECADES]
    print("| problem | privacy | 10^9 | 10^12 | 10^15 | exponent 10^13 to 10^15 | settled from |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for environment in ENVIRONMENTS:
        for privacy in ("none", "central"):
            found = [ends(seeds, environment=environment, privacy=privacy, episodes=K) for K in at]
            regret, gap = np.array(found).T
            later = [d for d, g in zip(DECADES, gap, strict=True) if g > SETTLED]
            said = [f"{regret[d - DECADES[0]]:.1e}" for d in (9, 12, 15)]
            said += [f"{np.log10(regret[-1] / regret[-3]) / 2:.2f}", f"10^{max(later, default=5) + 1}"]
            print(f"| {environment} | {privacy} | " + " | ".join(said) + " |", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.policy_optimisation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args(arguments).seeds
    blocks(seeds)
    print()
    growth(seeds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
