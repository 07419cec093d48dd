"""The loop of relaxed policy elimination: the stages of SDP-PE, planned in one model instead of from a list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from dprl.kernels import compiled
from dprl.learners.elimination import sdp_pe, sdp_pe_relaxed
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.simulation.loops.eliminate import Ints, StagedRun, estimate


class RelaxedRun(StagedRun):
    """One seed of a relaxed policy-elimination run; used like SeedRun. policies: those played in this stage."""

    SERIES = ("best estimate", "confidence width", "infrequent tuples")

    def _prepare(self) -> None:
        H, S = self.mdp.H, self.mdp.S
        self.policies: list[Ints] = []
        self._known: dict[bytes, int] = {}
        self._plan = _kernels()
        self.favourite = self._number(np.zeros((H, S), dtype=np.int64))

    def _forget(self) -> None:
        """Begin a stage with no policy but the favourite: a stage may play thousands."""
        favourite = self.policies[self.favourite]
        self.policies, self._known = [], {}
        self._values.clear()
        self.favourite = self._number(favourite)

    def _number(self, policy: Ints) -> int:
        """Where a policy stands in the list of those that are played."""
        key = policy.tobytes()
        if key not in self._known:
            self._known[key] = len(self.policies)
            self.policies.append(policy.copy())
        return self._known[key]

    def _play(self) -> Iterator[bool]:
        """B25 Algorithm 1 with the active set of sdp_pe_relaxed, a batch at a time."""
        H, S, A = self.mdp.H, self.mdp.S, self.mdp.A
        batch = 0
        P, R = np.zeros((H, S, A, S)), np.zeros((H, S, A))
        floor = 0.0  # what a mixture must be worth in the model (P, R); at 0 all are
        for stage in self.stages:
            self._forget()
            rest = stage.length - H * S * A * stage.each
            if floor <= 0.0:  # nothing is eliminated: crude exploration as printed, layer by layer
                P, R = np.zeros((H, S, A, S)), np.zeros((H, S, A))
                frequent = np.zeros((H, S, A, S), dtype=bool)
                for h in range(H):
                    counts = empty(H, S, A)
                    self._explore(P, R, 0.0, h, stage.each, counts)
                    released, _ = self._release(counts, batch + h)
                    m, n = released[h, ..., :S], released[h, ..., S]
                    frequent[h] = m > sdp_pe.rarely(self.problem, self.error[batch + h])
                    P[h] = estimate(m, n, frequent[h])
                    yield True
            else:  # the last refined model is the crude one
                for _ in range(H * S * A):
                    self._users_play(self.favourite, stage.each, None)
                frequent = None
            self._users_play(self.favourite, rest, None)
            batch += H
            counts = empty(H, S, A)
            for h in range(H):  # fine exploration
                self._explore(P, R, floor, h, stage.each, counts)
                yield True
            released, noisy = self._release(counts, batch)
            self._users_play(self.favourite, rest, None)
            m, n = released[..., :S], released[..., S]
            if frequent is None:
                frequent = m > sdp_pe.rarely(self.problem, self.error[batch])
            P = estimate(m, n, frequent)
            R = np.clip(released[..., S + 1] / np.maximum(n, 1.0), 0.0, 1.0)
            greedy, V = self._best(P, R)
            self.favourite = self._number(greedy)
            top = float(self.mdp.d1 @ V[0])
            width = sdp_pe.width(self.problem, self.error[batch], stage.length)
            floor = max(top - width, 0.0)
            self._detail(counts, noisy, released, P, R, batch)
            self._series.append((top, width, float((~frequent).sum())))
            batch += 1
            yield True
        if self.users < self.spec.episodes:
            self._users_play(self.favourite, self.spec.episodes - self.users, None)

    def _best(self, P: Array, R: Array) -> tuple[Ints, Array]:
        greedy = np.zeros((self.mdp.H, self.mdp.S), dtype=np.int64)
        V = np.zeros((self.mdp.H + 1, self.mdp.S))
        self._plan[0](P, R, greedy, V)
        return greedy, V

    def _explore(self, P: Array, R: Array, floor: float, layer: int, each: int, counts: Array) -> None:
        """For each (x, a) of a layer, `each` users follow the active mixture that takes a in x most often."""
        H, S, A = self.mdp.H, self.mdp.S, self.mdp.A
        greedy, V = self._best(P, R)
        pairs = np.zeros((S, A, 2, H, S), dtype=np.int64)
        shares = np.zeros((S, A))
        self._plan[1](P, R, self.mdp.d1, V, greedy, floor, layer, pairs, shares)
        for x in range(S):
            for a in range(A):
                users = int(shares[x, a] * each)
                self._users_play(self._number(pairs[x, a, 0]), users, counts)
                self._users_play(self._number(pairs[x, a, 1]), each - users, counts)


@cache
def _kernels() -> tuple[Any, Any]:
    return (
        compiled(sdp_pe_relaxed.plan, sdp_pe_relaxed.PLAN),
        compiled(sdp_pe_relaxed.explorers, sdp_pe_relaxed.EXPLORERS),
    )
