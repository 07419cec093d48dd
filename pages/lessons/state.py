"""Lessons: what a visitor's session holds of them, and the link to a question.

    v=1 & lesson=trust & step=2 & guess=1e9 & shown=yes & before=bdca & present=on

Without `lesson` all of them are listed. The step after the last question is the summary. `before` holds the guesses at
questions that were answered before, so that a reload forgets none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dprl import links
from dprl.fields import Field, SpecError
from dprl.lessons import LESSONS, Lesson, Step
from pages.shared.lessons.known import evidence
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState, session, write_address

STEP = Field("step", "int", 1, "the question of the lesson", 1, 9, query="step")
SHOWN = Field("shown", "choice", "no", "whether the answer is shown", choices=("no", "yes"), query="shown")
PRESENT = Field("present", "choice", "off", "for a projector", choices=("off", "on"), query="present")
NO_GUESS, OPEN, BETWEEN = "none", "open", "~"  # in `before`: answered without a guess, not answered

Place = tuple[str, int]  # a lesson and a step of it, from 0


@dataclass
class Lessons(PageState):
    """What a visitor looks at.

    Attributes:
        key: of the lesson that is open, "" for the list.
        at: its step, from 0.
        guesses: texts of guesses by place; perhaps not whole.
        seen: places whose answer is shown.
        first: the guess when an answer was first shown, "" for none: this one scores.
        present: large, for a projector.
    """

    key: str = ""
    at: int = 0
    guesses: dict[Place, str] = field(default_factory=dict)
    seen: set[Place] = field(default_factory=set)
    first: dict[Place, str] = field(default_factory=dict)
    present: bool = False

    @property
    def place(self) -> Place:
        """Where the visitor is."""
        return self.key, self.at

    @property
    def lesson(self) -> Lesson:
        """The one that is open."""
        return LESSONS[self.key]

    @property
    def step(self) -> Step:
        """The one that is open."""
        return self.lesson.steps[self.at]

    @property
    def ended(self) -> bool:
        """Whether this is the summary, which stands after the last question."""
        return bool(self.key) and self.at == len(self.lesson.steps)

    @property
    def unanswered(self) -> list[int]:
        """The questions of the open lesson whose answers were never shown, from 0."""
        return [at for at in range(len(self.lesson.steps)) if (self.key, at) not in self.first]

    def score(self, key: str) -> list[float]:
        """The points of each question of a lesson, 0 for no guess."""
        texts = [self.first.get((key, at), "") for at in range(len(LESSONS[key].steps))]
        return [
            step.score(text, evidence()) if text else 0.0
            for step, text in zip(LESSONS[key].steps, texts, strict=True)
        ]

    @property
    def guess(self) -> str:
        """The text of the guess here, "" for none yet."""
        return self.guesses.get(self.place, "")

    @property
    def whole(self) -> bool:
        """Whether there is a guess here that can be held against the truth."""
        return not self.ended and bool(self.guess) and valid(self.step, self.guess)

    @property
    def shown(self) -> bool:
        """Whether the answer is."""
        return self.place in self.seen

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        items = links.link_heading()
        if not self.key:
            return items
        items.append(("lesson", self.key))
        if self.at:
            items.append((STEP.query, str(self.at + 1)))
        if self.whole:
            items.append(("guess", self.guess))
        if self.shown:
            items.append((SHOWN.query, "yes"))
        others = [at for at in range(len(self.lesson.steps)) if at != self.at]
        if any((self.key, at) in self.first for at in others):
            texts = [self.first.get((self.key, at), OPEN) or NO_GUESS for at in others]
            items.append(("before", BETWEEN.join(texts)))
        return items + ([(PRESENT.query, "on")] if self.present else [])

    def follow(self, given: Query) -> None:
        """Takes over a link. Nothing is started."""
        problems: list[str] = []
        links.check_version(given, problems)
        key = links.chosen("lesson", links.last(given, "lesson"), LESSONS, problems)
        most = len(LESSONS[key].steps) + 1 if key else 1
        at = links.place(STEP, links.last(given, STEP.query), most, problems)
        see = links.checked(SHOWN, links.last(given, SHOWN.query), SHOWN.default, problems)
        present = links.checked(PRESENT, links.last(given, PRESENT.query), PRESENT.default, problems)
        self.key, self.at, self.present = key, at, present == "on" and bool(key)
        if key:
            self._remember(links.last(given, "before") or "")
            if not self.ended:
                self._take(links.last(given, "guess"), problems)
            self.show(see == "yes")
        self.problems = tuple(problems)
        session().version += 1

    def show(self, yes: bool) -> None:
        """The answer here is shown, or hidden. The guess before it was first shown is kept."""
        (self.seen.add if yes else self.seen.discard)(self.place)
        if yes and not self.ended:
            self.first.setdefault(self.place, self.guess)

    def _take(self, guess: str | None, problems: list[str]) -> None:
        """Takes over the guess of a link; without one the visitor's own stays."""
        if guess is None:
            return
        try:
            self.step.prediction.parse(guess)
        except SpecError as error:
            problems.append(str(error))
        else:
            self.guesses[self.place] = guess

    def _remember(self, before: str) -> None:
        """Takes over guesses at other questions, if they are guesses at all: a link may come from anybody."""
        others = [at for at in range(len(self.lesson.steps)) if at != self.at]
        for at, text in zip(others, before.split(BETWEEN), strict=False):
            if text == NO_GUESS or scores(self.lesson.steps[at], text):
                guess = "" if text == NO_GUESS else text
                self.first.setdefault((self.key, at), guess)
                self.guesses.setdefault((self.key, at), guess)
                self.seen.add((self.key, at))


def valid(step: Step, text: str) -> bool:
    """Whether a text is a whole answer."""
    try:
        step.prediction.parse(text)
    except SpecError:
        return False
    return True


def scores(step: Step, text: str) -> bool:
    """Whether a text is a guess at a question, or the beginning of one."""
    try:
        step.score(text, evidence())
    except SpecError:
        return False
    return True


def lessons() -> Lessons:
    """This visitor's part of the page."""
    return session().part(Lessons)


def go(key: str, at: int = 0, present: bool | None = None) -> None:
    """Opens a step, or the list."""
    here = lessons()
    here.key, here.at, here.problems = key, at, ()
    if present is not None:
        here.present = present
    here.present = here.present and bool(key)
    if here.ended and not here.unanswered:
        here.show(True)
    session().version += 1
    write_address(here)


def guess(text: str) -> None:
    """The visitor makes a guess, before the answer is shown."""
    here = lessons()
    if here.shown:
        return
    if text:
        here.guesses[here.place] = text
    else:
        here.guesses.pop(here.place, None)
    session().version += 1
    write_address(here)


def reveal(show: bool = True) -> None:
    """The answer is shown, or hidden again."""
    here = lessons()
    here.show(show)
    session().version += 1
    write_address(here)


def begin_again(key: str) -> None:
    """Forgets what was guessed and seen of a lesson, and opens its first question."""
    here = lessons()
    for place in [(key, at) for at in range(len(LESSONS[key].steps) + 1)]:
        here.seen.discard(place)
        here.guesses.pop(place, None)
        here.first.pop(place, None)
    go(key)
