"""Names of runs, in a legend and elsewhere: phrases joined by commas."""

from __future__ import annotations

from collections.abc import Mapping

from dprl.messages import filled, messages

SAID = messages("words")["run"]
COMMA = str(messages("words")["number"]["comma"])


def phrase(name: str, **fields: object) -> str:
    """Return one phrase, by its name in words.toml."""
    return filled(SAID[name], **fields)


def called(*phrases: str) -> str:
    """Join phrases, and leave out empty ones."""
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
    """Name an online run. title: its algorithm's title; params: parameters that are not defaults; noise: its privacy
    model and epsilon."""
    return called(
        title,
        *(phrase("param", param=name, value=value) for name, value in params.items()),
        phrase("structure") if structure else "",
        phrase("bonus") if unproved else "",
        phrase("online", privacy=noise[0], epsilon=f"{noise[1]:g}") if noise else phrase("plain"),
        phrase("episodes", m=contribution) if contribution > 1 else "",
    )
