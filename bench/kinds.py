"""Problems drawn at random, of kinds that are no environment of the program: what a law has to hold on, too.

A kind is a function of a random generator to (P [S, A, S], R [S, A], d1 [S], H): chances, mean rewards in [0, 1], where
an episode begins, and its steps. Sizes are drawn inside what `bench/users.py` measures, evenly in logarithms.

DRAWN: kinds that a law is fitted to. HIDDEN: kinds that it is only checked by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator
Model = tuple[Array, Array, Array, int]
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


def whole(rng: Rng, low: int, high: int) -> int:
    """A whole number from low to high, evenly in its logarithm."""
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def empty(S: int, A: int, start: int = 0) -> tuple[Array, Array, Array]:
    """No chances and no rewards yet, and episodes that begin in one state."""
    d1 = np.zeros(S)
    d1[start] = 1.0
    return np.zeros((S, A, S)), np.zeros((S, A)), d1


def garnet(rng: Rng) -> Model:
    """A few next states of each state and action, with chances cut from a stick, and one state in four that pays
    (Archibald, McKinnon, Thomas 1995)."""
    S, A, H = whole(rng, 4, 20), whole(rng, 2, 6), whole(rng, 4, 30)
    B = int(rng.integers(2, min(S, 4) + 1))
    P, R, d1 = empty(S, A)
    for s, a in np.ndindex(S, A):
        cuts = np.sort(rng.random(B - 1))
        P[s, a, rng.choice(S, B, replace=False)] = np.diff(np.concatenate([[0.0], cuts, [1.0]]))
    for s in rng.choice(S, max(1, S // 4), replace=False):
        R[s] = rng.random(A)
    return P, R, d1, H


def ring(rng: Rng) -> Model:
    """States in a ring, steps either way that slip, and one state that pays more than the others."""
    S, H, slip = whole(rng, 4, 14), whole(rng, 5, 30), rng.uniform(0.1, 0.4)
    P, R, d1 = empty(S, 2)
    for s in range(S):
        P[s, 0, (s + 1) % S], P[s, 0, s] = 1 - slip, slip
        P[s, 1, (s - 1) % S], P[s, 1, s] = 1 - 2 * slip, 2 * slip
    R[:] = rng.uniform(0.0, 0.2)
    R[S // 2] = 0.9
    return P, R, d1, H


def needle(rng: Rng) -> Model:
    """Chances of all next states, of which one pays."""
    S, A, H = whole(rng, 3, 12), whole(rng, 2, 6), whole(rng, 4, 30)
    _, R, d1 = empty(S, A)
    R[rng.integers(S)] = rng.uniform(0.3, 1)
    return rng.dirichlet(np.full(S, 0.3), (S, A)), R, d1, H


def contexts(rng: Rng) -> Model:
    """Next states that do not depend on what was done: only rewards are learned."""
    S, A, H = whole(rng, 3, 12), whole(rng, 2, 8), whole(rng, 4, 15)
    chances = rng.dirichlet(np.ones(S))
    P = np.broadcast_to(chances, (S, A, S)).copy()
    return P, rng.random((S, A)) ** rng.uniform(0.5, 3), chances, H


def repair(rng: Rng) -> Model:
    """A machine that wears out: use it, repair it a little, or replace it."""
    S, H, wear = whole(rng, 3, 12), whole(rng, 5, 30), rng.uniform(0.2, 0.7)
    P, R, d1 = empty(S, 3, S - 1)
    for s in range(S):
        P[s, 0, min(s + 1, S - 1)] += wear
        P[s, 0, s] += 1 - wear
        P[s, 1, max(s - 1, 0)] += 0.7
        P[s, 1, s] += 0.3
        P[s, 2, 0] = 1.0
        R[s] = (1 - s / (S - 1)) * np.array([1.0, 0.6, 0.0])
    return P, R, d1, H


def queue(rng: Rng) -> Model:
    """A line of those who wait, served as fast as one pays for."""
    S, A, H, come = whole(rng, 4, 14), whole(rng, 2, 5), whole(rng, 5, 30), rng.uniform(0.2, 0.5)
    P, R, d1 = empty(S, A, S // 2)
    for s, a in np.ndindex(S, A):
        served = (1 - come) * (a + 1) / A
        P[s, a, min(s + 1, S - 1)] += come
        P[s, a, max(s - 1, 0)] += served
        P[s, a, s] += 1 - come - served
        R[s, a] = max(0.0, 1 - s / (S - 1) - 0.3 * a / A)
    return P, R, d1, H


def inventory(rng: Rng) -> Model:
    """Goods in stock, more of them ordered, and a demand that is random; rewards in units of their range."""
    S, H = whole(rng, 4, 12), whole(rng, 5, 25)
    A = min(S, whole(rng, 2, 6))
    demand = rng.dirichlet(np.full(S, 0.7))
    P, R, d1 = empty(S, A)
    for s, a in np.ndindex(S, A):
        stock = min(s + a, S - 1)
        sold = np.minimum(np.arange(S), stock)
        np.add.at(P[s, a], stock - sold, demand)
        R[s, a] = demand @ sold - 0.2 * a - 0.1 * stock
    return P, (R - R.min()) / (R.max() - R.min()), d1, H


def maze(rng: Rng) -> Model:
    """A grid with slips; its far corner pays for ever, or once and back to the start."""
    n, m, H, slip = whole(rng, 2, 4), whole(rng, 2, 5), whole(rng, 6, 30), rng.uniform(0, 0.3)
    P, R, d1 = empty(n * m, 4)
    for s in range(n * m):
        for k, (down, right) in enumerate(MOVES):
            x, y = s // m + down, s % m + right
            there = x * m + y if 0 <= x < n and 0 <= y < m else s
            P[s, :, there] += np.where(np.arange(4) == k, 1 - slip, slip / 3)
    P[-1], R[-1] = 0.0, 1.0
    P[-1, :, -1 if rng.random() < 0.5 else 0] = 1.0
    return P, R, d1, H


def ledge(rng: Rng) -> Model:
    """A walk where a wrong step may end in a hole, and a right one seldom."""
    S, A, H, safe = whole(rng, 4, 10), whole(rng, 2, 5), whole(rng, 6, 30), rng.uniform(0.7, 1)
    right, hole = rng.integers(A, size=S), S - 1
    P, R, d1 = empty(S, A)
    for s, a in np.ndindex(S - 1, A):
        if a == right[s]:
            P[s, a, min(s + 1, S - 2)] += safe
            P[s, a, hole] += 1 - safe
        else:
            fall = rng.uniform(0, 0.6)
            P[s, a, s] += 1 - fall
            P[s, a, hole] += fall
        R[s, a] = 0.5 * s / (S - 2) * rng.random()
    R[S - 2] = rng.uniform(0.5, 1, A)
    P[hole, :, hole] = 1.0
    return P, R, d1, H


def forest(rng: Rng) -> Model:
    """A forest that grows and may burn: wait, cut, or thin it out (after the forest problem of MDP toolboxes)."""
    S, H, fire = whole(rng, 3, 12), whole(rng, 6, 30), rng.uniform(0.02, 0.2)
    P, R, d1 = empty(S, 3)
    for s in range(S):
        P[s, 0, min(s + 1, S - 1)] += 1 - fire
        P[s, 0, 0] += fire
        P[s, 1, 0] = 1.0
        P[s, 2, s] += 1 - fire / 2
        P[s, 2, 0] += fire / 2
        R[s, 1] = (s / (S - 1)) ** 2
        R[s, 2] = 0.1 * s / (S - 1)
    return P, R, d1, H


def gambler(rng: Rng) -> Model:
    """Stakes of 0 to A - 1 on a coin that is not fair; each step pays by what one has."""
    S, A, H, heads = whole(rng, 4, 16), whole(rng, 2, 5), whole(rng, 5, 25), rng.uniform(0.4, 0.65)
    P, R, d1 = empty(S, A, S // 2)
    for s, a in np.ndindex(S, A):
        stake = min(a, s)
        P[s, a, min(s + stake, S - 1)] += heads
        P[s, a, s - stake] += 1 - heads
        R[s, a] = (s / (S - 1)) ** 2
    return P, R, d1, H


def epidemic(rng: Rng) -> Model:
    """How many of S - 1 are ill; measures slow it down, and cost."""
    S, A, H = whole(rng, 4, 14), whole(rng, 2, 5), whole(rng, 5, 30)
    spread, heal = rng.uniform(0.6, 1.5), rng.uniform(0.2, 0.5)
    P, R, d1 = empty(S, A, 1)
    for s, a in np.ndindex(S, A):
        ill = s / (S - 1)
        more = min(0.6, spread * (1 - a / A) * ill * (1 - ill) * 2)
        less = min(0.39, heal * ill)
        P[s, a, min(s + 1, S - 1)] += more
        P[s, a, max(s - 1, 0)] += less
        P[s, a, s] += 1 - more - less
        R[s, a] = (1 - ill) * (1 - 0.5 * a / A)
    return P, R, d1, H


def tree(rng: Rng) -> Model:
    """Down a tree of two branches, where steps slip to the other; a leaf pays for as long as the episode lasts."""
    depth = int(rng.integers(2, 4))
    S, A, H, slip = 2 ** (depth + 1) - 1, whole(rng, 2, 4), whole(rng, 6, 25), rng.uniform(0, 0.3)
    leaves = 2**depth - 1
    P, R, d1 = empty(S, A)
    for s in range(leaves):
        left = rng.integers(A)  # the one action that goes left
        P[s, :, 2 * s + 1] = slip
        P[s, :, 2 * s + 2] = 1 - slip
        P[s, left, 2 * s + 1], P[s, left, 2 * s + 2] = 1 - slip, slip
    for s in range(leaves, S):
        P[s, :, s], R[s] = 1.0, rng.random()
    return P, R, d1, H


def windy(rng: Rng) -> Model:
    """A grid whose wind blows to one side, more in some columns than in others; the far corner pays."""
    n, m, H = whole(rng, 2, 4), whole(rng, 3, 5), whole(rng, 8, 30)
    wind = rng.uniform(0, 0.6, m)
    P, R, d1 = empty(n * m, 4)
    for s in range(n * m):
        for a, (down, right) in enumerate(MOVES):
            for blown, chance in ((0, 1 - wind[s % m]), (-1, wind[s % m])):
                x, y = np.clip(s // m + down + blown, 0, n - 1), np.clip(s % m + right, 0, m - 1)
                P[s, a, x * m + y] += chance
    R[-1] = 1.0
    return P, R, d1, H


def bait(rng: Rng) -> Model:
    """Two ways: a short one to what pays little, a long one to what pays much; off the way is back to the start."""
    long, H = whole(rng, 3, 8), whole(rng, 10, 30)
    S, A, sure = long + 2, whole(rng, 2, 4), rng.uniform(0.8, 1)
    P, R, d1 = empty(S, A)
    P[:, :, 0] = 1.0
    for s in range(long + 1):
        a = rng.integers(A)
        P[s, a, 0] -= sure
        P[s, a, min(s + 1, long)] += sure
    other = (int(P[0, :, 1].argmax()) + 1) % A
    P[0, other, 0], P[0, other, -1] = 0.0, 1.0
    R[-1], R[long] = rng.uniform(0.1, 0.4), 1.0
    return P, R, d1, H


Kinds = Mapping[str, Callable[[Rng], Model]]
DRAWN: Kinds = {
    make.__name__: make for make in (garnet, ring, needle, contexts, repair, queue, inventory, maze, ledge)
}
HIDDEN: Kinds = {make.__name__: make for make in (forest, gambler, epidemic, tree, windy, bait)}
