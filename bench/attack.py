"""The attack of the page Attack, played anew many times on each privacy model: python -m bench.attack.

3,000 executions a world on RiverSwim's default run, and how often the measured epsilon is significantly above the
proved one: one-sided tests of the separation of the scores, all of a model together corrected as Holm (1979).
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import stats

import dprl
from dprl import RunSpec, metrics
from dprl.simulation import AttackSpec
from dprl.simulation.promise import promise

LEVEL = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--models", nargs="+", default=["central", "local", "shuffle"])
    given = parser.parse_args()
    for model in given.models:
        run = RunSpec(privacy=model)
        curves = promise(run)
        assert curves is not None
        kind = np.array(curves["separations"]), np.array(curves["measures"])
        began, epsilons, widths, chances = time.perf_counter(), [], [], []
        for repetition in range(given.repetitions):
            traces = dprl.run(AttackSpec(run=run, root_seed=1 + repetition)).seeds
            first, second = (
                np.concatenate([getattr(t, world) for t in traces]) for world in ("first", "second")
            )
            found = metrics.separation(first, second)
            error = (found.high - found.low) / 2 / stats.norm.ppf(0.975)
            chances.append(stats.norm.sf((found.value - curves["separation"]) / error))
            epsilon = metrics.epsilon_of_separation(found, *kind)
            epsilons.append(epsilon.value)
            widths.append(epsilon.high - epsilon.low)
        seconds = (time.perf_counter() - began) / given.repetitions
        smallest = np.sort(chances) * (given.repetitions - np.arange(given.repetitions))
        print(
            f"{model}: measured {np.mean(epsilons):.3f} ({np.min(epsilons):.2f} to {np.max(epsilons):.2f}), widest "
            f"interval {np.max(widths):.2f}, above the proof in {np.sum(np.array(chances) < LEVEL)} before and "
            f"{np.sum(np.maximum.accumulate(smallest) < LEVEL)} after Holm, {seconds:.1f} s each",
            flush=True,
        )


if __name__ == "__main__":
    main()
