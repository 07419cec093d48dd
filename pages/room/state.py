"""Room: its part of a visitor's session, and its links.

room=BCDFGH             for students; every address contains it
room=BCDFGH & key=...   for the teacher; the key is removed from the address at once, so that no projector shows it
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
    """The room in which a visitor is."""

    code: str = ""  # "" for none
    key: str = ""  # key of its teacher, "" for students
    device: str = ""  # the browser's random name in the room, "" until it is known
    told: str = ""  # message about the last attempt
    drawn: tuple[int, State] | None = None  # step and state that were drawn last
    guesses: dict[int, str] = field(default_factory=dict)  # unsent predictions, by step
    puts: str = "question"  # the kind of step in the teacher's form
    asked: int = 0  # number of steps put to the class here: part of the keys of the form
    leading: bool = False  # whether the projector view is open
    looked: int | None = None  # the earlier step shown on the projector, None for the last

    @property
    def begun(self) -> bool:
        """Return whether the visitor is in a room."""
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
        """Forget everything about the current room."""
        self.device, self.told, self.drawn, self.guesses = "", "", None, {}
        self.leading, self.looked = False, None


def wrong(text: str) -> str:
    """Explain why a text is not a room's code."""
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
    """Leave the room. told: the reason."""
    enter("")
    group().told = told


def respond(place: int, answer: str) -> None:
    """Record an answer, or show the reason for a refusal."""
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
    """Return the full address of the students' link."""
    return whole_address(group().query)
