"""The links to the page *How many users do I need?*, its table of results, and the visitor's question.

    v=1 & K=1e6 & S=20 & eps=0.5 & loss=5
    v=1 & problem=riverswim & K=1e8

Default values are left out. Nothing is run: all results follow from a bundled table.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from dprl import links
from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.simulation import RunSpec
from dprl.users import FIELDS, Asked, Table
from pages.shared.results.answers import v_star
from pages.shared.results.data import asset
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.state import PageState, session, write_address

USUAL = RunSpec()
OWN = ("S", "A", "H", "value")  # fields that a measured problem determines


def encode(asked: Asked) -> list[tuple[str, str]]:
    items = links.link_heading()
    if asked.problem:
        items.append(("problem", asked.problem))
    own = () if asked.problem else OWN
    for name in ("users", *own, "epsilon", "delta", "loss", "today"):
        value = getattr(asked, name)
        if value != FIELDS[name].default:
            items.append((FIELDS[name].query, links.written(value)))
    return items


@cache
def users_table() -> Table:
    """Return the bundled table, which is read only once."""
    return Table.from_dict(asset("users"))


def asked_of(spec: RunSpec) -> Asked:
    """Turn a run into a question for this page, with defaults for values that the page does not offer. Online's default
    number of users is replaced as well, because nobody chose it."""
    params, problems = dict(spec.environment_params), users_table().problems.values()
    same = (one for one in problems if (one.environment, dict(one.params)) == (spec.environment, params))
    known = next((one.key for one in same), "")
    S, A, H = ENVIRONMENTS[spec.environment].size(**params)[:3]
    best = None if known else v_star(spec)
    wanted: dict[str, Any] = {"S": S, "A": A, "H": H, "epsilon": spec.epsilon, "delta": spec.delta}
    wanted["value"] = best and float(f"{100 * best / H:.2g}")
    wanted["users"] = None if spec.episodes == USUAL.episodes else spec.episodes
    allowed: dict[str, Any] = {}
    for name, value in wanted.items():
        with suppress(SpecError):
            allowed[name] = FIELDS[name].check(value)
    return Asked(**allowed, problem=known)


@dataclass
class Users(PageState):
    """The state of the page for one visitor."""

    asked: Asked = field(default_factory=Asked)  # the question
    taken: Asked | None = None  # the question taken over from Online

    @property
    def link(self) -> list[tuple[str, str]]:
        return encode(self.asked)

    def follow(self, given: Query, problems: list[str]) -> None:
        key = links.chosen("problem", links.last(given, "problem"), users_table().problems, problems)
        values = {
            name: links.checked(f, links.last(given, f.query), f.default, problems)
            for name, f in FIELDS.items()
        }
        self.asked, self.taken = Asked(**values, problem=key), None
        session().version += 1


users = Users.mine


def change(name: str, value: Any) -> None:
    users().put(asked=replace(users().asked, **{name: value}))


def take(asked: Asked) -> None:
    """Replace the question by the one on the clicked button."""
    users().put(asked=asked)
    session().version += 1


def choose(key: str) -> None:
    """Choose a measured environment or, if the key is "", keep the sizes of the one chosen before."""
    asked = users().asked
    known = None if key else users_table().problems.get(asked.problem)
    if known is not None:
        asked = replace(asked, S=known.S, A=known.A, H=known.H, value=float(f"{known.value:.2g}"))
    take(replace(asked, problem=key))


def take_over(u: Users) -> None:
    """Take over Online's settings on arrival, unless a question was already asked here or in a link."""
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
