"""Landscape: what a visitor's session holds of it, and the link to it.

    v=2 & problem=chain & K=1e12 & const=paper & y=share & sort=regret & of=pucb:central

What is as usual is left out. Nothing is run: what is shown comes with the program.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

from dprl import links
from dprl.fields import Field
from dprl.landscape import PROBLEMS, Landscape
from dprl.landscape.entry import DECADES
from dprl.landscape.rows import listed
from dprl.words import power
from pages.shared.results.bundled import asset
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState, session, write_address

SORTS = {
    "users": "Users needed",
    "regret": "Regret",
    "bound": "Bound",
    "year": "Year",
    "learner": "Learner",
    "trust": "Trust",
}
FIELDS = {
    f.name: f
    for f in (
        Field("problem", "choice", "clinic", "the problem", choices=tuple(PROBLEMS), query="problem"),
        Field("K", "int", 10**12, "users, a power of ten", DECADES[0], DECADES[-1], query="K"),
        Field("constants", "choice", "default", "constants", choices=("default", "paper"), query="const"),
        Field("y", "choice", "share", "what is drawn", choices=("share", "regret"), query="y"),
        Field("sort", "choice", "users", "the order of the table", choices=tuple(SORTS), query="sort"),
        Field("down", "choice", "no", "the largest first", choices=("no", "yes"), query="down"),
    )
}


@dataclass(frozen=True)
class Seen:
    """What is looked at: one attribute for each of FIELDS. of: the learner looked at closely, "dp-ucbvi:central"; ""
    for the first of the table."""

    problem: str = "clinic"
    K: int = 10**12
    constants: str = "default"
    y: str = "share"
    sort: str = "users"
    down: str = "no"
    of: str = ""


@dataclass
class View(PageState):
    """What a visitor looks at."""

    seen: Seen = field(default_factory=Seen)

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return encode(self.seen)

    def follow(self, given: Query) -> None:
        """Takes over a link."""
        self.seen, self.problems = decode(given)
        session().version += 1


def encode(seen: Seen) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    values = asdict(seen)
    items = [("v", links.VERSION)]
    items += [(f.query, links.written(values[n])) for n, f in FIELDS.items() if values[n] != f.default]
    return items + ([("of", seen.of)] if seen.of else [])


def decode(given: Query) -> tuple[Seen, tuple[str, ...]]:
    """What a link asks for, and a sentence for each thing that could not be used."""
    problems: list[str] = []
    links.defaults_of(given, problems)
    values: dict[str, Any] = {
        name: links.checked(f, links.last(given, f.query), f.default, problems) for name, f in FIELDS.items()
    }
    users = table().users
    if values["K"] not in users:
        below = max(K for K in users if values["K"] >= K)
        problems.append(f"K: it was taken as {power(below)}, the largest below it that was run.")
        values["K"] = below
    of = links.chosen("of", links.last(given, "of"), learners(), problems)
    return Seen(**values, of=of), tuple(problems)


def learners() -> dict[str, None]:
    """Learner and trust of every row that there may be."""
    entries = table().entries.values()
    return dict.fromkeys(f"{one.learner}:{one.privacy}" for one in entries if listed(one))


def view() -> View:
    """This visitor's part of the page."""
    return session().part(View)


def change(**seen: Any) -> None:
    """Looks at something else, and puts it into the address."""
    v = view()
    v.seen, v.problems = replace(v.seen, **seen), ()
    write_address(v)


@cache
def table() -> Landscape:
    """What comes with the program; read once."""
    return Landscape.from_dict(asset("landscape"))
