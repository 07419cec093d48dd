"""Links to *How many users do I need?*, and the table that they are read by.

    v=1 & K=1e6 & S=20 & eps=0.5 & loss=5
    v=1 & problem=riverswim & K=1e8
    v=1 & from=logs

What is as usual is left out. Nothing is run: what is shown follows from a table that comes with the program.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from dprl import links
from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.simulation import RunSpec
from dprl.users import FIELDS, Asked, Table
from pages.shared.results.answers import v_star
from pages.shared.results.bundled import asset
from pages.shared.visitor.address import Query

TREATING, LOGS = "treating", "logs"  # what somebody learns from
ANSWER = "from"
USUAL = RunSpec()


def encode(asked: Asked, answer: str = TREATING) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    items = links.link_heading()
    if answer != TREATING:
        items.append((ANSWER, answer))
    if asked.problem:
        items.append(("problem", asked.problem))
    own = () if asked.problem else ("S", "A", "H", "value")
    for name in ("users", *own, "epsilon", "delta", "loss", "today"):
        value = getattr(asked, name)
        if value != FIELDS[name].default:
            items.append((FIELDS[name].query, links.written(value)))
    return items


def decode(given: Query) -> tuple[Asked, tuple[str, ...]]:
    """What a link asks, and a sentence for each thing that could not be used."""
    problems: list[str] = []
    links.check_version(given, problems)
    key = links.chosen("problem", links.last(given, "problem"), users_table().problems, problems)
    values = {
        name: links.checked(f, links.last(given, f.query), f.default, problems) for name, f in FIELDS.items()
    }
    return Asked(**values, problem=key), tuple(problems)


def answered_by_link(given: Query) -> tuple[str, tuple[str, ...]]:
    """What a link says that is learned from, and a sentence where that could not be used."""
    problems: list[str] = []
    answer = links.chosen(ANSWER, links.last(given, ANSWER), (TREATING, LOGS), problems)
    return answer or TREATING, tuple(problems)


@cache
def users_table() -> Table:
    """What comes with the program; read once."""
    return Table.from_dict(asset("users"))


def asked_of(spec: RunSpec) -> Asked:
    """The environment, the budget and the users of a run; what this page cannot be asked is as usual, and so are users
    whose number nobody chose: Online simulates a billion of them."""
    known = next((one.key for one in users_table().problems.values() if (one.environment, dict(one.params)) == (
        spec.environment, dict(spec.environment_params)
    )), "")  # fmt: skip
    S, A, H = ENVIRONMENTS[spec.environment].size(**dict(spec.environment_params))[:3]
    best = None if known else v_star(spec)
    wanted: dict[str, Any] = {"S": S, "A": A, "H": H, "epsilon": spec.epsilon, "delta": spec.delta}
    wanted["value"] = best and float(f"{100 * best / H:.2g}")
    wanted["users"] = None if spec.episodes == USUAL.episodes else spec.episodes
    return Asked(**{name: _allowed(name, value) for name, value in wanted.items()}, problem=known)


def _allowed(name: str, value: Any) -> Any:
    try:
        return FIELDS[name].check(value)
    except SpecError:
        return FIELDS[name].default
