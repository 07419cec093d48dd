"""The terms in glossary.toml, one for each concept. This module imports nothing else from dprl."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Term:
    """A term of the glossary with its definition. The top of glossary.toml explains each attribute."""

    term: str
    definition: str
    symbol: str = ""
    unit: str = ""
    avoid: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    said: str = ""
    only: tuple[str, ...] = ()


_ROWS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["term"]
TERMS = {
    row["term"]: Term(**{**row, **{key: tuple(row.get(key, ())) for key in ("avoid", "lists", "only")}})
    for row in _ROWS
}


def listed_terms(name: str) -> dict[str, str]:
    """Return the definitions of the terms in one of the dashboard's lists (online, offline), by term."""
    return {t.term: t.definition for t in TERMS.values() if name in t.lists}
