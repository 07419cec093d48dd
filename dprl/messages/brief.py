"""Short forms of objects, for a notebook: a few lines, whatever they hold."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable
from dataclasses import fields
from html import escape
from typing import Any

MOST = 900  # characters
MOST_HTML, MOST_CELL = 1800, 120  # characters of a table for a notebook, and of one of its values


class _Shortened(reprlib.Repr):
    """Shortens values for a line: a long one to its ends, an array to its shape, a function to its name."""

    def repr_ndarray(self, x: Any, level: int) -> str:
        return f"<array of {x.dtype}, shape {x.shape}>"

    def repr_function(self, x: Callable[..., Any], level: int) -> str:
        return f"<function {x.__name__}>"


_shortened = _Shortened()
_shortened.maxtuple = _shortened.maxlist = _shortened.maxdict = 12
_shortened.maxstring = _shortened.maxother = 120


def described(record: Any) -> str:
    """Return `Name(field=value, ...)` of a dataclass or a named tuple, at most MOST characters; for its `__repr__`."""
    names = getattr(record, "_fields", None) or [f.name for f in fields(record)]
    parts = [f"{name}={shortened(getattr(record, name))}" for name in names]
    return f"{type(record).__name__}({cut(', '.join(parts))})"


def tabulated(record: Any) -> str:
    """Format a dataclass as a notebook table, with a row for each field that is set, as many as MOST_HTML characters
    hold; for its `_repr_html_`."""
    values = ((field.name, getattr(record, field.name)) for field in fields(record))
    return table_of(type(record).__name__, (one for one in values if one[1] not in (None, "", (), {})))


def table_of(caption: str, told: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as a table, with as many rows as MOST_HTML characters hold."""
    rows: list[str] = []
    for name, value in told:
        text = cut(value if isinstance(value, str) else shortened(value), MOST_CELL)
        row = f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
        if sum(map(len, rows)) + len(row) > MOST_HTML:
            break
        rows.append(row)
    return f"<table><caption>{escape(caption)}</caption>{''.join(rows)}</table>"


def shortened(value: Any) -> str:
    """Format a value for one line, in at most MOST characters."""
    return cut(_shortened.repr(value))


def cut(text: str, most: int = MOST) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
