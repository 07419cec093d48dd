"""Random problems of many kinds, none of them an environment of the program, for the power law of users needed.

A kind is a function from a random generator to (P [S, A, S], R [S, A], d1 [S], H): transition probabilities, mean
rewards in [0, 1], the distribution of the first state, and the number of steps. Sizes lie within the range that
`bench/users.py` measures, uniformly in logarithms.

DRAWN: kinds for fitting the law and its error. HIDDEN: kinds that only check both.
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
    """Draw a whole number from low to high; its logarithm is uniform."""
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def empty(S: int, A: int, start: int = 0) -> tuple[Array, Array, Array]:
    """Return P and R full of zeros, and the distribution of the first state, which is always `start`."""
    d1 = np.zeros(S)
    d1[start] = 1.0
    return np.zeros((S, A, S)), np.zeros((S, A)), d1


def garnet(rng: Rng) -> Model:
    """Draw a model with a few random next states for each pair, and rewards in a quarter of the states (Archibald,
    McKinnon, Thomas 1995)."""
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
    """Draw a model of states in a ring, with slippery steps in both directions, and one state with a high reward."""
    S, H, slip = whole(rng, 4, 14), whole(rng, 5, 30), rng.uniform(0.1, 0.4)
    P, R, d1 = empty(S, 2)
    for s in range(S):
        P[s, 0, (s + 1) % S], P[s, 0, s] = 1 - slip, slip
        P[s, 1, (s - 1) % S], P[s, 1, s] = 1 - 2 * slip, 2 * slip
    R[:] = rng.uniform(0.0, 0.2)
    R[S // 2] = 0.9
    return P, R, d1, H


def needle(rng: Rng) -> Model:
    """Draw a model with random transitions between all states, one of which pays."""
    S, A, H = whole(rng, 3, 12), whole(rng, 2, 6), whole(rng, 4, 30)
    _, R, d1 = empty(S, A)
    R[rng.integers(S)] = rng.uniform(0.3, 1)
    return rng.dirichlet(np.full(S, 0.3), (S, A)), R, d1, H


def contexts(rng: Rng) -> Model:
    """Draw a model whose next state does not depend on the action, so only rewards are learned."""
    S, A, H = whole(rng, 3, 12), whole(rng, 2, 8), whole(rng, 4, 15)
    chances = rng.dirichlet(np.ones(S))
    P = np.broadcast_to(chances, (S, A, S)).copy()
    return P, rng.random((S, A)) ** rng.uniform(0.5, 3), chances, H


def repair(rng: Rng) -> Model:
    """Draw a model of a machine that wears out: use it, repair it a little, or replace it."""
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
    """Draw a model of a waiting line, in which faster service costs more."""
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
    """Draw a model of a stock of goods with orders and random demand; rewards are scaled to [0, 1]."""
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
    """Draw a model of a grid with slips. Its far corner pays either for ever, or once before a return to the start."""
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
    """Draw a model of a walk on which a wrong step often ends in a hole, and a right step seldom does."""
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
    """Draw a model of a forest that may burn: wait, cut it, or thin it out (after a problem of MDP toolboxes)."""
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
    """Draw a model of a gambler with stakes of 0 to A - 1 on an unfair coin, paid in each step by the money held."""
    S, A, H, heads = whole(rng, 4, 16), whole(rng, 2, 5), whole(rng, 5, 25), rng.uniform(0.4, 0.65)
    P, R, d1 = empty(S, A, S // 2)
    for s, a in np.ndindex(S, A):
        stake = min(a, s)
        P[s, a, min(s + stake, S - 1)] += heads
        P[s, a, s - stake] += 1 - heads
        R[s, a] = (s / (S - 1)) ** 2
    return P, R, d1, H


def epidemic(rng: Rng) -> Model:
    """Draw a model of an epidemic among S - 1 people; measures slow it down at a cost."""
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
    """Draw a model of a binary tree to descend, with slips to the other branch; the leaf pays until the episode
    ends."""
    depth = int(rng.integers(2, 4))
    S, A, H, slip = 2 ** (depth + 1) - 1, whole(rng, 2, 4), whole(rng, 6, 25), rng.uniform(0, 0.3)
    leaves = 2**depth - 1
    P, R, d1 = empty(S, A)
    for s in range(leaves):
        left = rng.integers(A)  # the only action that goes left
        P[s, :, 2 * s + 1] = slip
        P[s, :, 2 * s + 2] = 1 - slip
        P[s, left, 2 * s + 1], P[s, left, 2 * s + 2] = 1 - slip, slip
    for s in range(leaves, S):
        P[s, :, s], R[s] = 1.0, rng.random()
    return P, R, d1, H


def taxi(rng: Rng) -> Model:
    """Draw a model of a taxi in a row of places, which carries passengers from one of them to another."""
    n, H, slip = whole(rng, 3, 8), whole(rng, 8, 30), rng.uniform(0, 0.25)
    here, there = rng.choice(n, 2, replace=False)
    P, R, d1 = empty(2 * n, 4, int(rng.integers(n)))
    for place, full in np.ndindex(n, 2):
        s = full * n + place
        for a, step in ((0, -1), (1, 1)):
            P[s, a, full * n + min(max(place + step, 0), n - 1)] += 1 - slip
            P[s, a, s] += slip
        P[s, 2, n + place if place == here else s] = 1.0
        P[s, 3, place if place == there else s] = 1.0
    R[n + there, 3] = 1.0
    return P, R, d1, H


def pricing(rng: Rng) -> Model:
    """Draw a model of selling seats: a higher price sells fewer; a seller without seats waits for new ones."""
    S, A, H = whole(rng, 3, 14), whole(rng, 2, 8), whole(rng, 5, 30)
    base, steep, again = rng.uniform(0.5, 1), rng.uniform(0.5, 2), rng.uniform(0.05, 0.3)
    P, R, d1 = empty(S, A, S - 1)
    for s, a in np.ndindex(S, A):
        price = (a + 1) / A
        sold = base * (1 - 0.8 * price) ** steep if s else 0.0
        P[s, a, s - 1 if s else S - 1] += sold if s else again
        P[s, a, s] += 1 - (sold if s else again)
        R[s, a] = price * sold
    return P, R, d1, H


def battery(rng: Rng) -> Model:
    """Draw a model of a battery to charge, hold or sell at a random price."""
    n, m, H = whole(rng, 2, 5), whole(rng, 2, 4), whole(rng, 5, 30)
    stays = rng.uniform(0.3, 0.9)
    P, R, d1 = empty(n * m, 3)
    for charge, price in np.ndindex(n, m):
        for a, step in enumerate((1, 0, -1)):
            after = min(max(charge + step, 0), n - 1)
            P[charge * m + price, a, after * m : (after + 1) * m] += (1 - stays) / m
            P[charge * m + price, a, after * m + price] += stays
        R[charge * m + price, 2] = ((price + 1) / m) ** 2 if charge else 0.0
    return P, R, d1, H


def fatigue(rng: Rng) -> Model:
    """Draw a model of a customer's mood: selling harder earns more at once and worsens the mood."""
    S, A, H = whole(rng, 3, 12), whole(rng, 2, 6), whole(rng, 5, 30)
    tires, rests = rng.uniform(0.2, 0.7), rng.uniform(0.1, 0.5)
    P, R, d1 = empty(S, A, S // 2)
    for s, a in np.ndindex(S, A):
        hard = a / (A - 1)
        less, more = tires * hard, rests * (1 - hard)
        P[s, a, max(s - 1, 0)] += less
        P[s, a, min(s + 1, S - 1)] += more
        P[s, a, s] += 1 - less - more
        R[s, a] = hard * (s / (S - 1)) ** 1.5
    return P, R, d1, H


def pupil(rng: Rng) -> Model:
    """Draw a model of exercises at A levels, one of which fits the pupil's knowledge; knowledge is slowly forgotten."""
    S, A, H = whole(rng, 4, 12), whole(rng, 2, 6), whole(rng, 6, 30)
    learns, forgets = rng.uniform(0.4, 0.9), rng.uniform(0, 0.1)
    P, R, d1 = empty(S, A)
    for s, a in np.ndindex(S, A):
        up = learns * 0.4 ** abs(a - s * A // S)
        P[s, a, min(s + 1, S - 1)] += up
        P[s, a, max(s - 1, 0)] += forgets
        P[s, a, s] += 1 - up - forgets
        R[s, a] = (s / (S - 1)) ** 3
    return P, R, d1, H


def chase(rng: Rng) -> Model:
    """Draw a model of a chase around a ring after a random walker; each meeting pays and restarts at random."""
    S, H, moves = whole(rng, 4, 16), whole(rng, 5, 30), rng.uniform(0.1, 0.6)
    P, R, d1 = empty(S, 3, S // 2)
    for s, a in np.ndindex(S, 3):
        for step, chance in ((-1, moves / 2), (0, 1 - moves), (1, moves / 2)):
            P[s, a, (s + step - (a - 1)) % S] += chance
    P[0], R[0] = 1 / S, 1.0
    return P, R, d1, H


def crossing(rng: Rng) -> Model:
    """Draw a model of two lines of cars at a crossing, of which only one may go at a time."""
    n, H = whole(rng, 2, 4), whole(rng, 5, 30)
    come, goes = rng.uniform(0.1, 0.6, 2), rng.uniform(0.7, 1)
    P, R, d1 = empty(n * n, 2)
    for s, a in np.ndindex(n * n, 2):
        lines = divmod(s, n)
        for arrived in np.ndindex(2, 2):
            chance = np.prod(np.where(arrived, come, 1 - come))
            for left in (0, 1):
                after = [min(max(lines[i] - left * (i == a), 0) + arrived[i], n - 1) for i in (0, 1)]
                P[s, a, after[0] * n + after[1]] += chance * (goes if left else 1 - goes)
        R[s] = 1 - sum(lines) / (2 * (n - 1))
    return P, R, d1, H


def network(rng: Rng) -> Model:
    """Draw a model of layers with unreliable links to the next one; the last layer pays, and then all starts again."""
    depth, width = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    H = whole(rng, depth + 3, 30)
    P, R, d1 = empty(depth * width, width)
    for s, a in np.ndindex(depth * width, width):
        if s // width == depth - 1:
            P[s, a, 0] = 1.0
            continue
        works = rng.uniform(0.2, 1)
        P[s, a, (s // width + 1) * width + a] += works
        P[s, a, s] += 1 - works
    R[-width:] = rng.random((width, 1)) ** 2
    return P, R, d1, H


Kinds = Mapping[str, Callable[[Rng], Model]]
DRAWN: Kinds = {
    make.__name__: make
    for make in (
        *(garnet, ring, needle, contexts, repair, queue, inventory, maze, ledge),
        *(forest, gambler, epidemic, tree),  # hidden at first, used for fitting later
    )
}
HIDDEN: Kinds = {
    make.__name__: make for make in (taxi, pricing, battery, fatigue, pupil, chase, crossing, network)
}
