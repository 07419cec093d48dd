"""An attack on runs whose blocks react to the user who is attacked: python -m bench.adaptive_attack --repetitions
1000000.

Two data sets differ in one user. Lengths of blocks follow from released counts, as in schedule `adaptive` (with E =
0, so that they react as much as they can). The test is the likelihood ratio of all that is released, times
included, than which none is better. It must not show a larger epsilon than the card proves. With a rule that looks
at raw counts it does.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np
from scipy import linalg, stats

from dprl import RunSpec
from dprl.kernels import compiled
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS
from dprl.privacy.mechanisms.gaussian import coefficients
from dprl.simulation import schedules
from dprl.simulation.prepare import noise_of_schedule
from dprl.simulation.schedules import adaptive

K, VICTIM, M, DELTA = 60, 4, 8, 0.05


CELLS = 16


def data_sets() -> tuple[Array, Array]:
    """[K + 1, CELLS] running sums of K users, H = 1, S = 2, A = 2, who in state 0 take half the
    time the action that blocks are counted by; the victim takes it in the one and not in the other."""
    rng = np.random.default_rng(0)
    state = rng.integers(0, 2, K)
    action = np.maximum(state, rng.integers(0, 2, K))
    sums = []
    for victim in (1, 0):
        users = np.zeros((K, 2, 2, 4))
        for k in range(K):
            s, a = (0, victim) if k == VICTIM else (state[k], action[k])
            users[k, s, a, [s, 2, 3]] = 1.0
        sums.append(np.concatenate([np.zeros((1, CELLS)), np.cumsum(users.reshape(K, CELLS), axis=0)]))
    return sums[0], sums[1]


def log_ratios(repetitions: int, peeks: bool, seed: int) -> tuple[Array, float]:
    """[2, repetitions] ln P[x | first] / P[x | second] of everything that is released, times included, in runs on the
    first and on the second data set; and the epsilon proved at DELTA. peeks: the rule looks at raw counts instead."""
    spec = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 1}, privacy="central", episodes=K,
                   schedule=f"adaptive:1:{M}", bonus="anytime", epsilon=1.0, delta=DELTA)  # fmt: skip
    noise = noise_of_schedule(spec, K)
    next_release = compiled(adaptive.next_release, schedules.SIGNATURE)
    sets, scales = data_sets(), np.tile(noise.scales, 4)
    policy, eta = np.ones((1, 2), dtype=np.int64), np.array([1.0])
    memory = np.zeros((M, CELLS * repetitions))
    prepare = MECHANISMS["gaussian-toeplitz"].prepare
    assert prepare is not None
    apart = np.linalg.inv(linalg.toeplitz(coefficients(M), np.zeros(M)))
    result = np.zeros((2, repetitions))

    def time_after(i: int, t: int, seen: Array) -> int:
        shown = np.ascontiguousarray(seen.reshape(1, 2, 2, 4))
        return K if i == M - 1 else int(next_release(t, M - i, K, eta, shown, 0.0, every_state(2), policy))

    for at, truth in enumerate(sets):
        prepare(np.random.default_rng(seed + at), noise.stream, memory)
        z = memory.reshape(M, repetitions, CELLS)
        for r in range(repetitions):
            released, t, told_apart = np.zeros((M, CELLS)), 0, 0.0
            other = np.zeros((2, M, CELLS))
            count = 0
            while t < K:
                before = [x[t] for x in sets] if peeks else [released[max(count - 1, 0)]] * 2
                times = [time_after(count, t, x if count else np.zeros(CELLS)) for x in before]
                if times[0] != times[1]:
                    told_apart = math.inf if at == 0 else -math.inf
                t = times[at]
                released[count] = truth[t] + scales * z[count, r]
                for which, x in enumerate(sets):
                    other[which, count] = x[t]
                count += 1
            squares = [
                ((apart[:count, :count] @ ((released - x)[:count] / scales)) ** 2).sum() for x in other
            ]
            result[at, r] = told_apart or (squares[1] - squares[0]) / 2
    proved = noise.guarantee().proved_epsilon
    assert proved is not None
    return result, proved


def measured(ratios: Array, threshold: float) -> tuple[float, float]:
    """Epsilon at DELTA of the event {ratio > threshold}: what is shown at 99.99%, and the likeliest."""
    inside, outside = (int((row > threshold).sum()) for row in ratios)
    low = stats.binomtest(inside, ratios.shape[1]).proportion_ci(0.9999, method="exact").low
    high = stats.binomtest(outside, ratios.shape[1]).proportion_ci(0.9999, method="exact").high
    shown = math.log((low - DELTA) / high) if low > DELTA else 0.0
    guess = inside / ratios.shape[1] - DELTA
    return shown, math.log(guess / max(outside / ratios.shape[1], 1e-9)) if guess > 0 else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100_000)
    repetitions = parser.parse_args().repetitions
    for peeks in (False, True):
        ratios, proved = log_ratios(repetitions, peeks, seed=1)
        print(
            f"blocks from {'raw' if peeks else 'released'} counts; proved epsilon {proved:.4f} at delta {DELTA}:"
        )
        for threshold in (0.25, 0.5, proved, 1.5, 2.0):
            pairs = [measured(sides, threshold) for sides in (ratios, -ratios[::-1])]
            shown, likeliest = (max(pair[which] for pair in pairs) for which in (0, 1))
            print(f"  event above {threshold:.2f}: shown {shown:.3f}, likeliest {likeliest:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
