"""Names of runs, made of phrases joined by commas."""

from __future__ import annotations

from collections.abc import Mapping

from dprl.messages import filled, messages

SAID = messages("words")["run"]
COMMA = str(messages("words")["number"]["comma"])


def phrase(name: str, **fields: object) -> str:
    """Return the phrase with this key in words.toml, with its fields filled in."""
    return filled(SAID[name], **fields)


def called(*phrases: str) -> str:
    """Join the phrases that are not empty with commas."""
    return COMMA.join(filter(None, phrases))


def online(
    title: str,
    params: Mapping[str, object],
    noise: tuple[str, float] | None,
    contribution: int,
    *,
    structure: bool,
    unproved: bool,
) -> str:
    """Return the name of an online run for legends. `params` has only parameters that differ from their defaults."""
    return called(
        title,
        *(phrase("param", param=name, value=value) for name, value in params.items()),
        phrase("structure") if structure else "",
        phrase("bonus") if unproved else "",
        phrase("online", privacy=noise[0], epsilon=f"{noise[1]:g}") if noise else phrase("plain"),
        phrase("episodes", m=contribution) if contribution > 1 else "",
    )
