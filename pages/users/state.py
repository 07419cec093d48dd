"""How many users do I need?: what a visitor's session holds of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from dprl.fields import SpecError
from dprl.users import Asked
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.state import PageState, session, write_address
from pages.users.link import TREATING, USUAL, answered_by_link, asked_of, decode, encode


@dataclass
class Users(PageState):
    """What a visitor asks. taken: what was taken over from Online, None for nothing."""

    asked: Asked = field(default_factory=Asked)
    answer: str = TREATING
    taken: Asked | None = None

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return encode(self.asked, self.answer)

    def follow(self, given: Query) -> None:
        """Takes over a link."""
        self.asked, problems = decode(given)
        self.taken = None
        self.answer, more = answered_by_link(given)
        self.problems = problems + more
        session().version += 1


def users() -> Users:
    """This visitor's part of the page."""
    return session().part(Users)


def change(**asked: Any) -> None:
    """Asks something else, and puts it into the address."""
    u = users()
    u.asked, u.problems = replace(u.asked, **asked), ()
    write_address(u)


def change_answer(answer: str) -> None:
    """Learns from something else, and puts it into the address."""
    u = users()
    u.answer, u.problems = answer, ()
    write_address(u)


def take_over(u: Users) -> None:
    """On coming here: asks about what stands in Online's settings, unless something was asked here or by a link."""
    s = session()
    draft = s.drafts.get("explore")
    if not s.arrived or draft is None or not (u.address is None or u.asked == u.taken):
        return
    try:
        spec = spec_from(draft)
    except SpecError:
        return
    if spec == USUAL and not s.explore.curves:
        return
    u.asked = u.taken = asked_of(spec)
    s.version += 1
    write_address(u)
