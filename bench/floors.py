"""Every online algorithm against the lower bounds of docs/notes/floors.md: the larger of its curves on the two models.

Usage: python -m bench.floors [local shuffle central none] [--problems clinic chain random-tiny] [--seeds 20]

Runs each algorithm at K = 10^3 to 10^12 and epsilon = 0.1 and 1, on the model and on the neighbour that the bound is
for. Prints how many times the bound the larger mean over seeds is, and in the end the least of these for each model of
privacy and algorithm. Its exit status is 1 where one is below 1. A local model takes some ten minutes of one core.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from dprl import ALGORITHMS, RunSpec, SpecError, TabularMDP, run
from dprl.floors import neighbours
from dprl.landscape import PROBLEMS
from dprl.landscape.lower import problem_model

USERS = (10**12, 10**9, 10**6, 10**3)
DELTA = 1e-6


def times(
    mdp: TabularMDP, privacy: str, epsilon: float | None, seeds: int
) -> Iterator[tuple[str, int, float, float]]:
    """Algorithm, K, the bound, and how many times that the larger of both curves is."""
    found = neighbours(mdp)
    noise: dict[str, Any] = {}
    if epsilon is not None:
        noise = {"epsilon": epsilon, "delta": DELTA, "calibration": "tight"}
    for key, algorithm in ALGORITHMS.items():
        for K in USERS if privacy in algorithm.privacies else ():
            floor = found.floor(float(K), privacy, epsilon or 1.0, DELTA if epsilon else 0.0)
            try:
                specs = [
                    RunSpec(environment=one, algorithm=key, privacy=privacy, episodes=K, seeds=seeds, **noise)
                    for one in (mdp, floor.neighbour.of(mdp))
                ]
                lost = max(float(run(spec).values[:, -1].mean()) for spec in specs)
            except SpecError as error:  # of features that a neighbour has not, or of more than the limits
                print(f"{key}, K = {K:.0e}: {error}", file=sys.stderr)
                continue
            yield key, K, floor.regret, lost / floor.regret


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("privacies", nargs="*", default=["local", "shuffle", "central", "none"])
    parser.add_argument("--problems", nargs="+", default=["clinic", "chain", "random-tiny"])
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    least: dict[tuple[str, str], float] = {}
    for privacy in given.privacies:
        for problem in given.problems:
            for epsilon in (None,) if privacy == "none" else (0.1, 1.0):
                for key, K, floor, ratio in times(
                    problem_model(PROBLEMS[problem]), privacy, epsilon, given.seeds
                ):
                    what = f"{privacy} {problem} {epsilon} {key} {K:.0e}"
                    print(f"{what}: {floor:.4g}, {ratio:.3g} times", flush=True)
                    least[privacy, key] = min(least.get((privacy, key), ratio), ratio)
    for (privacy, key), ratio in sorted(least.items(), key=lambda one: one[1]):
        print(f"least, {privacy}, {key}: {ratio:.3g} times")
    return int(min(least.values()) < 1)


if __name__ == "__main__":
    sys.exit(main())
