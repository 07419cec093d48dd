"""An attack on runs whose blocks react to the user who is attacked.

Two data sets differ in one user. Lengths of blocks follow from released counts, as in schedule `adaptive` (with E =
0, so that they react as much as they can). The test is the likelihood ratio of all that is released, times
included, than which none is better. It must not show a larger epsilon than the card proves. With a rule that looks
at raw counts it does.
"""

from __future__ import annotations

import math

import numpy as np

from dprl import RunSpec
from dprl.engine import compiled
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.privacy import accounting
from dprl.privacy.attack import unit_noise
from dprl.privacy.mechanisms import optimal
from dprl.privacy.privatizers import Noise
from dprl.simulation import schedules
from dprl.simulation.prepare import noise_of_schedule
from dprl.simulation.schedules import adaptive
from tests.privacy.draws import least_epsilon

K, VICTIM, M, DELTA = 60, 4, 8, 0.05
CELLS = 16

SPEC = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 1}, privacy="central", episodes=K,
               schedule=f"adaptive:1:{M}", bonus="anytime", epsilon=1.0, delta=DELTA)  # fmt: skip


def data_sets(victim: int) -> tuple[Array, Array]:
    """[K + 1, CELLS] running sums of K users, H = 1, S = 2, A = 2, who in state 0 take half the
    time the action that blocks are counted by; the victim takes it in the one and not in the other."""
    rng = np.random.default_rng(0)
    state = rng.integers(0, 2, K)
    action = np.maximum(state, rng.integers(0, 2, K))
    sums = []
    for taken in (1, 0):
        users = np.zeros((K, 2, 2, 4))
        for k in range(K):
            s, a = (0, taken) if k == victim else (state[k], action[k])
            users[k, s, a, [s, 2, 3]] = 1.0
        sums.append(np.concatenate([np.zeros((1, CELLS)), np.cumsum(users.reshape(K, CELLS), axis=0)]))
    return sums[0], sums[1]


def draws_of(noise: Noise) -> Array:
    """[M, M] what takes unit noise of the releases apart into independent N(0, 1) draws; lower triangular, so that it
    does it of the first few releases, too."""
    return optimal.innovations(noise.stream, np.eye(M))


def log_ratios(repetitions: int, peeks: bool, seed: int, victim: int = VICTIM) -> Array:
    """[2, repetitions] ln P[x | first] / P[x | second] of everything that is released, times included, in runs on the
    first and on the second data set, with the noise of SPEC.

    peeks: the rule looks at raw counts instead. victim: by place, from 0; the first is the least covered by some noise.
    """
    noise = noise_of_schedule(SPEC, K)
    assert noise.mechanism is not None
    next_release = compiled(adaptive.next_release, schedules.SIGNATURE)
    sets, scales = data_sets(victim), np.tile(noise.scales, 4)
    policy, eta = np.ones((1, 2), dtype=np.int64), np.array([1.0])
    apart = draws_of(noise)
    result = np.zeros((2, repetitions))

    def time_after(i: int, t: int, seen: Array) -> int:
        if i == M - 1:
            return K
        shown = np.ascontiguousarray(seen.reshape(1, 2, 2, 4))
        return int(next_release(t, M - i, K, eta, shown, np.zeros((1, 2, 2)), every_state(2), policy))

    for at, truth in enumerate(sets):
        rng = np.random.default_rng(seed + at)
        z = unit_noise(noise.mechanism, noise.stream, repetitions * CELLS, rng).reshape(M, repetitions, CELLS)
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
            off = apart[:count, :count] @ ((released - other)[:, :count] / scales)
            squares = (off**2).sum((1, 2))
            result[at, r] = told_apart or (squares[1] - squares[0]) / 2
    return result


def proved() -> tuple[float, float]:
    """The epsilon proved of SPEC at DELTA, and how many of its standard deviations the score of the best attacker on
    the same noise moves where release times are fixed."""
    noise = noise_of_schedule(SPEC, K)
    epsilon = noise.guarantee().proved_epsilon
    assert epsilon is not None
    return epsilon, max(map(accounting.separation_of, noise.losses()))


def measured(ratios: Array, threshold: float) -> float:
    """The least epsilon at DELTA, at 99.99%, of the event {ratio > threshold} or of its mirror image."""
    return max(least_epsilon((one, other), threshold, DELTA) for one, other in (ratios, -ratios[::-1]))
