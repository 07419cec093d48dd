"""Sentences about the tests of papers' claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dprl.messages import filled, messages
from dprl.metrics.verdicts import VERDICTS, Finding, Verdict
from dprl.words import exponent, human, listed, plural

SENTENCES = messages("charts")["claims"]
Form = Literal["exponent", "ratio", "share"]
SAID: dict[Verdict, str] = SENTENCES["verdicts"]


def about_verdicts(verdicts: Sequence[Verdict]) -> str:
    """State in how many settings a claim holds."""
    counts = [(verdict, verdicts.count(verdict)) for verdict in VERDICTS if verdict in verdicts]
    if len(counts) == 1:
        verdict = SAID[counts[0][0]]
        if len(verdicts) > 2:
            return filled(SENTENCES["in_all"], verdict=verdict, all=len(verdicts))
        return filled(SENTENCES["in_both" if len(verdicts) == 2 else "in_one"], verdict=verdict)
    parts = [filled(SENTENCES["part"], verdict=SAID[verdict], some=count) for verdict, count in counts]
    return filled(SENTENCES["of_all"], all=plural(len(verdicts), "setting"), parts=listed(parts))


def number_of(value: float, form: Form) -> str:
    """Return a measured statistic as text."""
    return exponent(value) if form == "exponent" else human(value)


def finding(found: Finding, form: Form) -> str:
    """Return a measured statistic with its interval, as text."""
    low, high = number_of(found.low, form), number_of(found.high, form)
    return f"{number_of(found.value, form)} ({low} to {high})"


def against(found: Sequence[Finding]) -> str:
    """State in how many settings a claim holds, holds as an upper bound, or does not hold."""
    verdicts = [one.verdict for one in found]
    inside, lower = verdicts.count("holds"), verdicts.count("holds as an upper bound")
    if len(found) == 1:
        said: str = SENTENCES[("holds" if inside else "lower" if lower else "no")]
        return said
    counts = (inside, "holds_in"), (lower, "lower_in"), (len(found) - inside - lower, "no_in")
    return " ".join(filled(SENTENCES[key], some=count, all=len(found)) for count, key in counts if count)
