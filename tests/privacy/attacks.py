"""What a mechanism proves, against the best attack: of somebody who knows all but the noise and which user it is.

The users are in other counters of a stream whose items come one at a time, so that each draw of noise is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from dprl.mdp.tabular import Array
from dprl.privacy import accounting
from dprl.privacy.mechanisms import Mechanism, Stream, make_stream, stream_of_releases
from dprl.privacy.mechanisms.mechanism import At, entered
from dprl.statistics import Change
from tests.compare import LEVEL, critical, standard_errors
from tests.privacy import draws

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


def unit_noise(mechanism: Mechanism, stream: Stream, executions: int, cells: int, seed: int) -> Array:
    """[M, executions, cells] unit noise."""
    return draws.unit_noise(mechanism, stream, executions * cells, seed).reshape(-1, executions, cells)


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
    noise = unit_noise(mechanism, short.stream, EXECUTIONS, 6, 20)
    found = ratios(mechanism, short.stream, noise, 0, short.first, short.second)
    for one in (np.exp(-found[0]), np.exp(found[1])):
        assert standard_errors(one, 1.0) < critical(2)
    whole = setting(mechanism, MANY, 2, 2.0)
    streams = ((whole.stream, LOOKED, list(range(MANY))), (unit_stream(mechanism, LONG), GLANCED, places(21)))
    limit = critical(2 * (MANY + PLACES))
    for seed, (stream, executions, entering) in enumerate(streams):
        noise = unit_noise(mechanism, stream, executions, 2, 22 + seed)
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
    noise = unit_noise(mechanism, whole.stream, LOOKED, 2, 24)
    scores = [ratios(mechanism, whole.stream, noise, at, whole.first, whole.second)[0] for at in range(MANY)]
    return int(np.argmax([revealed(score, whole.proved).mean() for score in scores]))


def long_proof(mechanism: Mechanism) -> None:
    """Nor among LONG releases, at places drawn at random: less sharply, by the ratios alone."""
    one = setting(mechanism, LONG, 2, 2.0)
    noise = unit_noise(mechanism, one.stream, PASSED, 2, 25)
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
        noise = unit_noise(mechanism, one.stream, executions, cells, seed)
        assert (
            shown(ratios(mechanism, one.stream, noise, at, one.first, one.second), one.proved) <= one.proved
        )
        told, factor = mechanism.halved(one.stream)
        less = noise if told is one.stream else unit_noise(mechanism, told, executions, cells, seed + 10)
        found = ratios(mechanism, told, less, at, one.first / factor, one.second / factor)
        assert shown(found, one.proved) > one.proved
    long_proof(mechanism)
