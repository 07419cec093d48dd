"""RLSVI: blocks against one user at a time, and where it settles.

    python -m bench.rlsvi [--seeds 40]

The first table is about small problems, which can be run one user at a time; the second about environments with their
defaults and blocks of adaptive:0.1. About four minutes.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

import dprl
from bench.policy_optimisation import ENVIRONMENTS, ONE_BY_ONE, SMALL
from dprl.simulation import start

SCHEDULES = ("geometric:0.02", "geometric:0.1", "adaptive:0.1", "geometric:0.5", "adaptive:0.5")
DECADES = (9, 12, 15)


def ends(seeds: int, **fields: Any) -> tuple[np.ndarray[Any, Any], float]:
    """Regret after the last user [seeds], and the largest gap of the last policy, both as shares of V*."""
    traces = []
    for seed in range(seeds):
        run = start(dprl.RunSpec(algorithm="rlsvi", seeds=1, **fields), seed)
        while not run.advance(60.0):
            pass
        traces.append(run.trace())
    v_star = traces[0].v_star
    return np.array([t.regret[-1] for t in traces]) / v_star, max(t.gap[-1] for t in traces) / v_star


def blocks(seeds: int) -> None:
    """By how much mean regret in blocks differs from that of one user at a time, with its standard error, and how much
    more widely seeds are spread."""
    print("| problem | K | " + " | ".join(SCHEDULES) + " |\n| --- | --- |" + " --- |" * len(SCHEDULES))
    for environment, params in SMALL.items():
        for K in (10**4, 10**5):
            known: dict[str, Any] = {"environment": environment, "environment_params": params, "episodes": K}
            one, _ = ends(seeds, schedule=ONE_BY_ONE, **known)
            cells = []
            for schedule in SCHEDULES:
                other, _ = ends(seeds, schedule=schedule, **known)
                error = np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / seeds) / one.mean()
                spread = other.std(ddof=1) / one.std(ddof=1)
                cells.append(f"{other.mean() / one.mean() - 1:+.1%} ± {error:.1%}, ×{spread:.1f}")
            print(f"| {environment} | {K:.0e} | {' | '.join(cells)} |", flush=True)


def settles(seeds: int) -> None:
    """Regret and the last policy's gap."""
    print("\n| problem | " + " | ".join(f"K = 1e{k}: regret/V*, last gap/V*" for k in DECADES) + " |")
    for environment in ENVIRONMENTS:
        found = [ends(seeds, environment=environment, episodes=10**k) for k in DECADES]
        cells = [f"{r.mean():.2g} (mean/median {r.mean() / np.median(r):.2f}), {gap:.1g}" for r, gap in found]
        print(f"| {environment} | {' | '.join(cells)} |", flush=True)


def main() -> int:
    """Both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=40, help="seeds (default 40)")
    seeds = parser.parse_args().seeds
    blocks(seeds)
    settles(max(3, seeds // 4))
    return 0


if __name__ == "__main__":
    sys.exit(main())
