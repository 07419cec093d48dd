"""What a teacher puts to a class, one thing after another, and what came back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from dprl.fields import Field
from dprl.metrics import Measured
from dprl.rooms.response import answered_yes, counted, shuffled

State = Literal["open", "paused", "revealed"]

DELTA = 1e-6  # at which the shuffler's epsilon is said
MOST_LETTERS = 140
EPSILON = Field("epsilon", "float", 1.0, "the budget of one answer", low=0.1, high=5.0)
TEXT = Field("question", "text", "", f"1 to {MOST_LETTERS} characters, to be answered by yes or no")


@dataclass(frozen=True)
class Question:
    """A question to be answered by yes or no, through a coin at `epsilon`. Raises SpecError."""

    text: str
    epsilon: float

    def __post_init__(self) -> None:
        text = " ".join("".join(c if c.isprintable() else " " for c in self.text).split())
        if not 1 <= len(text) <= MOST_LETTERS:
            raise TEXT.refuse(text or "nothing")
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "epsilon", EPSILON.check(self.epsilon))

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Step:
    """Something put to the class.

    Attributes:
        place: 0, 1, ... in the order in which it was put.
        content: what it is.
        state: open to answers, paused, or revealed.
        answers: what came back, in an order that says nothing of when or from whom.
    """

    place: int
    content: Question
    state: State
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Estimate:
    """What the reports on a question say, under three kinds of trust.

    Attributes:
        n, reported: answers, and how many of their reports are yes.
        yes: how many answers were yes, by the reports.
        epsilon: of each report, whoever sees it.
        shuffled: of the same reports at DELTA, had a trusted shuffler mixed them before they were seen once.
        said, far: what a trusted centre would have said at the same epsilon, simulated as if `yes` were the truth, and
            how far from that at most, 95 times in 100.
    """

    n: int
    reported: int
    yes: Measured
    epsilon: float
    shuffled: float
    said: int
    far: int


def estimate(room: str, step: Step, question: Question) -> Estimate | None:
    """Of the answers so far; None while there are none. room: its code, from which the noise of the simulated centre
    is drawn, one draw for a question."""
    n, reported, epsilon = len(step.answers), step.answers.count(YES), question.epsilon
    if n == 0:
        return None
    yes = answered_yes(reported, n, epsilon)
    seed = int.from_bytes(hashlib.sha256(f"{room} {step.place}".encode()).digest())
    said, far = counted(round(yes.value), epsilon, np.random.Generator(np.random.PCG64(seed)))
    return Estimate(n, reported, yes, epsilon, shuffled(epsilon, n, DELTA), said, far)


YES, NO = "yes", "no"
