"""Landscape: what a visitor's session holds of it, and the link to it.

    v=1 & problem=chain & K=1e12 & const=paper & y=share & sort=regret & of=pucb:central

What is as usual is left out. Nothing is run: what is shown comes with the program.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from dprl import links
from dprl.landscape import PROBLEMS, Landscape
from dprl.landscape.entry import DECADES
from dprl.landscape.rows import in_table
from dprl.words import power
from pages.shared.results.bundled import asset
from pages.shared.visitor import views
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState, session, write_address
from pages.shared.visitor.views import looked

SORTS = {
    "users": "Users needed",
    "regret": "Regret",
    "bound": "Bound",
    "year": "Year",
    "learner": "Algorithm",
    "trust": "Trust",
}


@dataclass(frozen=True)
class Seen:
    """What is looked at. of: the learner looked at closely, "dp-ucbvi:central"; "" for the first of the table."""

    problem: str = looked("clinic", "the problem", "problem", choices=tuple(PROBLEMS))
    K: int = looked(10**12, "users, a power of ten", "K", low=DECADES[0], high=DECADES[-1])
    constants: str = looked("default", "constants", "const", choices=("default", "paper"))
    y: str = looked("share", "what is drawn", "y", choices=("share", "regret"))
    sort: str = looked("users", "the order of the table", "sort", choices=tuple(SORTS))
    down: str = looked("no", "the largest first", "down", choices=("no", "yes"))
    of: str = ""


@dataclass
class LandscapePageState(PageState):
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
    return [*links.link_heading(), *views.pairs_of(seen), *([("of", seen.of)] if seen.of else [])]


def decode(given: Query) -> tuple[Seen, tuple[str, ...]]:
    """What a link asks for, and a sentence for each thing that could not be used."""
    problems: list[str] = []
    links.check_version(given, problems)
    values = views.read(Seen, given, problems)
    users = bundled_landscape().users
    if values["K"] not in users:
        below = max(K for K in users if values["K"] >= K)
        problems.append(f"K: it was taken as {power(below)}, the largest below it that was run.")
        values["K"] = below
    of = links.chosen("of", links.last(given, "of"), learner_keys(), problems)
    return Seen(**values, of=of), tuple(problems)


def learner_keys() -> dict[str, None]:
    """Learner and trust of every row that there may be."""
    entries = bundled_landscape().entries.values()
    return dict.fromkeys(f"{one.learner}:{one.privacy}" for one in entries if in_table(one))


def view() -> LandscapePageState:
    """This visitor's part of the page."""
    return session().part(LandscapePageState)


def look_at(**seen: Any) -> None:
    """Looks at something else, and puts it into the address."""
    v = view()
    v.seen, v.problems = replace(v.seen, **seen), ()
    write_address(v)


@cache
def bundled_landscape() -> Landscape:
    """What comes with the program; read once."""
    return Landscape.from_dict(asset("landscape"))
