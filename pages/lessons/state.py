"""Lessons: their part of a visitor's session, and the link to a question.

    v=1 & lesson=trust & step=2 & guess=1e9 & shown=yes & before=bdca

Without `lesson` all of them are listed. The step after the last question is the summary. `before` holds the guesses at
questions that were answered before, so that a reload forgets none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dprl import links
from dprl.fields import Field, SpecError, shown
from dprl.lessons import LESSONS, Lesson, Step
from pages.shared.lessons.known import evidence, valid
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState, session, write_address

STEP = Field("step", "int", 1, "the question of the lesson", 1, 9, query="step")
SHOWN = Field("shown", "choice", "no", "whether the answer is shown", choices=("no", "yes"), query="shown")
NO_GUESS, OPEN, BETWEEN = "none", "open", ","  # in `before`: answered without a guess, not answered

Place = tuple[str, int]  # a lesson and a step of it, from 0


@dataclass
class Lessons(PageState):
    """The visible content."""

    key: str = ""  # of the lesson that is open, "" for the list
    at: int = 0  # its step, from 0
    guesses: dict[Place, str] = field(default_factory=dict)  # texts by place; perhaps not whole
    answered: dict[Place, str] = field(default_factory=dict)  # when the answer was shown: these score

    @property
    def place(self) -> Place:
        """Return the visitor's place."""
        return self.key, self.at

    @property
    def lesson(self) -> Lesson:
        """Return the open lesson."""
        return LESSONS[self.key]

    @property
    def step(self) -> Step:
        """Return the open question."""
        return self.lesson.steps[self.at]

    @property
    def ended(self) -> bool:
        """Return whether this is the summary, which comes after the last question."""
        return bool(self.key) and self.at == len(self.lesson.steps)

    @property
    def open_questions(self) -> list[int]:
        """Return the questions of the open lesson whose answers were not shown yet, counted from 0."""
        return [at for at in range(len(self.lesson.steps)) if (self.key, at) not in self.answered]

    def score(self, key: str) -> list[float]:
        """Return the points of each question of a lesson, 0 for no guess."""
        texts = [self.answered.get((key, at), "") for at in range(len(LESSONS[key].steps))]
        return [
            step.score(text, evidence()) if text else 0.0
            for step, text in zip(LESSONS[key].steps, texts, strict=True)
        ]

    @property
    def guess(self) -> str:
        """Return the text of the guess here, perhaps not whole, "" for none yet."""
        return self.guesses.get(self.place, "")

    @property
    def whole(self) -> bool:
        """Return whether there is a guess here that can be compared with the truth."""
        return not self.ended and valid(self.step, self.guess)

    @property
    def shown(self) -> bool:
        """Return whether the answer is shown."""
        return self.place in self.answered

    @property
    def link(self) -> list[tuple[str, str]]:
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
        others = [(self.key, at) for at in range(len(self.lesson.steps)) if at != self.at]
        if any(place in self.answered for place in others):
            texts = [self.answered.get(place, OPEN) or NO_GUESS for place in others]
            items.append(("before", BETWEEN.join(texts)))
        return items

    def follow(self, given: Query) -> None:
        """Apply a link, without starting anything."""
        problems: list[str] = []
        links.check_version(given, problems)
        key = links.chosen("lesson", links.last(given, "lesson"), LESSONS, problems)
        most = len(LESSONS[key].steps) + 1 if key else 1
        self.key, self.at = key, links.place(STEP, links.last(given, STEP.query), most, problems)
        shown = links.checked(SHOWN, links.last(given, SHOWN.query), SHOWN.default, problems)
        if key:
            self._remember(links.last(given, "before") or "", problems)
        if key and not self.ended:
            self._take(links.last(given, "guess"), problems)
            if shown == "yes":
                self.show()
        self.problems = tuple(problems)
        session().version += 1

    def show(self) -> None:
        """Show the answer here, and store the guess before it."""
        self.answered.setdefault(self.place, self.guess if self.whole else "")

    def _take(self, guess: str | None, problems: list[str]) -> None:
        """Apply the guess of a link; without one the visitor's own stays."""
        if guess is None:
            return
        try:
            self.step.prediction.parse(guess)
        except SpecError as error:
            problems.append(str(error))
        else:
            self.guesses[self.place] = guess

    def _remember(self, before: str, problems: list[str]) -> None:
        """Apply guesses at other questions, if they are guesses at all: a link may come from anybody."""
        others = [at for at in range(len(self.lesson.steps)) if at != self.at]
        for at, text in zip(others, before.split(BETWEEN), strict=False):
            if text == NO_GUESS or valid(self.lesson.steps[at], text):
                guess = "" if text == NO_GUESS else text
                self.answered.setdefault((self.key, at), guess)
                self.guesses.setdefault((self.key, at), guess)
            elif text not in ("", OPEN):
                problems.append(f"before: {shown(text)} is no answer to question {at + 1}, and was ignored.")


lessons = Lessons.mine


def changed() -> None:
    """Update the address after a change of the view."""
    session().version += 1
    write_address(lessons())


def go(key: str, at: int = 0) -> None:
    """Open a step, or the list."""
    here = lessons()
    here.key, here.at, here.problems = key, at, ()
    changed()


def guess(text: str) -> None:
    """Store the visitor's guess, before the answer is shown."""
    here = lessons()
    if not here.shown:
        here.guesses[here.place] = text
        changed()


def reveal() -> None:
    """Show the answer."""
    lessons().show()
    changed()


def begin_again(key: str) -> None:
    """Forget the guesses at a lesson, and open its first question."""
    here = lessons()
    for place in [(key, at) for at in range(len(LESSONS[key].steps))]:
        here.guesses.pop(place, None)
        here.answered.pop(place, None)
    go(key)
