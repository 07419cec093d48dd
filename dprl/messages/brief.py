"""Short text and HTML descriptions of objects for Python sessions and notebooks, even if they hold large arrays."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable
from dataclasses import fields
from html import escape
from typing import Any

MOST = 900  # characters
MOST_HTML, MOST_CELL = 1800, 160  # characters of a table for a notebook, and of one of its values


class _Shortened(reprlib.Repr):
    """A formatter that shows only the ends of a long value, the shape of an array, and the name of a function."""

    def repr_ndarray(self, x: Any, level: int) -> str:
        return f"<array of {x.dtype}, shape {x.shape}>"

    def repr_function(self, x: Callable[..., Any], level: int) -> str:
        return f"<function {x.__name__}>"


_shortened = _Shortened()
_shortened.maxtuple = _shortened.maxlist = _shortened.maxdict = 12
_shortened.maxstring = _shortened.maxother = 120


def described(record: Any) -> str:
    """Return `Name(field=value, ...)` for a dataclass or named tuple, cut to about MOST characters, for `__repr__`."""
    names = getattr(record, "_fields", None) or [f.name for f in fields(record)]
    parts = [f"{name}={shortened(getattr(record, name))}" for name in names]
    return f"{type(record).__name__}({cut(', '.join(parts))})"


def tabulated(record: Any) -> str:
    """Return a dataclass as an HTML table, with a row for each field that is set, for `_repr_html_`."""
    values = ((field.name, getattr(record, field.name)) for field in fields(record))
    return table_of(type(record).__name__, (one for one in values if one[1] not in (None, "", (), {})))


def table_of(caption: str, told: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as an HTML table, with as many rows as fit in MOST_HTML characters."""
    rows, known = list[str](), list(told)
    for name, value in known:
        text = cut(value if isinstance(value, str) else shortened(value), MOST_CELL)
        row = f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
        if sum(map(len, rows)) + len(row) > MOST_HTML:
            rows.append(f"<tr><th>{len(known) - len(rows)} more</th></tr>")
            break
        rows.append(row)
    return f"<table><caption>{escape(caption)}</caption>{''.join(rows)}</table>"


def shortened(value: Any) -> str:
    """Return a value as text on one line, with at most MOST characters."""
    return cut(_shortened.repr(value))


def cut(text: str, most: int = MOST) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
