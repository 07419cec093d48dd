"""SDP-PE (Bai et al. 2025, Algorithms 1-3) and non-private APEVE, which eliminate policies from a list in batches."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from dprl.engine import compiled, kernel
from dprl.fields import Field
from dprl.learners.elimination.eliminator import (
    Block,
    EliminationLearner,
    Eliminator,
    Exploration,
    StageEstimate,
    mean_rewards,
    stage_transitions,
)
from dprl.learners.learner import Problem
from dprl.mdp import Size
from dprl.mdp.tabular import Array

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

MAX_POLICIES = 10**6


class ListedElimination(Eliminator):
    """Policy elimination with a list of all deterministic policies [N, H, S] and flags for the active ones [N]."""

    SERIES = ("active policies", "confidence width", "infrequent tuples")

    def __init__(self, problem: Problem, d1: Array) -> None:
        self.policies = all_policies(problem.H, problem.S, problem.A)
        super().__init__(problem, d1, self.policies[0])
        self.active = np.ones(len(self.policies), dtype=np.bool_)
        self._visitors = compiled(best_visitors, VISITORS)
        self._values = compiled(policy_values, VALUES)

    def explore(self, each: int, first: int, rest: tuple[Block, ...]) -> Exploration:
        """Return the exploration policies of Bai et al. (2025): Algorithm 2, layer by layer, and then Algorithm 3."""
        H = self._problem.H
        blocks = tuple(
            Block(self.policies[which], each)
            for layer in ([self._layer] if self._layer < H else range(H))
            for which in self._explorers(layer).ravel()
        )
        return Exploration(blocks, first + self._layer, True, rest if self._layer >= H - 1 else ())

    def _explorers(self, layer: int) -> Ints:
        chosen = np.zeros((self._problem.S, self._problem.A), dtype=np.int64)
        self._visitors(self.policies, self.active, self._P, self._d1, layer, chosen)
        return chosen

    def eliminate(self, released: Array, threshold: float, w: float) -> StageEstimate:
        """Finish a stage of Algorithm 1."""
        S = self._problem.S
        P = stage_transitions(released[..., :S], released[..., S], self._frequent)
        R = mean_rewards(released)
        values = np.zeros(len(self.policies))
        self._values(self.policies, self.active, P, R, self._d1, values)
        best = int(values.argmax())
        self.favourite = self.policies[best]
        self.active &= values > values[best] - w
        self.active[best] = True  # even if C = 0 makes the width 0
        series = (float(self.active.sum()), w, float((~self._frequent).sum()))
        self._P[...], self._frequent[...] = 0.0, False
        return StageEstimate(P, R, self.favourite, series)


def too_large(key: str, size: Size) -> str:
    """Return a sentence that explains why the list of policies would be too long, or "" if it would fit."""
    S, A, H, _ = size
    if policies_to_keep(H, S, A) is not None:
        return ""
    return (
        f"{key} keeps a list of all A^(S*H) policies. The list may have at most {MAX_POLICIES:,}, but with S={S}, "
        f"A={A}, H={H} it would have {A}^{S * H}; give smaller S, A or H, such as S=2, A=2, H=3, or use {key}-relaxed."
    )


def policies_to_keep(H: int, S: int, A: int) -> int | None:
    """Return the number of deterministic policies A^(S H), or None if it exceeds MAX_POLICIES."""
    return None if S * H * log(max(A, 1)) > log(MAX_POLICIES) + 1e-9 else int(A ** (S * H))


def all_policies(H: int, S: int, A: int) -> NDArray[np.int64]:
    """Return every deterministic policy, [A^(S H), H, S]."""
    index = np.arange(A ** (S * H))
    digits = [(index // A**j) % A for j in range(H * S)]
    return np.stack(digits, axis=1).reshape(-1, H, S).astype(np.int64)


@kernel
def best_visitors(policies: Ints, active: Flags, P: Array, d1: Array, layer: int, chosen: Ints) -> None:
    """Find, for each (x, a), the active policy that is most likely to take action a in state x at `layer`.

    Its index is written to `chosen` [S, A]; ties go to the lowest index. `policies` is [N, H, S], and the rows of P [H,
    S, A, S] sum to at most 1.
    """
    N, _, S = policies.shape
    A = chosen.shape[1]
    best = np.full((S, A), -1.0)
    here = np.zeros(S)
    there = np.zeros(S)
    for p in range(N):
        if not active[p]:
            continue
        for s in range(S):
            here[s] = d1[s]
        for h in range(layer):
            for x in range(S):
                there[x] = 0.0
            for s in range(S):
                a = policies[p, h, s]
                for x in range(S):
                    there[x] += here[s] * P[h, s, a, x]
            for x in range(S):
                here[x] = there[x]
        for s in range(S):
            a = policies[p, layer, s]
            if here[s] > best[s, a]:
                best[s, a] = here[s]
                chosen[s, a] = p
    # if no active policy takes this action, the first active policy explores the pair
    first = 0
    while not active[first]:
        first += 1
    for s in range(S):
        for a in range(A):
            if best[s, a] < 0.0:
                chosen[s, a] = first


@kernel
def policy_values(policies: Ints, active: Flags, P: Array, R: Array, d1: Array, values: Array) -> None:
    """Compute each active policy's value in the model P, R, d1 and write it to values [N], with -1 for the others."""
    N, H, S = policies.shape
    V = np.zeros(S)
    before = np.zeros(S)
    for p in range(N):
        values[p] = -1.0
        if not active[p]:
            continue
        for s in range(S):
            V[s] = 0.0
        for h in range(H - 1, -1, -1):
            for s in range(S):
                a = policies[p, h, s]
                total = R[h, s, a]
                for x in range(S):
                    total += P[h, s, a, x] * V[x]
                before[s] = total
            for s in range(S):
                V[s] = before[s]
        total = 0.0
        for s in range(S):
            total += d1[s] * V[s]
        values[p] = total


VISITORS = "void(int64[:,:,::1], boolean[::1], float64[:,:,:,::1], float64[::1], int64, int64[:,::1])"
VALUES = (
    "void(int64[:,:,::1], boolean[::1], float64[:,:,:,::1], float64[:,:,::1], float64[::1], float64[::1])"
)

ALGORITHM = EliminationLearner(
    key="sdp-pe",
    title="SDP-PE",
    summary="Eliminates policies stage by stage and uses each shuffled batch once; for small environments only.",
    source="B25 Algorithms 1-3",
    note="This is the algorithm in version 1 of the paper. Version 3, of which we know only quoted parts, states a "
    "bound of order √(SAH³K) + S³AH⁶/ε with O(H log K) policy updates, and has experiments on RiverSwim.",
    privacies=("shuffle", "none"),
    fields=(
        Field("C", "float", 1.0, "multiplier of the confidence width; 1 in the paper", low=0.0, high=100.0),
        Field("C1", "float", 6.0, "multiplier of the infrequency threshold; 6 in the paper", 0.0, 1000.0),
    ),
    begin=ListedElimination,
    series=ListedElimination.SERIES,
    too_large=too_large,
    planning=lambda size: 0.0,
)

APEVE = replace(
    ALGORITHM,
    key="apeve",
    title="APEVE",
    summary="SDP-PE without noise: eliminates policies stage by stage (after Qiao et al. 2022).",
    source="B25 Algorithms 1-3 without noise",
    privacies=("none",),
)
