"""A floor under every algorithm: the models that are hardest to tell from one, and what not telling them apart costs.

A neighbour has another row (h, s, a) and is the same elsewhere. Only next states that the environment declares possible
are given a chance: what is public of the environment is true of both models. `theory/floor.py` has what follows of a
pair of models, and docs/notes/floors.md the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dprl.mdp import TabularMDP
from dprl.mdp.planning import optimum
from dprl.mdp.structure import every_state, on_table
from dprl.theory.floor import Pairs, regret_floor, users_floor

Array = NDArray[np.float64]

SHARES = (
    0.01,
    0.03,
    0.07,
    0.15,
    0.3,
    0.5,
    0.75,
    1.0,
)  # of the way from a tie with the best action to the most there can be
TILTS = 60  # halvings, in the search for a row of a given value
SMALLEST = 1e-9  # what differs by less is taken as the same


@dataclass(frozen=True)
class Neighbour:
    """A model that differs from another in one row.

    Attributes:
        h, s, a: the row.
        P: [S] where it leads.
        R: its mean reward.
        v_star: the best value of an episode in this model.
        base: whether the floor counts visits under the model itself, or else under this neighbour.
    """

    h: int
    s: int
    a: int
    P: Array
    R: float
    v_star: float
    base: bool

    def of(self, mdp: TabularMDP) -> TabularMDP:
        """The neighbour as a model."""
        P, R = dense(mdp).copy(), mdp.R.copy()
        P[self.h, self.s, self.a], R[self.h, self.s, self.a] = self.P, self.R
        return replace(mdp, P=P, R=R, possible=every_state(mdp.S))


@dataclass(frozen=True)
class Floor:
    """No algorithm has lost less than `regret` after K episodes both in a model and in its neighbour."""

    K: float
    regret: float
    neighbour: Neighbour


@dataclass(frozen=True)
class Neighbours:
    """All that was looked at of a model, with what the floors need to know of each pair.

    Attributes:
        v_star: the best value of an episode in the model.
    """

    found: tuple[Neighbour, ...]
    pairs: Pairs
    v_star: float

    def floor(self, K: float, model: str, epsilon: float = 1.0, delta: float = 0.0) -> Floor:
        """The highest floor after K episodes under a model of privacy; see `theory.floor.regret_floor`."""
        regret = regret_floor(self.pairs, K, model, epsilon, delta)
        best = int(regret.argmax())
        return Floor(K, float(regret[best]), self.found[best])

    def users(
        self, target: float, model: str, epsilon: float = 1.0, delta: float = 0.0
    ) -> tuple[float, Neighbour]:
        """No algorithm needs fewer users in both models until an average episode loses at most a share of V*."""
        larger = np.array([max(self.v_star, one.v_star) for one in self.found])
        users, place = users_floor(self.pairs, target, larger, model, epsilon, delta)
        return users, self.found[place]


def dense(mdp: TabularMDP) -> Array:
    """[H, S, A, S] transitions."""
    return mdp.P if mdp.dense else on_table(mdp.P, mdp.possible, every_state(mdp.S))[0]


def neighbours(mdp: TabularMDP, *, support: bool = False) -> Neighbours:
    """The neighbours of a model: each row made better or worse, in a few ways and by several amounts.

    Args:
        support: whether it is public which next states have a chance above zero, as on a map: no other is given one.
    """
    P, best = dense(mdp), optimum(mdp)
    reach, some = _reach(P, mdp.d1), _some(P, mdp.d1)
    possible = P > 0 if support else _possible(mdp)
    v_star = float(mdp.d1 @ best.V[0])
    found: list[Neighbour] = []
    numbers: list[tuple[float, ...]] = []
    for h, s, a in np.argwhere(np.broadcast_to((reach > SMALLEST)[..., None], best.Q.shape)):
        h, s, a = int(h), int(s), int(a)
        values = best.V[h + 1]
        for row, reward in _rows(
            mdp, P[h, s, a], float(mdp.R[h, s, a]), values, possible[h, s, a], best.Q[h, s], a
        ):
            more = float((row - P[h, s, a]) @ values + reward - mdp.R[h, s, a])
            there, between = (_start_value(mdp, P, best.Q, h, s, a, part * more) for part in (1.0, 0.5))
            apart = v_star + there - 2 * between
            if apart <= SMALLEST:
                continue
            tv = _tv(P[h, s, a], row, float(mdp.R[h, s, a]), reward)
            gap = float(best.V[h, s] - best.Q[h, s, a])
            others = np.delete(best.Q[h, s], a).max()
            gap_there = float(max(others - best.Q[h, s, a] - more, 0.0))
            for base, loses in ((True, gap), (False, gap_there)):
                found.append(Neighbour(h, s, a, row, reward, there, base))
                one, other = ((P[h, s, a], float(mdp.R[h, s, a])), (row, reward))
                kl = _kl(*one, *other) if base else _kl(*other, *one)
                loses = loses if loses > SMALLEST else 0.0
                numbers.append((apart, loses, reach[h, s], some[h, s], kl, tv))
    return Neighbours(tuple(found), Pairs(*np.array(numbers).reshape(-1, 6).T), v_star)


def _possible(mdp: TabularMDP) -> NDArray[np.bool_]:
    """[H, S, A, S] which next states are declared possible."""
    table = np.broadcast_to(mdp.possible, (len(mdp.possible), mdp.S, mdp.A, mdp.possible.shape[3]))
    allowed = np.zeros((len(table), mdp.S, mdp.A, mdp.S + 1), bool)
    np.put_along_axis(allowed, table, True, axis=-1)
    return np.broadcast_to(allowed[..., :-1], (mdp.H, mdp.S, mdp.A, mdp.S))


def _reach(P: Array, d1: Array) -> Array:
    """[H, S] the largest chance with which a policy is in a state at a step."""
    H, S = P.shape[:2]
    found = np.empty((H, S))
    for h in range(H):
        chance = np.eye(S)  # [from, to]
        for step in range(h - 1, -1, -1):
            chance = (P[step] @ chance).max(1)
        found[h] = d1 @ chance
    return found


def _some(P: Array, d1: Array) -> Array:
    """[H, S] a bound on the chance that what a user would answer brings some policy to a state at a step."""
    found = np.empty(P.shape[:2])
    found[0] = d1
    for h in range(1, len(P)):
        found[h] = np.minimum(found[h - 1] @ (1 - np.prod(1 - P[h - 1], axis=1)), 1.0)
    return found


def _start_value(mdp: TabularMDP, P: Array, Q: Array, h: int, s: int, a: int, more: float) -> float:
    """The best value of an episode where one row is worth so much more."""
    values = Q[h].copy()
    values[s, a] += more
    V = values.max(-1)
    for step in range(h - 1, -1, -1):
        V = (mdp.R[step] + P[step] @ V).max(-1)
    return float(mdp.d1 @ V)


def _rows(
    mdp: TabularMDP, row: Array, reward: float, values: Array, possible: NDArray[np.bool_], Q: Array, a: int
) -> Iterator[tuple[Array, float]]:
    """Rows worth more, or less, than this one: past the best of the other actions, as otherwise nothing is at stake."""
    others = np.delete(Q, a)
    if not len(others):
        return
    tie = float(others.max() - Q[a])  # what makes it as good as the best other
    for sign in (1.0, -1.0):
        start = max(sign * tie, 0.0)
        seen = sign * values
        room = float(seen[possible].max() - row @ seen)
        if room > start + SMALLEST:
            for share in SHARES:
                aim = start + share * (room - start)
                if share < 1:
                    yield _tilted(row, seen, aim, possible), reward
                    yield _exponential(row, seen, aim), reward
                yield _moved(row, seen, aim, possible), reward
        pay = (1 - reward) if sign > 0 else reward
        if mdp.bernoulli and pay > start + SMALLEST:
            for share in SHARES:
                yield row, min(max(reward + sign * (start + share * (pay - start)), 0.0), 1.0)


def _tilted(row: Array, values: Array, aim: float, possible: NDArray[np.bool_]) -> Array:
    """The row nearest in KL(row, .) among those worth `aim` more: row / (1 - t (values - mean)), and what is missing
    to one on the best state."""
    mean = float(row @ values) + aim
    top = int(np.where(possible, values, -np.inf).argmax())
    low, high = 0.0, 1.0 / (values[top] - mean)

    def at(t: float) -> Array:
        found = np.divide(row, 1 - t * (values - mean), out=np.zeros_like(row), where=row > 0)
        if found.sum() < 1:
            found[top] += 1 - found.sum()
        return np.asarray(found / found.sum(), float)

    for _ in range(TILTS):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) @ values < mean else (low, middle)
    return at(low)


def _exponential(row: Array, values: Array, aim: float) -> Array:
    """The row nearest in KL(., row) among those worth `aim` more, as far as its own next states allow."""
    own = row > 0
    mean = min(float(row @ values) + aim, float(values[own].max()) - SMALLEST)
    low, high = 0.0, 1e4

    def at(t: float) -> Array:
        weight = np.where(own, row * np.exp(np.minimum(t * (values - values[own].max()), 0.0)), 0.0)
        return np.asarray(weight / weight.sum(), float)

    for _ in range(TILTS):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) @ values < mean else (low, middle)
    return at(low)


def _moved(row: Array, values: Array, aim: float, possible: NDArray[np.bool_]) -> Array:
    """The row nearest in total variation among those worth `aim` more: chance is taken from the worst states."""
    top = int(np.where(possible, values, -np.inf).argmax())
    found, left = row.copy(), aim
    for s in np.argsort(values):
        worth = values[top] - values[s]
        if left <= 0 or worth <= 0:
            break
        part = min(found[s], left / worth)
        found[s] -= part
        found[top] += part
        left -= part * worth
    return found


def _kl(row: Array, reward: float, other: Array, other_reward: float) -> float:
    """Of what a row answers: its next state and its reward, which are drawn independently."""
    return _divergence(row, other) + _divergence(
        np.array([reward, 1 - reward]), np.array([other_reward, 1 - other_reward])
    )


def _divergence(p: Array, q: Array) -> float:
    own = p > 0
    if (q[own] <= 0).any():
        return float("inf")
    return max(float((p[own] * np.log(p[own] / q[own])).sum()), 0.0)


def _tv(row: Array, other: Array, reward: float, other_reward: float) -> float:
    """At most the total variation of what a row answers: one of both parts has to differ."""
    parts = float(np.abs(row - other).sum()) / 2, abs(reward - other_reward)
    return 1 - (1 - parts[0]) * (1 - parts[1])
