"""The least regret of any algorithm on the worse of two models that differ in one row; docs/notes/floors.md proves it.

A *pair* is a model and its neighbour. All that matters of it is six numbers, arrays of one length here, so that many
pairs are looked at together. Nothing is left out but what the proof allows: constants are those of the theorem.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MEETS = (
    1.5936242600400401  # where 1 - exp(-x) = x / 2: Pinsker is the better below, Bretagnolle and Huber above
)
STEPS = 100  # of bisections: more than the digits of a float
CAPS = 10.0 ** (np.arange(25) / 2)  # users up to which reports are looked at where delta is above zero
MOST = math.log(1e16)  # users, at most, that are looked at
TIMES = np.geomspace(
    0.01, 30.0, 40
)  # up to where the sum over users is taken, in units of 1/epsilon of the group


@dataclass(frozen=True)
class Pairs:
    """Pairs of models that differ in one row (h, s, a), [N] each. One of the two is the base.

    Attributes:
        apart: the least sum of what one policy loses in both models, over all policies.
        gap: what an episode that plays the row loses in the base, at least.
        reach: the largest chance with which a policy comes to (h, s).
        some: a bound on the chance that a user is one whom some policy brings to (h, s).
        kl: Kullback-Leibler divergence of what the row answers, from the base to the other.
        tv: total variation between both answers.
    """

    apart: Array
    gap: Array
    reach: Array
    some: Array
    kl: Array
    tv: Array


def regret_floor(pairs: Pairs, K: float, model: str, epsilon: float = 1.0, delta: float = 0.0) -> Array:
    """[N] what K episodes lose at least in the worse model of each pair, whatever the algorithm.

    Args:
        model: none, central, shuffle or local, of privacy. What is shuffled is central, too: see the note.
        epsilon, delta: of a user's episode replaced.
    """
    found = _visited(pairs, K, pairs.kl, 0.0)
    if model == "none":
        return found
    found = np.maximum(found, _group(pairs, K, epsilon, delta))
    if model == "local":
        learned = local_kl(pairs, epsilon, delta)
        # with delta the proof gets worse with users, and regret does not get less with them
        for users in [K, *(CAPS[CAPS < K] if delta else ())]:
            found = np.maximum(found, _visited(pairs, users, learned, delta))
    return found


def local_kl(pairs: Pairs, epsilon: float, delta: float) -> Array:
    """[N] at most this much is learned, from reports, for each user who is expected to come to the row and play it."""
    more = math.expm1(epsilon)
    # ln(1 + u) / (2 + u) rises to its only hump: what lies beyond it has the hump's value
    u = np.minimum(more * pairs.reach * pairs.tv, 3.5911214766686221)
    found: Array = more * pairs.tv * np.log1p(u) / (2 + u)
    if delta == 0:
        found = np.minimum(found, math.tanh(epsilon / 2) ** 2 * pairs.kl)
    return found


def unlike(x: Array) -> Array:
    """At least 1 - TV of two laws whose Kullback-Leibler divergence is x."""
    with np.errstate(divide="ignore"):
        beyond = -np.expm1(np.log1p(-np.exp(-x)) / 2)
    return np.asarray(np.where(x < MEETS, 1 - np.sqrt(x / 2), beyond), float)


def unlike_sum(x: Array) -> Array:
    """The integral of `unlike` from 0 to x."""
    low = np.minimum(x, MEETS)
    beyond = np.where(x > MEETS, _upper_tail(x) - _upper_tail(np.array(MEETS)), 0.0)
    return np.asarray(low - np.sqrt(2) / 3 * low**1.5 + beyond, float)


def _upper_tail(x: Array) -> Array:
    root = np.sqrt(-np.expm1(-x))
    return np.asarray(2 * (root - np.log1p(root)))


def _visited(pairs: Pairs, K: float, kl: Array, delta: float) -> Array:
    """What must be lost to tell the models apart, by visits to the row, or else by not knowing: theorem 1."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        most = K * pairs.reach
        shown = (
            delta * pairs.tv * most
        )  # the chance that anybody is revealed whom the models tell apart, at most
        gap, revealed = pairs.gap * np.maximum(1 - shown, 0.0), shown * K / 2

        def unknowing(visits: Array) -> Array:
            # while there are fewer users than visits, each comes to the row at most with `reach`
            rising = np.where(kl > 0, unlike_sum(visits * kl) / (kl * pairs.reach), visits / pairs.reach)
            rest = (K - visits / pairs.reach) * unlike(visits * kl)
            return np.asarray(pairs.apart / 2 * np.maximum(rising + rest - revealed, 0.0))

        low, high = np.zeros_like(most), most
        for _ in range(STEPS):
            middle = (low + high) / 2
            enough = gap * middle >= unknowing(middle)
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        found = np.minimum(gap * low, unknowing(high))
        found = np.where(gap * most <= unknowing(most), unknowing(most), found)
    usable = np.isfinite(kl) & (pairs.reach > 0)
    return np.where(usable, found, 0.0)


def _group(pairs: Pairs, K: float, epsilon: float, delta: float) -> Array:
    """What is lost while the users whom the models tell apart are too few to be seen: theorem 2."""
    chance = pairs.some * pairs.tv
    each = np.log1p(chance * math.expm1(epsilon))
    best = np.zeros_like(each)
    with np.errstate(invalid="ignore", divide="ignore"):
        for time in TIMES:
            users = np.minimum(K, time / each)
            x = each * users
            total = 2 / each * (x - np.logaddexp(0.0, x) + math.log(2))
            lost = delta * np.expm1(x) / math.expm1(epsilon)
            best = np.maximum(best, pairs.apart / 2 * total * np.maximum(1 - lost, 0.0))
    return np.where(each > 0, best, 0.0)


def users_floor(
    pairs: Pairs, target: float, v_star: Array, model: str, epsilon: float = 1.0, delta: float = 0.0
) -> tuple[float, int]:
    """The fewest users with whom an average episode may lose at most a share of V* in both models, for every pair, and
    the place of the pair that says so.

    Args:
        target: the share.
        v_star: [N] the larger V* of both models.
    """
    low, high, place = 0.0, MOST, 0  # ln K: at `low` no algorithm is there yet
    for _ in range(50):
        middle = (low + high) / 2
        K = math.exp(middle)
        beyond = regret_floor(pairs, K, model, epsilon, delta) / (K * v_star) - target
        if beyond.max() > 0:
            low, place = middle, int(beyond.argmax())
        else:
            high = middle
    return math.exp(low), place
