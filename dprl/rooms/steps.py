"""The steps that a teacher gives a class, one after another, and the answers."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

import numpy as np

from dprl.fields import Field, SpecError
from dprl.metrics.attack import Measured
from dprl.rooms import clinic
from dprl.rooms.response import curator_count, share_of_yes, shuffled

State = Literal["open", "paused", "revealed"]

DELTA = 1e-6  # the delta of the shuffler's epsilon
MOST_LETTERS = 140
EPSILON = Field("epsilon", "float", 1.0, "the budget of one answer", low=0.1, high=5.0)
# At 0.1, answers reveal next to nothing; at 20, which allows four questions at 5, hardly anything stays hidden.
TOTAL = Field("total", "float", 5.0, "the budget of one phone for all questions in a room", 0.1, 20.0)
TEXT = Field("question", "text", "", f"1 to {MOST_LETTERS} characters, to be answered by yes or no")
REPORT = Field("report", "choice", "no", "what the coin left of the answer", choices=("yes", "no"))
BITS = Field(
    "report", "text", "", "a report that a phone could have sent: a group, and bits for each of its steps"
)
GUESS = Field("prediction", "text", "", "a prediction that the lesson's own page could have made")


YES, NO = "yes", "no"


@dataclass(frozen=True)
class Question:
    """A yes-or-no question, answered through a coin at `epsilon`. Raises SpecError if a value is invalid."""

    text: str
    epsilon: float
    kind: ClassVar[str] = "question"

    def __post_init__(self) -> None:
        text = " ".join("".join(c if c.isprintable() else " " for c in self.text).split())
        if not text:
            raise SpecError(TEXT.name, f"enter {TEXT.allowed}.")
        if len(text) > MOST_LETTERS:
            raise TEXT.refuse(text)
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "epsilon", EPSILON.check(self.epsilon))

    def check(self, report: str) -> None:
        """Raise SpecError unless a coin could have produced this report."""
        REPORT.check(report)


@dataclass(frozen=True)
class Clinic:
    """The clinic, where each phone plays a patient and reports at `epsilon`. Raises SpecError for an invalid value."""

    epsilon: float
    kind: ClassVar[str] = "clinic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", EPSILON.check(self.epsilon))

    def check(self, report: str) -> None:
        """Raise SpecError unless a phone could have sent this report."""
        if clinic.parse_report(report, self.epsilon) is None:
            raise BITS.refuse(report)


@dataclass(frozen=True)
class Guess:
    """A prediction at one step of a lesson. It is about a chart, not a person, so it needs no coin."""

    lesson: str
    step: int
    kind: ClassVar[str] = "prediction"

    def check(self, text: str) -> None:
        """Raise SpecError unless a lesson's link could contain this prediction."""
        if not re.fullmatch(r"[\w.+-]{1,40}", text):
            raise GUESS.refuse(text)


@dataclass(frozen=True)
class Recap:
    """The end of a lesson, with its main points and the results of the class."""

    lesson: str
    kind: ClassVar[str] = "recap"

    def check(self, text: str) -> None:
        """Raise SpecError, because there is no question to answer."""
        raise GUESS.refuse(text)


Content = Question | Clinic | Guess | Recap


def spends(content: Content) -> float:
    """Return the budget that a phone spends by answering."""
    return content.epsilon if isinstance(content, Question | Clinic) else 0.0


def budget_left(total: float, put: Iterable[Content]) -> float:
    """Return the epsilon left for later steps (at least 0). A phone may answer every step once, so budgets add up."""
    spent = math.fsum(map(spends, put))
    return max(round(total - spent, 9), 0.0)


def to_json(content: Content) -> str:
    """Return a step's content as text for the store."""
    return json.dumps({"kind": content.kind, **asdict(content)})


def from_json(text: str) -> Content:
    """Read the output of `to_json`."""
    given = json.loads(text)
    kinds: dict[str, type[Content]] = {kind.kind: kind for kind in (Question, Clinic, Guess, Recap)}
    return kinds[given.pop("kind")](**given)


@dataclass(frozen=True)
class ClassStep:
    """A step that a teacher put to a class, with the answers.

    Attributes:
        place: 0 for the first step, 1 for the second, ...
        state: open to answers, paused, or revealed.
        answers: sorted in an order that does not reveal when or from whom they came.
    """

    place: int
    content: Content
    state: State
    answers: tuple[str, ...]


@dataclass(frozen=True)
class ShareEstimate:
    """Estimates from the reports on a question, under three kinds of trust.

    Attributes:
        n, reported: the numbers of answers and of yes reports.
        yes: the share of answers that were yes, estimated from the reports.
        epsilon: the epsilon of each report, whoever sees it.
        shuffled: the epsilon that the reports would have at DELTA if a trusted shuffler had mixed them.
        said: a trusted curator's noisy count at the same epsilon, simulated as if `yes` were the truth.
        far: the largest error of such a count in 95 of 100 draws.
    """

    n: int
    reported: int
    yes: Measured
    epsilon: float
    shuffled: float
    said: int
    far: int


def estimate_share(room: str, step: ClassStep) -> ShareEstimate | None:
    """Estimate the share of yes answers, or return None if nobody answered. The room seeds the curator's noise."""
    if not step.answers or not isinstance(step.content, Question):
        return None
    n, reported, epsilon = len(step.answers), step.answers.count(YES), step.content.epsilon
    yes = share_of_yes(reported, n, epsilon)
    seed = int.from_bytes(hashlib.sha256(f"{room} {step.place}".encode()).digest())
    said, far = curator_count(round(n * yes.value), epsilon, np.random.Generator(np.random.PCG64(seed)))
    return ShareEstimate(n, reported, yes, epsilon, shuffled(epsilon, n, DELTA), said, far)
