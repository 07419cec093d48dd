"""Messages to visitors, apart from the code: templates with named fields, in a file for each part of the pages.

A file is TOML, in a folder named after its language. A translation is another folder of the same files. Pure: imports
nothing else of dprl.
"""

from __future__ import annotations

import string
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

LANGUAGE = "en"
FOLDER = Path(__file__).parent / LANGUAGE


@cache
def messages(name: str) -> dict[str, Any]:
    """Return all messages of a part of the pages, by their names in NAME.toml."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


def fields_of(template: str) -> set[str]:
    """Return the names of a template's fields."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def filled(template: str, **fields: object) -> str:
    """Fill a template. Raises ValueError unless the fields are exactly those of the template."""
    if fields_of(template) != set(fields):
        raise ValueError(f"{template!r} has the fields {sorted(fields_of(template))}, given {sorted(fields)}")
    return template.format(**fields)


def counted(n: int, what: str) -> str:
    """Write a number of something, by its name in words.toml: 1 question, 1,200 questions."""
    one, many = messages("words")["counted"][what]
    return filled(one if n == 1 else many, n=f"{n:,}")
