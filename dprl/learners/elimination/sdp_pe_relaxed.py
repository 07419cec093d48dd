"""Our relaxation of SDP-PE, for problems with far too many policies to list.

Each past stage restricts the paper's active set (Bai et al. 2025, Algorithm 1) by one constraint on the value under
that stage's own model. Maximising over this set means finding a policy that is good in several models at once, which is
NP-hard in general. We keep only the newest constraint, and allow all mixtures of policies whose value in the last
refined model is within `width` of the best.

With one model and one linear constraint, the mixture that visits (h, x, a) most often consists of at most two
deterministic policies, which a few rounds of backward induction find exactly. Until a stage's width falls below the
best value, nothing is eliminated, as in the paper. From then on, the last refined model also replaces the crude one,
and the users of crude exploration play the best known policy.

An optimal policy stays in the set as long as no policy looks better by more than the width w. The values of policies in
the set have errors of at most w/2. Policies outside it are explored less, but a policy that loses D > w is part of a
mixture in the set with weight w/D. So its error is about sqrt(w D)/2 <= (w + D)/4, which is too small for it to look
better by w. This is a sketch, not a proof with constants, and tests measure the errors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dprl.engine import compiled, kernel
from dprl.learners.elimination import sdp_pe
from dprl.learners.elimination.eliminator import (
    Block,
    Eliminator,
    Exploration,
    StageEstimate,
    mean_rewards,
    stage_transitions,
    tuples,
)
from dprl.learners.learner import Problem
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array

Ints = NDArray[np.int64]

ROUNDS = 60  # more are never needed: each round finds another vertex of the same small polygon
SLACK = 1e-10
MAX_WORK = 3 * 10**8  # upper limit of `work` for one stage


class RelaxedElimination(Eliminator):
    """Policy elimination with mixtures of policies and one constraint on their values, instead of a list."""

    SERIES = ("best estimate", "confidence width", "infrequent tuples")

    def __init__(self, problem: Problem, d1: Array) -> None:
        super().__init__(problem, d1, np.zeros((problem.H, problem.S), dtype=np.int64))
        self._R = np.zeros((problem.H, problem.S, problem.A))
        self._refined = False  # whether the last refined model replaces the crude one
        self._floor = 0.0  # smallest allowed value of a mixture in the model (P, R)
        self._plan = compiled(plan, PLAN)
        self._explorers = compiled(explorers, EXPLORERS)

    def explore(self, each: int, first: int, rest: tuple[Block, ...]) -> Exploration:
        """Return the exploration policies for active mixtures, layer by layer (Bai et al. 2025, Algorithms 2 and 3)."""
        H, S, A = self._R.shape
        if self._layer == 0:
            self._refined = self._floor > 0.0
            if self._refined:
                self._layer = H
                return Exploration((), -1, False, H * S * A * (Block(self.favourite, each),) + rest)
            # nothing is eliminated: crude exploration as in the paper, layer by layer
            self._P, self._R = np.zeros((H, S, A, S)), np.zeros((H, S, A))
            self._frequent[...] = False
        if self._layer < H:
            blocks = self._explore(0.0, self._layer, each)
            return Exploration(blocks, first + self._layer, True, rest if self._layer == H - 1 else ())
        blocks = self._explore(self._floor, self._layer - H, each)
        self._layer += 1
        last = self._layer == 2 * H
        return Exploration(blocks, first + H, last, rest if last else ())

    def _explore(self, floor: float, layer: int, each: int) -> tuple[Block, ...]:
        """Return blocks of `each` users for every (x, a), who follow the active mixture that takes a in x most
        often."""
        H, S, A = self._problem.H, self._problem.S, self._problem.A
        greedy, V = self._best()
        pairs = np.zeros((S, A, 2, H, S), dtype=np.int64)
        shares = np.zeros((S, A))
        self._explorers(self._P, self._R, self._d1, V, greedy, floor, layer, pairs, shares)
        blocks = []
        for x in range(S):
            for a in range(A):
                users = int(shares[x, a] * each)
                blocks += [Block(pairs[x, a, 0], users), Block(pairs[x, a, 1], each - users)]
        return tuple(blocks)

    def _best(self) -> tuple[Policy, Array]:
        greedy = np.zeros((self._problem.H, self._problem.S), dtype=np.int64)
        V = np.zeros((self._problem.H + 1, self._problem.S))
        self._plan(self._P, self._R, greedy, V)
        return greedy, V

    def eliminate(self, released: Array, threshold: float, w: float) -> StageEstimate:
        """Finish a stage: refine the model, and drop mixtures with values more than w below the best."""
        m, n = released[..., :-2], released[..., -2]
        frequent = m > threshold if self._refined else self._frequent
        self._P, self._R = stage_transitions(m, n, frequent), mean_rewards(released)
        self.favourite, V = self._best()
        top = float((self._d1 * V[0]).sum())  # `@` rounds as the CPU's BLAS does
        self._floor = max(top - w, 0.0)
        return StageEstimate(self._P, self._R, self.favourite, (top, w, float((~frequent).sum())))


def work(size: Size) -> int:
    """Estimate the number of additions in a stage, which runs a backward induction for every (h, s, a)."""
    return tuples(size) ** 2 * size.S


def too_large(key: str, size: Size) -> str:
    """Return a sentence that explains why planning would take too long, or "" if it would not."""
    if work(size) <= MAX_WORK:
        return ""
    return (
        f"{key} plans for every (h, s, a), and with S={size.S}, A={size.A}, H={size.H} that would take too long; give "
        f"S, A and H with (H*S*A)^2*S at most {MAX_WORK:,}."
    )


@kernel
def plan(P: Array, R: Array, policy: Policy, V: Array) -> None:
    """Compute the best policy [H, S] and its values V [H + 1, S] in a model whose rows may sum to less than 1."""
    H, S, A, _ = P.shape
    for s in range(S):
        V[H, s] = 0.0
    for h in range(H - 1, -1, -1):
        for s in range(S):
            best = -1.0
            for a in range(A):
                q = R[h, s, a]
                for x in range(S):
                    q += P[h, s, a, x] * V[h + 1, x]
                if q > best:
                    best = q
                    policy[h, s] = a
            V[h, s] = best


@kernel
def best_trade(
    P: Array,
    R: Array,
    d1: Array,
    V: Array,
    greedy: Policy,
    layer: int,
    state: int,
    action: int,
    price: float,
    policy: Policy,
    reach: Array,
    worth: Array,
) -> tuple[float, float]:
    """Find the policy that best trades off its value against the probability P of visiting a given (state, action).

    It maximises P + price * value and is written to `policy`; the function returns (P, value). P is the probability
    that the policy takes `action` in `state` at `layer`. V and greedy are results of `plan`, and the policy follows
    greedy after `layer`. The higher value wins ties. reach and worth are workspace [2, S].
    """
    H, S, A, _ = P.shape
    for h in range(H):
        for s in range(S):
            policy[h, s] = greedy[h, s]
    now = 0
    for h in range(layer, -1, -1):
        now = h % 2
        later = 1 - now
        for s in range(S):
            best = -1.0
            for a in range(A):
                chance = 1.0 if h == layer and s == state and a == action else 0.0
                value = R[h, s, a]
                if h == layer:
                    for x in range(S):
                        value += P[h, s, a, x] * V[h + 1, x]
                else:
                    for x in range(S):
                        chance += P[h, s, a, x] * reach[later, x]
                        value += P[h, s, a, x] * worth[later, x]
                score = chance + price * value
                if (
                    best < 0.0
                    or score > best + 1e-13 * best
                    or (score >= best - 1e-13 * best and value > worth[now, s] + 1e-13 * value)
                ):
                    best = score
                    reach[now, s] = chance
                    worth[now, s] = value
                    policy[h, s] = a
    chance = 0.0
    value = 0.0
    for s in range(S):
        chance += d1[s] * reach[now, s]
        value += d1[s] * worth[now, s]
    return chance, value


@kernel
def chance_of(
    P: Array, d1: Array, policy: Policy, layer: int, state: int, action: int, here: Array, there: Array
) -> float:
    """Return the probability of `action` in `state` at `layer` under a policy, with scratch arrays `here` and
    `there`."""
    S = len(d1)
    if policy[layer, state] != action:
        return 0.0
    for s in range(S):
        here[s] = d1[s]
    for h in range(layer):
        for x in range(S):
            there[x] = 0.0
        for s in range(S):
            for x in range(S):
                there[x] += here[s] * P[h, s, policy[h, s], x]
        for x in range(S):
            here[x] = there[x]
    chance: float = here[state]
    return chance


@kernel
def explorers(
    P: Array,
    R: Array,
    d1: Array,
    V: Array,
    greedy: Policy,
    floor: float,
    layer: int,
    pairs: Ints,
    shares: Array,
) -> None:
    """Find the mixtures of policies that are most likely to take each action a in each state x at `layer`.

    Each mixture has a value of at least `floor`. pairs [S, A, 2, H, S] receives each mixture's two policies, and shares
    [S, A] the share of the first. If x cannot be reached in this model, the best policy is chosen. floor is at most the
    best policy's value.
    """
    S = len(d1)
    H = len(P)
    A = P.shape[2]
    reach, worth = np.zeros((2, S)), np.zeros((2, S))
    here, there = np.zeros(S), np.zeros(S)
    trial = greedy.copy()
    top = 0.0
    for s in range(S):
        top += d1[s] * V[0, s]
    for x in range(S):
        for a in range(A):
            first, second = pairs[x, a, 0], pairs[x, a, 1]
            for h in range(H):
                for s in range(S):
                    second[h, s] = greedy[h, s]
            shares[x, a] = 1.0
            much, poor = best_trade(P, R, d1, V, greedy, layer, x, a, 0.0, first, reach, worth)
            if much <= 0.0:
                for h in range(H):
                    for s in range(S):
                        first[h, s] = greedy[h, s]
                continue
            if poor >= floor:
                continue
            little, rich = chance_of(P, d1, greedy, layer, x, a, here, there), top
            for _ in range(ROUNDS):
                price = (much - little) / (rich - poor)
                chance, value = best_trade(P, R, d1, V, greedy, layer, x, a, price, trial, reach, worth)
                if chance + price * value <= much + price * poor + SLACK * (much - little):
                    break
                better = second if value >= floor else first
                for h in range(H):
                    for s in range(S):
                        better[h, s] = trial[h, s]
                if value >= floor:
                    little, rich = chance, value
                else:
                    much, poor = chance, value
            shares[x, a] = (rich - floor) / (rich - poor)


PLAN = "void(float64[:,:,:,::1], float64[:,:,::1], int64[:,::1], float64[:,::1])"
EXPLORERS = (
    "void(float64[:,:,:,::1], float64[:,:,::1], float64[::1], float64[:,::1], int64[:,::1], float64, int64, "
    "int64[:,:,:,:,::1], float64[:,::1])"
)

ALGORITHM = replace(
    sdp_pe.ALGORITHM,
    key="sdp-pe-relaxed",
    title="SDP-PE, relaxed",
    summary="SDP-PE with mixtures of policies and one constraint instead of a list: a relaxation that also works in "
    "larger environments.",
    source="after B25 Algorithms 1-3; the relaxation is ours",
    begin=RelaxedElimination,
    series=RelaxedElimination.SERIES,
    too_large=too_large,
    planning=lambda size: 1e-8 * work(size),
)

APEVE = replace(
    ALGORITHM,
    key="apeve-relaxed",
    title="APEVE, relaxed",
    summary="Relaxed SDP-PE without noise.",
    source="after B25 Algorithms 1-3 without noise; the relaxation is ours",
    privacies=("none",),
)
