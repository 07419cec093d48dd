"""How many users do I need?: what a visitor's session holds of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from dprl.users import Asked
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState, session, write_address
from pages.users.link import TREATING, answered, decode, encode


@dataclass
class Users(PageState):
    """What a visitor asks."""

    asked: Asked = field(default_factory=Asked)
    answer: str = TREATING

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return encode(self.asked, self.answer)

    def follow(self, given: Query) -> None:
        """Takes over a link."""
        self.asked, problems = decode(given)
        self.answer, more = answered(given)
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
