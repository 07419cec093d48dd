"""One name for each thing: the terms of glossary.toml. Pure: imports nothing else of dprl."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Term:
    """What one word means; glossary.toml says what each attribute is."""

    term: str
    definition: str
    symbol: str = ""
    unit: str = ""
    avoid: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    said: str = ""
    only: tuple[str, ...] = ()


def _read() -> dict[str, Term]:
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["term"]
    terms = [Term(**{key: _frozen(value) for key, value in row.items()}) for row in rows]
    return {term.term: term for term in terms}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


TERMS = _read()


def listed_terms(name: str) -> dict[str, str]:
    """What the words mean that stand on one list of the dashboard (online, offline, linear), by term."""
    return {t.term: t.definition for t in TERMS.values() if name in t.lists}


def _spaced(name: str) -> str:
    """The pattern of a name, with any space between its words."""
    return re.escape(name).replace(r"\ ", r"\s+")


@cache
def _rules() -> list[tuple[str, re.Pattern[str] | None, re.Pattern[str]]]:
    """Of each term with names that are not used: the term, where they are right after all, and the names. They are
    put together once, as tests look at thousands of strings."""
    return [
        (
            t.term,
            re.compile("|".join(map(re.escape, t.right)), re.I) if t.right else None,
            re.compile(rf"\b(?:{'|'.join(map(_spaced, t.avoid))})(?:s|'s)?\b", re.I),
        )
        for t in TERMS.values()
        if t.avoid
    ]


def avoided(text: str) -> Iterator[tuple[str, str]]:
    """Each name in a text that is not used, with the term that is."""
    for term, right, names in _rules():
        for found in names.finditer(right.sub(" ", text) if right else text):
            yield found.group(), term
