"""Define views: the visible content of a page. A view is a frozen dataclass whose attributes have allowed values.

    tab: str = looked("regret", "the open tab", "tab", choices=("regret", "data"))

Widgets, links and what a session holds follow from it. Its defaults stand in no link, so they never change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cache
from typing import Any

from dprl import links
from dprl.fields import Field, Kind

_FIELD = "field"


def looked(
    default: Any,
    help: str,
    query: str,
    *,
    choices: tuple[str, ...] = (),
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """Declare an attribute of a view: a word of `choices`, or a number from low to high. query: its key in links."""
    kind: Kind = "choice" if choices else "int" if isinstance(default, int) else "float"
    described = Field("", kind, default, help, low, high, choices=choices, query=query)
    return field(default=default, metadata={_FIELD: described})


@cache
def fields_of(view: type) -> dict[str, Field]:
    """Return the allowed values of each attribute, by its name; only attributes made by `looked` are among them."""
    made = [one for one in fields(view) if _FIELD in one.metadata]
    return {one.name: replace(one.metadata[_FIELD], name=one.name) for one in made}


def pairs_of(view: Any) -> list[tuple[str, str]]:
    """Return the query parameters of unusual values, in order, unescaped."""
    values = [(one, getattr(view, name)) for name, one in fields_of(view.__class__).items()]
    return [(one.query, links.written(value)) for one, value in values if value != one.default]


def read(view: type, parameters: Mapping[str, Sequence[str]], problems: list[str]) -> dict[str, Any]:
    """Read the attributes of a view from a link (each key with all its values); a wrong value takes its default, and a
    sentence for it is added to `problems`."""
    return {
        name: links.checked(one, links.last(parameters, one.query), one.default, problems)
        for name, one in fields_of(view).items()
    }
