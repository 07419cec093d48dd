"""How often bad arms are pulled on V20's hard instances, beside the lower bound, and how that grows.

    python -m bench.hard_instances [--seeds 20]

One start state (n = 1), arms 0..3, H = 2: a bandit in which arm I is alpha better than arms that lead up with
probability 1/2. Pure epsilon: Laplace tree over the release times, calibrated to prove (epsilon, 0). The bound
E[pulls] >= ln(1/(4 beta)) / (48 epsilon alpha) (V20 Lemma 8 prints 24; its proof supports 48) is about the
expectation, holds for pure epsilon, and only for algorithms that are right with probability 1 - beta on every
instance: it is context for what is measured, not a test of it.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import linregress, t

import dprl

K = 10**13
SEED = 1  # of the instance: the better arm is not arm 0
BETA = 0.1
RUNS: tuple[dict[str, Any], ...] = (
    {"algorithm": "pucb", "bonus": "paper"},
    {"algorithm": "dp-ucbvi", "bonus": "paper"},
)


def pulls(seeds: int, alpha: float, epsilon: float, run: dict[str, Any]) -> NDArray[np.float64]:
    """[seeds] mean pulls of the arms that are alpha worse than the best."""
    params = {"n": 1, "m": 3, "alpha": alpha, "H": 2, "seed": SEED}
    mdp = dprl.ENVIRONMENTS["hard-jdp"].make(**params)
    up = mdp.P[0, 0, :, 1]
    bad = np.flatnonzero(np.abs(up.max() - up - alpha) < 1e-9)
    spec = dprl.RunSpec(
        environment="hard-jdp", environment_params=params, mechanism="laplace-tree", delta=0.0, epsilon=epsilon,
        episodes=K, seeds=seeds, **run,
    )  # fmt: skip
    return np.array([trace.counts[-1, 0, 0, bad, -2].mean() for trace in dprl.run(spec).seeds])


def bound(alpha: float, epsilon: float) -> float:
    """The lower bound on the expected pulls of one bad arm."""
    return math.log(1 / (4 * BETA)) / (48 * epsilon * alpha)


def exponent(x: list[float], y: list[NDArray[np.float64]]) -> str:
    """Slope of ln y against ln(1/x) over all seeds, with its 95% t interval."""
    logs = [(math.log(1 / a), math.log(v)) for a, values in zip(x, y, strict=True) for v in values]
    fit = linregress([p for p, _ in logs], [q for _, q in logs])
    half = float(t.ppf(0.975, len(logs) - 2)) * fit.stderr
    return f"{fit.slope:.2f} [{fit.slope - half:.2f}, {fit.slope + half:.2f}]"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    epsilons, alphas = [0.03, 0.1, 0.3, 1.0, 3.0], [0.05, 0.1, 0.2, 0.4]
    for run in RUNS:
        print(f"{run['algorithm']}, K = {K:,}, {seeds} seeds: mean pulls of one bad arm (bound)")
        over_epsilon = [pulls(seeds, 0.2, e, run) for e in epsilons]
        for e, found in zip(epsilons, over_epsilon, strict=True):
            print(f"  alpha 0.2   epsilon {e:<5g} {found.mean():>14,.0f}  ({bound(0.2, e):,.1f})")
        over_alpha = [pulls(seeds, a, 0.1, run) for a in alphas]
        for a, found in zip(alphas, over_alpha, strict=True):
            print(f"  alpha {a:<5g} epsilon 0.1   {found.mean():>14,.0f}  ({bound(a, 0.1):,.1f})")
        print(
            f"  growth in 1/epsilon {exponent(epsilons, over_epsilon)}, in 1/alpha {exponent(alphas, over_alpha)}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
