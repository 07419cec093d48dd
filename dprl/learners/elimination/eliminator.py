"""The interface between policy-elimination learners and the loop that plays their policies.

A run consists of stages (Bai et al. 2025, Algorithm 1). A stage has H crude batches, one for each layer h, and one fine
batch. Every user is in at most one batch, and the counts of a batch are released once and then forgotten. The sizes of
stages and batches depend only on K.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.fields import SpecError, number, reject
from dprl.learners.learner import Learner, Problem
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.messages import messages
from dprl.statistics import CONSISTENT, REPLACE_ONE
from dprl.statistics.counts import LAYER, Counts

SAID, PACE = messages("refusals")["elimination"], messages("cards")["pace"]


class Block(NamedTuple):
    """A block of users who all follow the same deterministic policy [H, S]."""

    policy: Policy
    users: int


@dataclass(frozen=True)
class Exploration:
    """The policies that the learner wants users to play next."""

    blocks: tuple[Block, ...]  # the blocks in the order of play; their counts are added to the batch
    batch: int  # the index of the batch in the whole run
    release: bool  # true if these blocks complete the batch
    idle: tuple[Block, ...] = ()  # blocks of users who play after the release and whose data are not used


@dataclass(frozen=True)
class StageEstimate:
    """A stage's estimated transitions, rewards and best policy, with numbers to report. The rows of P [H, S, A, S] sum
    to at most 1; R is [H, S, A], and policy is [H, S]."""

    P: Array
    R: Array
    policy: Policy
    series: tuple[float, ...]


class Eliminator(ABC):
    """A policy elimination in progress. It learns only from public facts and released counts.

    favourite: the best policy so far [H, S]. frequent: the frequent tuples in the stage's crude model P.
    """

    def __init__(self, problem: Problem, d1: Array, favourite: Policy) -> None:
        H, S, A = problem.H, problem.S, problem.A
        self._problem, self._d1, self.favourite = problem, d1, favourite
        self._stages = stages(problem.K, H * S * A)
        self._left = problem.K - sum(2 * stage.length for stage in self._stages)
        self._stage = self._layer = 0  # from layer H on, the fine batch
        self._P, self._frequent = np.zeros((H, S, A, S)), np.zeros((H, S, A, S), dtype=bool)

    def propose(self) -> Exploration | None:
        """Return the next policies to play, or None when all users have played."""
        if self._stage < len(self._stages):
            stage, H = self._stages[self._stage], self._problem.H
            tuples = H * self._problem.S * self._problem.A
            rest = (Block(self.favourite, stage.length - tuples * stage.each),)
            return self.explore(stage.each, self._stage * (H + 1), rest)
        left, self._left = self._left, 0
        return Exploration((), -1, False, (Block(self.favourite, left),)) if left else None

    @abstractmethod
    def explore(self, each: int, first: int, rest: tuple[Block, ...]) -> Exploration:
        """Return the next policies to play. Each (h, x, a) gets `each` users, `first` is the index of the stage's first
        batch, and `rest` are the users in half a stage who do not explore."""

    def absorb(self, released: Array, error: float) -> StageEstimate | None:
        """Update the estimates with a batch's released counts and noise bound. Return them at the end of a stage."""
        S, h, threshold = self._problem.S, self._layer, infrequent_below(self._problem, error)
        if h < self._problem.H:  # a layer of Algorithm 2
            m, n = released[h, ..., :S], released[h, ..., S]
            self._frequent[h] = m > threshold
            self._P[h] = stage_transitions(m, n, self._frequent[h])
            self._layer += 1
            return None
        w = width(self._problem, error, self._stages[self._stage].length)
        self._stage, self._layer = self._stage + 1, 0
        return self.eliminate(released, threshold, w)

    @abstractmethod
    def eliminate(self, released: Array, threshold: float, w: float) -> StageEstimate:
        """Eliminate policies at the end of a stage, given a fine batch's released counts and the confidence width w."""


