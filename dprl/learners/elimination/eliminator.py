"""The record of a learner that eliminates policies, and what it exchanges with the loop that plays it.

It plays in stages (B25 Algorithm 1). A stage has H crude batches, one a layer, and one fine batch. Every user is in one
batch at most, and each batch's counts are released once and then forgotten. Sizes of stages and batches depend on K
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dprl.fields import Field, SpecError, number
from dprl.learners.defaults import LearnerDefaults
from dprl.learners.learner import Problem
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.messages.brief import described
from dprl.statistics import CONSISTENT, REPLACE_ONE
from dprl.statistics.counts import LAYER, Counts


class Block(NamedTuple):
    """`users` users follow one deterministic policy [H, S]."""

    policy: Policy
    users: int


@dataclass(frozen=True)
class Exploration:
    """The next exploration.

    Attributes:
        blocks: in this order; their counts join the batch.
        batch: its number, counted over the whole run.
        release: the batch is complete after them.
        idle: users who play after the release and whose data nobody looks at.
    """

    blocks: tuple[Block, ...]
    batch: int
    release: bool
    idle: tuple[Block, ...] = ()


@dataclass(frozen=True)
class StageEstimate:
    """The estimates at the end of a stage: a model P [H, S, A, S] (rows may lose mass), R [H, S, A], the policy that
    looks best in it, and a number for each of the learner's series."""

    P: Array
    R: Array
    policy: Policy
    series: tuple[float, ...]


class Eliminator(Protocol):
    """A learner at work. It is a function of its inputs: public facts, and released counts."""

    def propose(self) -> Exploration | None:
        """Propose the next exploration; None when every user has played."""

    def absorb(self, released: Array, error: float) -> StageEstimate | None:
        """Learn from a batch.

        Args:
            released: [H, S, A, S + 2], the batch's counts as they were released.
            error: E, the bound on their noise that is in use.

        Returns:
            The estimate, at the end of a stage.
        """


@dataclass(frozen=True)
class EliminationLearner(LearnerDefaults):
    """A learner that plays stages of several policies each, and drops policies that look worse than the best.

    Attributes:
        begin(problem, d1): a learner at work.
        series: what it reports after each stage.
        too_large(key, size): why a problem is too large, "" when it is not.
        planning(size): seconds that planning a stage takes, where it is the most of it.

    The rest is that of every `Learner`.
    """

    key: str
    title: str
    summary: str
    source: str
    privacies: tuple[str, ...]
    begin: Callable[[Problem, Array], Eliminator]
    series: tuple[str, ...]
    too_large: Callable[[str, Size], str]
    planning: Callable[[Size], float]
    fields: tuple[Field, ...] = ()
    bonuses: tuple[str, ...] = ("practical", "paper")
    statistic: Counts = CONSISTENT
    note: str = ""

    __repr__ = described

    loop = "eliminate"
    public = ("sizes", "d1")
    schedule = "own"
    forgets = True

    def seen(self, bonus: str) -> Counts:
        """Return the same counts with all constants."""
        return self.statistic

    def refusal(self, size: Size, K: int) -> SpecError | None:
        """Too large a problem, or too few users for one stage."""
        if sentence := self.too_large(self.key, size):
            return SpecError("algorithm", sentence)
        fewest = 2 * tuples(size)
        if K < fewest:
            return SpecError(
                "episodes",
                f"{number(K)} is too few for a stage of {self.key}, which needs two users for each (h, s, a); give at "
                f"least {fewest}.",
            )
        return None

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        """Estimate the number of batches."""
        return int(20 * log(K + 1)) + 1

    def pace(self, private: bool) -> str:
        """Return stages, with privacy and without it."""
        return (
            "plays stages, each twice as long as the one before, except for the last, which has the users who are "
            "left. At the end of each stage, it drops policies"
        )

    def seconds(self, size: Size, K: int) -> float:
        """Estimate the seconds of planning in a whole run."""
        return self.planning(size) * len(stages(K, tuples(size)))


@dataclass(frozen=True)
class Stage:
    """One stage: `length` users for the crude half and as many for the fine half, `each` of them for one (h, x, a)."""

    length: int
    each: int


def tuples(size: Size) -> int:
    """Return H S A, the number of (h, x, a)."""
    return size.H * size.S * size.A


def stages(K: int, tuples: int) -> list[Stage]:
    """List the stages of a run of K users with `tuples` = H S A. L_b = 2^b; the last stage takes the rest.

    B25 Algorithm 1 (line 2) makes a short stage of the rest after the last full one; here it is merged
    into that. Stages too short to give every (h, x, a) one user are skipped and use nobody.
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
    """(users, counters that replacing one of them raises) of each batch. A crude one releases n and m of its layer."""
    fine = statistic.sensitivity(size, REPLACE_ONE).raised
    return [
        batch
        for stage in stages(K, tuples(size))
        for batch in [(size.S * size.A * stage.each, LAYER.raised)] * size.H
        + [(tuples(size) * stage.each, fine)]
    ]


def iota(problem: Problem) -> float:
    """Return ln(2 H A K / beta)."""
    return log(2 * problem.H * problem.A * problem.K / problem.beta)


def infrequent_below(problem: Problem, error: float) -> float:
    """Algorithm 2: tuples (h, x, a, x') with m~ at most C1 E H^2 iota are infrequent. E: at least 1 (Lemma 15)."""
    return float(problem.params["C1"]) * max(error, 1.0) * problem.H**2 * iota(problem)


def width(problem: Problem, error: float, users: int) -> float:
    """Algorithm 1: a policy this far below the best active one is eliminated. users: L_b of the stage.

    2C (sqrt(H^5 S^2 A iota / L_b) + S^3 A^2 H^5 E iota / L_b)
    """
    H, S, A, i = problem.H, problem.S, problem.A, iota(problem)
    spread = sqrt(H**5 * S**2 * A * i / users) + S**3 * A**2 * H**5 * max(error, 1.0) * i / users
    return 2 * float(problem.params["C"]) * spread


def stage_transitions(m: Array, n: Array, frequent: NDArray[np.bool_]) -> Array:
    """Return P^[.., x'] = m~/n~ for frequent tuples; what is missing to 1 goes to an absorbing state, kept implicit.

    Ratios are kept from adding up to more than 1, which noise can make them do.
    """
    P = np.where(frequent, m, 0.0) / np.maximum(n, 1.0)[..., None]
    result: Array = P / np.maximum(P.sum(-1, keepdims=True), 1.0)
    return result


def mean_rewards(released: Array) -> Array:
    """Return r~/n~ [H, S, A], clipped to [0, 1]."""
    result: Array = np.clip(released[..., -1] / np.maximum(released[..., -2], 1.0), 0.0, 1.0)
    return result
