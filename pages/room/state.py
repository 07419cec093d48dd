"""Room: its part of a visitor's session, and the link to it.

room=BCDFGH             for students, and what stands in every address
room=BCDFGH & key=...   for the teacher: the key leaves the address once it is read, so that no projector shows it
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dprl.fields import SpecError, shown
from dprl.links import last
from dprl.messages import filled, messages
from dprl.rooms.steps import State
from dprl.runs.database import StoreError
from dprl.runs.rooms import CODE_LENGTH, read_code
from pages.shared.results.data import store
from pages.shared.visitor.address import Query, whole_address
from pages.shared.visitor.state import PageState


@dataclass
class Class(PageState):
    """The room that a visitor is in."""

    code: str = ""  # "" for none
    key: str = ""  # of its teacher, "" for students
    device: str = ""  # what this browser calls itself in the room, "" while it has not said
    told: str = ""  # the message on the last attempt
    drawn: tuple[int, State] | None = None  # place and state of the step that was drawn last
    guesses: dict[int, str] = field(default_factory=dict)  # predictions being made, by place of their step
    puts: str = "question"  # the kind of step in the teacher's form
    asked: int = 0  # how often something was put to the class here: part of the keys of the form
    leading: bool = False  # whether the class is led from a projector
    looked: int | None = None  # the place of the step that is looked back at there, None for the last

    @property
    def begun(self) -> bool:
        """Return whether there is a room."""
        return bool(self.code)

    @property
    def link(self) -> list[tuple[str, str]]:
        """Return the query parameters of the students' link."""
        return [("room", self.code)] if self.code else []

    def follow(self, given: Query) -> None:
        """Apply a link."""
        text = last(given, "room") or ""
        code, key = read_code(text), last(given, "key") or ""
        self.problems = (wrong(text),) if text and not code else ()
        if code != self.code:
            self.forget()
        self.code, self.key = code, key or (self.key if code == self.code else "")

    def forget(self) -> None:
        """Forget everything of the present room."""
        self.device, self.told, self.drawn, self.guesses = "", "", None, {}
        self.leading, self.looked = False, None


def wrong(text: str) -> str:
    """Explain that a text is no code."""
    said, letters = messages("room")["entrance"], CODE_LENGTH
    if not text.strip():
        return filled(said["enter"], letters=letters)
    return filled(said["wrong"], shown=shown(text), letters=letters)


group = Class.mine


def enter(code: str, key: str = "") -> None:
    """Enter a room."""
    group().forget()
    group().put(code=code, key=key)


def leave(told: str = "") -> None:
    """Leave the room. told: why."""
    enter("")
    group().told = told


def respond(place: int, answer: str) -> None:
    """Record an answer; a refusal shows its reason on the page."""
    r = group()
    r.told = ""
    try:
        store().rooms.respond(r.code, r.device, place, answer)
    except (StoreError, SpecError) as error:
        r.told = str(error)


def teaches() -> bool:
    """Return whether this visitor is the teacher of the room."""
    r = group()
    return bool(r.key) and store().rooms.teaches(r.code, r.key)


def join_address() -> str:
    """Return the whole address of the students' link."""
    return whole_address(group().query)