@dataclass(frozen=True, kw_only=True, repr=False)
class EliminationLearner(Learner):
    """A learner that plays several policies in each stage and then drops the ones that look worse than the best."""

    begin: Callable[[Problem, Array], Eliminator]  # begin(problem, d1): returns a new `Eliminator`
    series: tuple[str, ...]  # the names of the numbers that the learner reports after each stage
    too_large: Callable[[str, Size], str]  # too_large(key, size): explains why a problem is too large, or ""
    planning: Callable[[Size], float]  # estimates the seconds of planning in one stage; 0 if negligible
    bonuses: tuple[str, ...] = ("practical", "paper")
    statistic: Counts = CONSISTENT

    loop = "eliminate"
    public = ("sizes", "d1")
    schedule = "own"
    forgets = True

    def seen(self, bonus: str) -> Counts:
        """Return the type of counts that the learner receives, which is the same for every bonus."""
        return self.statistic

    def refusal(self, size: Size, K: int) -> SpecError | None:
        """Return an error if the problem is too large or has too few users for one stage, else None."""
        if sentence := self.too_large(self.key, size):
            return SpecError("algorithm", sentence)
        fewest = 2 * tuples(size)
        if K < fewest:
            return reject("episodes", SAID["few"], users=number(K), algorithm=self.key, fewest=fewest)
        return None

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        return int(20 * log(K + 1)) + 1

    def pace(self, private: bool) -> str:
        return str(PACE["stages"])

    def seconds(self, size: Size, K: int) -> float:
        return self.planning(size) * len(stages(K, tuples(size)))


@dataclass(frozen=True)
class Stage:
    """A stage with `length` users in each of its two halves and `each` users per (h, x, a)."""

    length: int
    each: int


def tuples(size: Size) -> int:
    """Return H S A, the number of triples (step h, state x, action a)."""
    return size.H * size.S * size.A


def stages(K: int, tuples: int) -> list[Stage]:
    """List the stages of a run with K users.

    `tuples` is H S A. Each half of stage b has 2^b users (L_b in the paper), and the last stage gets the rest. In Bai
    et al. 2025, Algorithm 1 (line 2), the users left over form a short stage of their own; here they join the last full
    stage. We skip stages that are too short to give every (h, x, a) one user.
    """
    result: list[Stage] = []
    left, length = K, 1
    while left >= 2 * tuples:
        length *= 2
        if length < tuples:
            continue
        if left < 2 * length + 2 * (2 * length):  # no room for another stage after this one
            length = left // 2
        result.append(Stage(length, length // tuples))
        left -= 2 * length
    return result


def batches(K: int, size: Size, statistic: Counts) -> list[tuple[int, int]]:
    """Return the size of each batch, and how many of its counters rise if one user is replaced."""
    fine = statistic.sensitivity(size, REPLACE_ONE).raised
    return [
        batch
        for stage in stages(K, tuples(size))
        for batch in [(size.S * size.A * stage.each, LAYER.raised)] * size.H
        + [(tuples(size) * stage.each, fine)]
    ]


def iota(problem: Problem) -> float:
    """Return iota = ln(2 H A K / beta), the logarithm in the confidence width."""
    return log(2 * problem.H * problem.A * problem.K / problem.beta)


def infrequent_below(problem: Problem, error: float) -> float:
    """Return C1 max(E, 1) H^2 iota. Tuples with at most this noisy count are infrequent (Algorithm 2, Lemma 15)."""
    return float(problem.params["C1"]) * max(error, 1.0) * problem.H**2 * iota(problem)


def width(problem: Problem, error: float, users: int) -> float:
    """Return a stage's confidence width. Policies that are this far below the best one are eliminated (Algorithm 1).

    It is 2C (sqrt(H^5 S^2 A iota / L_b) + S^3 A^2 H^5 E iota / L_b), where L_b = users.
    """
    H, S, A, i = problem.H, problem.S, problem.A, iota(problem)
    spread = sqrt(H**5 * S**2 * A * i / users) + S**3 * A**2 * H**5 * max(error, 1.0) * i / users
    return 2 * float(problem.params["C"]) * spread


def stage_transitions(m: Array, n: Array, frequent: NDArray[np.bool_]) -> Array:
    """Estimate the transitions of frequent tuples by m~/n~. Missing probability leads to an absorbing state."""
    P = np.where(frequent, m, 0.0) / np.maximum(n, 1.0)[..., None]
    result: Array = P / np.maximum(P.sum(-1, keepdims=True), 1.0)
    return result


def mean_rewards(released: Array) -> Array:
    """Return the estimated mean rewards [H, S, A]: noisy reward sums divided by noisy visits, clipped to [0, 1]."""
    result: Array = np.clip(released[..., -1] / np.maximum(released[..., -2], 1.0), 0.0, 1.0)
    return result
