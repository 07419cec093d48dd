"""How often a run's Q~ is ever below Q*: python -m bench.optimism --runs 2000 (an hour or two on one core).

Many short runs of UCBVI without privacy, and of DP-UCBVI with a trusted curator, on every environment, as they are by
default. Q~ never rises, so the last one tells of every release. The share is to be at most beta; it is given with its
exact 95% interval.
"""

from __future__ import annotations

import argparse
import sys

from scipy import stats

import dprl
from bench.everywhere import PROBLEMS
from dprl.simulation.loops.replan import SeedRun


def lost(spec: dprl.RunSpec, seed: int) -> bool:
    """Whether Q~ is below Q* anywhere when the run has ended."""
    run = SeedRun(spec, seed)
    while not run.advance():
        pass
    return bool((run.state.Q < run.optimum.Q - 1e-9).any())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--beta", type=float, default=0.1)
    given = parser.parse_args()
    print("problem | algorithm | runs that lose optimism | 95% interval | beta")
    for environment, params in PROBLEMS:
        for algorithm, privacy in (("ucbvi", "none"), ("dp-ucbvi", "central")):
            spec = dprl.RunSpec(environment=environment, environment_params=params, algorithm=algorithm,
                                privacy=privacy, episodes=given.episodes, beta=given.beta)  # fmt: skip
            count = sum(lost(spec, seed) for seed in range(given.runs))
            interval = stats.binomtest(count, given.runs).proportion_ci(0.95, method="exact")
            print(
                f"{environment} {' '.join(map(str, params.values()))} | {algorithm} | {count}/{given.runs} | "
                f"{interval.low:.2g} to {interval.high:.2g} | {spec.beta}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
