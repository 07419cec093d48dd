"""The Lessons page's state for a visitor, and the link to a question.

    v=1 & lesson=trust & step=2 & guess=1e9 & shown=yes & before=bdca

Without `lesson`, the page lists all lessons. The step after the last question is the summary. `before` holds the
guesses for other answered questions, so that none is lost when the page is reloaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dprl import links
from dprl.fields import Field, SpecError, shown
from dprl.lessons import LESSONS, Lesson, Step
from pages.shared.lessons import valid
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState, session, write_address

STEP = Field("step", "int", 1, "the question of the lesson", 1, 9, query="step")
SHOWN = Field("shown", "choice", "no", "whether the answer is shown", choices=("no", "yes"), query="shown")
NO_GUESS, OPEN, BETWEEN = "none", "open", ","  # in `before`: no guess, no answer, separator

Place = tuple[str, int]  # a lesson's key and the index of a step


@dataclass
class Lessons(PageState):
    """The state of the page, as stored in its links."""

    key: str = ""  # key of the open lesson, "" for the list
    at: int = 0  # index of its open step
    guesses: dict[Place, str] = field(default_factory=dict)  # perhaps incomplete
    answered: dict[Place, str] = field(default_factory=dict)  # the guesses that count

    @property
    def place(self) -> Place:
        return self.key, self.at

    @property
    def lesson(self) -> Lesson:
        return LESSONS[self.key]

    @property
    def step(self) -> Step:
        return self.lesson.steps[self.at]

    @property
    def ended(self) -> bool:
        """Return whether the open step is the summary, which comes after the last question."""
        return bool(self.key) and self.at == len(self.lesson.steps)

    @property
    def open_questions(self) -> list[int]:
        """Return the indices of the open lesson's questions whose answers have not been shown."""
        return [at for at in range(len(self.lesson.steps)) if (self.key, at) not in self.answered]

    def counted(self, key: str) -> list[str]:
        """Return the guess made for each question of a lesson before its answer was shown, or "" if there is none."""
        return [self.answered.get((key, at), "") for at in range(len(LESSONS[key].steps))]

    @property
    def guess(self) -> str:
        """Return the guess for the open question, which may be incomplete, or "" if there is none."""
        return self.guesses.get(self.place, "")

    @property
    def whole(self) -> bool:
        """Return whether the guess for the open question is complete, so that it can be compared with the answer."""
        return not self.ended and valid(self.step, self.guess)

    @property
    def shown(self) -> bool:
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

    def follow(self, given: Query, problems: list[str]) -> None:
        """Apply a link, without starting any run."""
        key = links.chosen("lesson", links.last(given, "lesson"), LESSONS, problems)
        most = len(LESSONS[key].steps) + 1 if key else 1
        self.key, self.at = key, links.place(STEP, links.last(given, STEP.query), most, problems)
        shown = links.checked(SHOWN, links.last(given, SHOWN.query), SHOWN.default, problems)
        if key:
            self._remember(links.last(given, "before") or "", problems)
        if key and not self.ended:
            if (guess := links.last(given, "guess")) is not None:  # otherwise, keep the visitor's own guess
                try:
                    self.step.prediction.parse(guess)
                    self.guesses[self.place] = guess
                except SpecError as error:
                    problems.append(str(error))
            if shown == "yes":
                self.show()
        session().version += 1

    def show(self) -> None:
        """Show the answer to the open question, and store the guess made before."""
        self.answered.setdefault(self.place, self.guess if self.whole else "")

    def _remember(self, before: str, problems: list[str]) -> None:
        """Apply a link's guesses for other questions if they are valid."""
        others = [at for at in range(len(self.lesson.steps)) if at != self.at]
        for at, text in zip(others, before.split(BETWEEN), strict=False):
            if text == NO_GUESS or valid(self.lesson.steps[at], text):
                guess = "" if text == NO_GUESS else text
                self.answered.setdefault((self.key, at), guess)
                self.guesses.setdefault((self.key, at), guess)
            elif text not in ("", OPEN):
                problems.append(f"before: {shown(text)} does not answer question {at + 1} and was ignored.")


lessons = Lessons.mine


def changed() -> None:
    """Update the address after the view has changed."""
    session().version += 1
    write_address(lessons())


def go(key: str, at: int = 0) -> None:
    """Open a step of a lesson, or the list of lessons."""
    here = lessons()
    here.key, here.at, here.problems = key, at, ()
    changed()


def guess(text: str, on_chart: bool = False) -> None:
    """Store a guess unless the answer is shown. A guess on the chart recreates the field, to show the guess there."""
    here = lessons()
    if not here.shown:
        here.guesses[here.place] = text
        session().version += on_chart
        write_address(here)


def reveal() -> None:
    lessons().show()
    changed()


def begin_again(key: str) -> None:
    """Delete the guesses in a lesson and open its first question."""
    here = lessons()
    for at in range(len(LESSONS[key].steps)):
        here.guesses.pop((key, at), None)
        here.answered.pop((key, at), None)
    go(key)
