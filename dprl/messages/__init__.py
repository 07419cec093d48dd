"""Messages to visitors, stored apart from the code: templates with named fields, one file for each part of the pages.

A language is a folder of TOML files that replace messages of `en`. This package imports nothing else from dprl.
"""

from __future__ import annotations

import os
import string
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LANGUAGES = sorted(file.parent.name for file in FOLDER.glob("*/start.toml"))
LANGUAGE = os.environ.get("DPRL_LANGUAGE") or "en"
if LANGUAGE not in LANGUAGES:  # every command ends with this message, without a traceback
    raise SystemExit(f"DPRL_LANGUAGE: {LANGUAGE!r} is not known; give one of {', '.join(LANGUAGES)}.")


@cache
def messages(name: str) -> dict[str, Any]:
    """Return all messages in the file NAME.toml, by key, in the chosen language."""
    return dict(overlaid(texts(name, "en"), texts(name)))


def texts(name: str, language: str = LANGUAGE) -> dict[str, Any]:
    """Return the messages of one language in the file NAME.toml, or {} if there is no such file."""
    file = FOLDER / language / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def overlaid(english: Any, own: Any) -> Any:
    """Replace English messages with their translations. Match tables by key, and lists of tables by position."""
    if isinstance(english, dict):
        return english | {key: overlaid(english.get(key), value) for key, value in own.items()}
    if isinstance(english, list) and isinstance(english[0], dict):
        return [overlaid(*pair) for pair in zip(english, own, strict=True)]
    return own


def filled(template: str, **fields: object) -> str:
    """Fill in the fields of a message template. Raises ValueError if fields are missing or not in the template."""
    known = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
    if known != set(fields):
        raise ValueError(
            f"the template {template!r} has the fields {sorted(known)}, but {sorted(fields)} were given"
        )
    return template.format(**fields)


def counted(n: int, what: str) -> str:
    """Return a number with its noun, such as "1,200 questions". `what` is the noun's key in words.toml."""
    one, many = messages("words")["counted"][what]
    return filled(one if n == 1 else many, n=f"{n:,}".replace(",", messages("words")["number"]["thousands"]))
