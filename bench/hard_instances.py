"""How often bad arms are pulled on V20's hard instances, beside the lower bound, and how that grows.

    python -m bench.hard_instances [--seeds 40]

One start state (n = 1), arms 0..3, H = 2: a bandit in which the best arm is alpha better than arms that lead up with
probability 1/2. Pure epsilon: Laplace tree over the release times, calibrated to prove (epsilon, 0). The bound is
about the expectation, holds for pure epsilon, and only for algorithms that are right with probability 1 - beta on
every instance: it is context for what is measured, not a test of it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import dprl
from dprl import metrics

SEED = 1  # of the instance: the better arm is not arm 0
BETA = 0.1
SCHEDULE = "geometric:0.002"  # fine, for one late return to a bad arm costs a whole block
EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0)
ALPHAS = (0.025, 0.05, 0.1, 0.2, 0.4)
FIXED_ALPHA, FIXED_EPSILON = 0.2, 0.1


@dataclass(frozen=True)
class Learner:
    """What is run: K users are enough for every epsilon and alpha here."""

    algorithm: str
    bonus: str
    K: int


LEARNERS = (
    Learner("pucb", "paper", 10**10),
    Learner("dp-ucbvi", "paper", 10**12),
)


def pulls(seeds: int, alpha: float, epsilon: float, learner: Learner) -> NDArray[np.float64]:
    """[seeds] mean pulls of the arms that are alpha worse than the best."""
    params = {"n": 1, "m": 3, "alpha": alpha, "H": 2, "seed": SEED}
    mdp = dprl.ENVIRONMENTS["hard-jdp"].make(**params)
    up = mdp.P[0, 0, :, 1]
    bad = np.flatnonzero(np.abs(up.max() - up - alpha) < 1e-9)
    spec = dprl.RunSpec(
        environment="hard-jdp", environment_params=params, algorithm=learner.algorithm, bonus=learner.bonus,
        mechanism="laplace-tree", delta=0.0, epsilon=epsilon, beta=BETA, episodes=learner.K, schedule=SCHEDULE,
        seeds=seeds,
    )  # fmt: skip
    return np.array([trace.counts[-1, 0, 0, bad, -2].mean() for trace in dprl.run(spec).seeds])


def row(alpha: float, epsilon: float, found: NDArray[np.float64]) -> str:
    """Mean with its interval, median, and the bound."""
    mean, low, high = (float(v[0]) for v in metrics.regret_band(found[:, None]))
    bound = metrics.fewest_pulls(epsilon, alpha, BETA)
    return (
        f"  alpha {alpha:<5g} epsilon {epsilon:<5g} mean {mean:.3g} [{low:.3g}, {high:.3g}]  "
        f"median {np.median(found):.3g}  bound {bound:.3g}"
    )


def growth(x: tuple[float, ...], found: list[NDArray[np.float64]]) -> str:
    """How the mean and the median grow in 1/x."""
    table = np.array(found)
    words = []
    for statistic in ("mean", "median"):
        p, low, high = metrics.growth_of_mean(1 / np.array(x), table, statistic=statistic)
        words.append(f"{statistic} {p:.2f} [{low:.2f}, {high:.2f}]")
    return ", ".join(words)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=40)
    seeds = parser.parse_args().seeds
    for learner in LEARNERS:
        print(f"{learner.algorithm}, {learner.bonus} constants, K = {learner.K:.0e}, {seeds} seeds:")
        over_epsilon = [pulls(seeds, FIXED_ALPHA, e, learner) for e in EPSILONS]
        for e, found in zip(EPSILONS, over_epsilon, strict=True):
            print(row(FIXED_ALPHA, e, found))
        over_alpha = [pulls(seeds, a, FIXED_EPSILON, learner) for a in ALPHAS]
        for a, found in zip(ALPHAS, over_alpha, strict=True):
            print(row(a, FIXED_EPSILON, found))
        print(f"  growth in 1/epsilon: {growth(EPSILONS, over_epsilon)}")
        print(f"  growth in 1/alpha: {growth(ALPHAS, over_alpha)}")
        print(f"  without alpha {ALPHAS[-1]:g}: {growth(ALPHAS[:-1], over_alpha[:-1])}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
