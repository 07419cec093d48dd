"""A teacher's steps for a class, one after another, and the answers."""

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
from dprl.metrics import Measured
from dprl.rooms import clinic
from dprl.rooms.response import curator_count, flip, opposites, share_of_yes, shuffled

State = Literal["open", "paused", "revealed"]

DELTA = 1e-6  # at which the shuffler's epsilon is said
MOST_LETTERS = 140
EPSILON = Field("epsilon", "float", 1.0, "the budget of one answer", low=0.1, high=5.0)
# From one question that says next to nothing to four at which hardly anything is hidden.
TOTAL = Field("total", "float", 5.0, "the budget of one phone over all questions of a room", 0.1, 20.0)
TEXT = Field("question", "text", "", f"1 to {MOST_LETTERS} characters, to be answered by yes or no")
REPORT = Field("report", "choice", "no", "what the coin left of the answer", choices=("yes", "no"))
BITS = Field(
    "report", "text", "", "one that a phone could have sent: a group, and bits for each of its steps"
)
GUESS = Field("prediction", "text", "", "one that the lesson's own page could have made")


YES, NO = "yes", "no"


@dataclass(frozen=True)
class Question:
    """A question to be answered by yes or no, through a coin at `epsilon`. Raises SpecError."""

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

    @property
    def flip(self) -> float:
        """The chance that the coin turns an answer into its opposite."""
        return flip(self.epsilon)

    @property
    def opposites(self) -> int:
        """The number of the coin's DRAWS outcomes that do so: a phone draws by it."""
        return opposites(self.epsilon)

    def check(self, report: str) -> None:
        """Refuses what no coin leaves of an answer. Raises SpecError."""
        if report not in (YES, NO):
            raise REPORT.refuse(report)


@dataclass(frozen=True)
class Clinic:
    """The clinic that each phone plays as a patient, reporting at `epsilon` (`dprl.rooms.clinic`). Raises SpecError."""

    epsilon: float
    kind: ClassVar[str] = "clinic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", EPSILON.check(self.epsilon))

    def check(self, report: str) -> None:
        """Refuses what no phone sends. Raises SpecError."""
        if clinic.parse_report(report, self.epsilon) is None:
            raise BITS.refuse(report)


@dataclass(frozen=True)
class Guess:
    """A prediction that a step of a lesson asks for: about a chart, not about a person, so it has no coin.

    lesson: its key; step: 0, 1, ...
    """

    lesson: str
    step: int
    kind: ClassVar[str] = "prediction"

    def check(self, text: str) -> None:
        """Refuses what no lesson's link could have for a prediction. Raises SpecError."""
        if not re.fullmatch(r"[\w.+-]{1,40}", text):
            raise GUESS.refuse(text)


@dataclass(frozen=True)
class Recap:
    """The end of a lesson: what to remember of it, and how everybody did. Nothing is asked. lesson: its key."""

    lesson: str
    kind: ClassVar[str] = "recap"

    def check(self, text: str) -> None:
        """Refuses every answer. Raises SpecError."""
        raise GUESS.refuse(text)


Content = Question | Clinic | Guess | Recap


def spends(content: Content) -> float:
    """Return the budget that a phone spends by answering."""
    return content.epsilon if isinstance(content, Question | Clinic) else 0.0


def budget_left(total: float, put: Iterable[Content]) -> float:
    """Return the epsilon that past questions and clinics leave to later ones: a phone answers each once, so the budgets
    of those that it could answer add up. Never below 0, and free of the rounding that binary fractions add to decimal
    sums."""
    spent = math.fsum(map(spends, put))
    return max(round(total - spent, 9), 0.0)


def to_json(content: Content) -> str:
    """Return the stored form."""
    return json.dumps({"kind": content.kind, **asdict(content)})


def from_json(text: str) -> Content:
    """Read the input of `to_json` back."""
    given = json.loads(text)
    kinds: dict[str, type[Content]] = {kind.kind: kind for kind in (Question, Clinic, Guess, Recap)}
    return kinds[given.pop("kind")](**given)


@dataclass(frozen=True)
class ClassStep:
    """Something put to the class.

    Attributes:
        place: 0, 1, ... in the order in which it was put.
        content: what it is.
        state: open to answers, paused, or revealed.
        answers: what came back, in an order that says nothing of when or from whom.
    """

    place: int
    content: Content
    state: State
    answers: tuple[str, ...]


@dataclass(frozen=True)
class ShareEstimate:
    """Estimates from the reports on a question, under three kinds of trust.

    Attributes:
        n, reported: answers, and how many of their reports are yes.
        yes: the share of answers that were yes, by the reports.
        epsilon: of each report, whoever sees it.
        shuffled: of the same reports at DELTA, had a trusted shuffler mixed them before they were seen once.
        said, far: what a trusted curator would have said at the same epsilon, simulated as if `yes` were the truth, and
            how far from that at most, 95 times in 100.
    """

    n: int
    reported: int
    yes: Measured
    epsilon: float
    shuffled: float
    said: int
    far: int


def estimate_share(room: str, step: ClassStep) -> ShareEstimate | None:
    """Estimate from the answers to a question; None while there are none, and for anything else. room: its code, from
    which the noise of the simulated centre is drawn, one draw for a question."""
    if not step.answers or not isinstance(step.content, Question):
        return None
    n, reported, epsilon = len(step.answers), step.answers.count(YES), step.content.epsilon
    yes = share_of_yes(reported, n, epsilon)
    seed = int.from_bytes(hashlib.sha256(f"{room} {step.place}".encode()).digest())
    said, far = curator_count(round(n * yes.value), epsilon, np.random.Generator(np.random.PCG64(seed)))
    return ShareEstimate(n, reported, yes, epsilon, shuffled(epsilon, n, DELTA), said, far)
