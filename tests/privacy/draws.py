"""Noise from the mechanisms' own compiled kernels, and what it proves, against the best attack.

The attacker knows all but the noise and which user it is. The users are in other counters of a stream whose items come
one at a time, so that each draw of noise is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, PRIVATIZERS, Mechanism, accounting, attack
from dprl.privacy.mechanisms import Stream, make_stream, stream_of_releases
from dprl.privacy.mechanisms.mechanism import At, entered
from dprl.privacy.privatizers import Noise, Request
from dprl.simulation.pairs import calibrations_for
from dprl.statistics import CONSISTENT, REPLACE_ONE, Change, Statistic
from tests.compare import LEVEL, critical, standard_errors

# Every (privacy, mechanism, calibration), and those whose noise does not depend on what it is added to.
EVERY = [
    (p.key, m, c) for p in PRIVATIZERS.values() for m in p.mechanisms for c in calibrations_for("dp-ucbvi", m)
]
TRIPLES = [triple for triple in EVERY if MECHANISMS[triple[1]].answers is None]


def replaced(H: int, reward: float) -> Change:
    """What replacing one user moves, with r released as r * reward."""
    return replace(CONSISTENT, reward=reward).sensitivity(Size(1, 1, H), REPLACE_ONE)


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def unit_noise(mechanism: Mechanism, stream: Stream, cells: int, seed: int) -> Array:
    """[M, cells] unit noise in the sums of each release."""
    return attack.unit_noise(mechanism, stream, cells, generator(seed))


def request(
    privacy: str,
    mechanism: str,
    calibration: str,
    times: NDArray[np.int64] | list[int],
    *,
    H: int = 1,
    S: int = 2,
    A: int = 1,
    epsilon: float = 1.0,
    delta: float | None = None,
    beta: float = 0.1,
    statistic: Statistic = CONSISTENT,
    contribution: int = 1,
) -> Request:
    """A request whose delta, if not given, is the reference one, or 0 for Laplace noise as in the paper."""
    if delta is None:
        delta = 0.0 if calibration == "paper" and not MECHANISMS[mechanism].needs_delta else 1e-6
    ends = np.array(times, dtype=np.int64)
    asked = mechanism, calibration, epsilon, delta, beta
    return Request(statistic, Size(S, A, H), ends, *asked, contribution=contribution)


def prepared(
    privacy: str, mechanism: str, calibration: str, times: NDArray[np.int64] | list[int], **rest: Any
) -> Noise:
    return PRIVATIZERS[privacy].prepare(request(privacy, mechanism, calibration, times, **rest))


DELTA = 0.01
FEW, MANY, LONG = 3, 63, 511  # releases
EXECUTIONS = 20_000  # a user in FEW releases
LOOKED = 500  # executions at each place of MANY releases
SHOWN = 8_000  # executions at the place of MANY where most is revealed
# executions, for a score and for a proof, and places of LONG releases
GLANCED, PASSED, PLACES = 100, 1000, 24


@dataclass(frozen=True, eq=False)
class Setting:
    """Two users between whom an attacker has to tell, and noise that proves they are hard to tell.

    Attributes:
        stream: what is released.
        first, second: [cells] what each adds, in units of noise.
        scale: of the noise.
        proved: epsilon at DELTA.
    """

    stream: Stream
    first: Array
    second: Array
    scale: float
    proved: float


def unit_stream(mechanism: Mechanism, releases: int) -> Stream:
    """So many releases of an item each: of users where each draws noise of their own."""
    return make_stream(np.arange(1, releases + 1)) if mechanism.fresh else stream_of_releases(releases)


@lru_cache(maxsize=8)
def setting(mechanism: Mechanism, releases: int, moved: int, size: float) -> Setting:
    """Of so many releases and counters moved by `size`, with noise for which epsilon is 1, within a part in 10^4.

    Replacing a user of one step moves 2 counters of n, 2 of m and 2 of r.
    """
    stream = unit_stream(mechanism, releases)
    change = Change(((moved, size),))

    def proved(scale: float) -> float:
        return max(accounting.epsilon_of(x, DELTA) for x in mechanism.losses(change, scale, stream))

    low, high = 1e-3, 1e6
    while high / low > 1 + 1e-4:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if proved(middle) <= 1 else (middle, high)
    halves = np.repeat((1.0, 0.0), moved // 2), np.repeat((0.0, 1.0), moved // 2)
    first, second = (size * half / high for half in halves)
    return Setting(stream, first, second, high, proved(high))


def noise_in(mechanism: Mechanism, stream: Stream, executions: int, cells: int, seed: int) -> Array:
    """[M, executions, cells] unit noise."""
    return unit_noise(mechanism, stream, executions * cells, seed).reshape(-1, executions, cells)


def ratios(
    mechanism: Mechanism, stream: Stream, noise: Array, at: At, first: Array, second: Array
) -> tuple[Array, Array]:
    """Log-likelihood ratios of executions with the first user, and with the second, from the same noise."""
    here = entered(stream, at)[:, None, None]
    one, other = (
        mechanism.log_ratio(stream, noise + here * own, at, first, second) for own in (first, second)
    )
    return one, other


# ---- whether the attacker's score is right


def likelihood_ratio(mechanism: Mechanism) -> None:
    """exp(log_ratio) has mean 1 where the second user is there, and exp(-log_ratio) where the first is. In many
    releases, wherever the user enters, it says of one user's executions how often the other's have a ratio above 1."""
    short = setting(mechanism, FEW, 6, 1.0)
    noise = noise_in(mechanism, short.stream, EXECUTIONS, 6, 20)
    found = ratios(mechanism, short.stream, noise, 0, short.first, short.second)
    for one in (np.exp(-found[0]), np.exp(found[1])):
        assert standard_errors(one, 1.0) < critical(2)
    whole = setting(mechanism, MANY, 2, 2.0)
    streams = ((whole.stream, LOOKED, list(range(MANY))), (unit_stream(mechanism, LONG), GLANCED, places(21)))
    limit = critical(2 * (MANY + PLACES))
    for seed, (stream, executions, entering) in enumerate(streams):
        noise = noise_in(mechanism, stream, executions, 2, 22 + seed)
        for at in entering:
            found = ratios(mechanism, stream, noise, at, whole.first, whole.second)
            assert max(disagreement(*found), disagreement(-found[1], -found[0])) < limit, at


def disagreement(first: Array, second: Array) -> float:
    """By how many standard errors two numbers differ that are the same of likelihood ratios: the chance of a ratio
    above 1 with the second user, and what ratios above 1 with the first say of it."""
    above = first > 0
    return standard_errors(np.exp(-np.where(above, first, 0.0)) * above - (second > 0), 0.0)


# ---- what it shows


def shares(found: tuple[Array, Array], threshold: float) -> tuple[float, float]:
    """Bounds (Clopper, Pearson): P[ratio > threshold] with the first user is at least, with the second at most."""
    inside, outside = (
        stats.binomtest(int((x > threshold).sum()), x.size).proportion_ci(1 - LEVEL, method="exact")
        for x in found
    )
    return float(inside.low), float(outside.high)


def least_epsilon(found: tuple[Array, Array], threshold: float, delta: float = DELTA) -> float:
    """A lower bound on epsilon at delta, from how often the ratio is above the threshold."""
    low, high = shares(found, threshold)
    return math.log((low - delta) / high) if low > delta else 0.0


def shown(found: tuple[Array, Array], proved: float) -> float:
    """The most that a few thresholds show, and the first user may be either."""
    other = -found[1], -found[0]
    return max(
        least_epsilon(x, at) for x in (found, other) for at in (proved / 2, proved, 1.5 * proved, 2 * proved)
    )


def revealed(score: Array, epsilon: float) -> Array:
    """[n] whose mean is the delta that goes with epsilon, of scores with the first user that are likelihood ratios."""
    return np.asarray(-np.expm1(np.minimum(epsilon - score, 0.0)))


def worst_place(mechanism: Mechanism, whole: Setting) -> int:
    """The release at which a user reveals most, by the ratios of a few executions."""
    noise = noise_in(mechanism, whole.stream, LOOKED, 2, 24)
    scores = [ratios(mechanism, whole.stream, noise, at, whole.first, whole.second)[0] for at in range(MANY)]
    return int(np.argmax([revealed(score, whole.proved).mean() for score in scores]))


def long_proof(mechanism: Mechanism) -> None:
    """Nor among LONG releases, at places drawn at random: less sharply, by the ratios alone."""
    one = setting(mechanism, LONG, 2, 2.0)
    noise = noise_in(mechanism, one.stream, PASSED, 2, 25)
    for at in places(26):
        values = revealed(ratios(mechanism, one.stream, noise, at, one.first, one.second)[0], one.proved)
        assert values.mean() <= DELTA or standard_errors(values, DELTA) < critical(PLACES), at


def places(seed: int) -> list[int]:
    """Releases of LONG, the first and others drawn at random."""
    others = np.random.default_rng(seed).choice(np.arange(1, LONG), PLACES - 1, replace=False)
    return [0, *sorted(others.tolist())]


def proof(mechanism: Mechanism) -> None:
    """No event tells two users apart better than `losses` proves; with half the noise one does, so that this can
    fail."""
    whole = setting(mechanism, MANY, 2, 2.0)
    for one, at, executions, seed in (
        (setting(mechanism, FEW, 6, 1.0), 0, EXECUTIONS, 30),
        (whole, worst_place(mechanism, whole), SHOWN, 31),
    ):
        cells = len(one.first)
        noise = noise_in(mechanism, one.stream, executions, cells, seed)
        assert (
            shown(ratios(mechanism, one.stream, noise, at, one.first, one.second), one.proved) <= one.proved
        )
        told, factor = mechanism.halved(one.stream)
        less = noise if told is one.stream else noise_in(mechanism, told, executions, cells, seed + 10)
        found = ratios(mechanism, told, less, at, one.first / factor, one.second / factor)
        assert shown(found, one.proved) > one.proved
    long_proof(mechanism)
