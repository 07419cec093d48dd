"""Define views: the visible content of a page. A view is a frozen dataclass whose attributes have allowed values.

    tab: str = looked("regret", "the open tab", "tab", choices=("regret", "data"))

Widgets, links and what a session holds follow from it. Its defaults stand in no link, so they never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from dprl import links
from dprl.fields import Field, Kind

_FIELD = "field"
NOTHING: Mapping[str, Any] = MappingProxyType({})
ViewT = TypeVar("ViewT")


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


def like(view: type, name: str) -> Any:
    """Declare an attribute with the allowed values of another view's attribute."""
    (found,) = (one for one in fields(view) if one.name == name)
    return field(default=found.default, metadata={_FIELD: found.metadata[_FIELD]})


def changed(view: ViewT, **changes: Any) -> ViewT:
    """Return a view with other values of some attributes."""
    record: Any = view
    found: ViewT = replace(record, **changes)
    return found


@cache
def fields_of(view: type) -> dict[str, Field]:
    """Return the allowed values of each attribute, by its name; only attributes made by `looked` are among them."""
    made = [one for one in fields(view) if _FIELD in one.metadata]
    return {one.name: replace(one.metadata[_FIELD], name=one.name) for one in made}


def pairs_of(
    view: Any, write: Callable[[Any], str] = links.written, usual: Mapping[str, Any] = NOTHING
) -> list[tuple[str, str]]:
    """Return the query parameters of unusual values, in order, unescaped.

    Args:
        write: the form of a value in a link.
        usual: by name, of attributes that have another default than the view's.
    """
    values = [(name, one, getattr(view, name)) for name, one in fields_of(view.__class__).items()]
    return [(one.query, write(value)) for name, one, value in values if value != usual.get(name, one.default)]


def read(
    view: type,
    parameters: Mapping[str, Sequence[str]],
    problems: list[str],
    usual: Mapping[str, Any] = NOTHING,
) -> dict[str, Any]:
    """Read the attributes of a view from a link (each key with all its values); a wrong value takes its default, and a
    sentence for it is added to `problems`. usual: see `pairs_of`."""
    return {
        name: links.checked(one, links.last(parameters, one.query), usual.get(name, one.default), problems)
        for name, one in fields_of(view).items()
    }
