"""`say=` in a link: what whoever shares a view says of it, in a sentence, to those who open the link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dprl.links import last

KEY = "say"
MOST_LETTERS = 160


def decode(given: Mapping[str, Sequence[str]], problems: list[str]) -> str:
    """What a link says, "" for nothing; a sentence is added where it is too long."""
    text = clean(last(given, KEY) or "")
    if len(text) > MOST_LETTERS:
        problems.append(
            f"{KEY}: the sentence has {len(text)} letters; give at most {MOST_LETTERS}. It is cut there."
        )
    return text[:MOST_LETTERS].rstrip()


def encode(sentence: str) -> list[tuple[str, str]]:
    """The query parameter that `decode` reads as this; none where nothing is said."""
    return [(KEY, sentence)] if sentence else []


def clean(text: str) -> str:
    """A sentence as it is kept: printable, on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
