"""What the runs say of a claim, in words; whatever they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dprl.metrics import VERDICTS, Finding, Verdict
from dprl.words import exponent, human, listed, plural

Form = Literal["exponent", "ratio", "share"]
SAID: dict[Verdict, str] = {
    "holds": "holds",
    "holds as an upper bound": "holds as an upper bound",
    "nothing learned yet": "is untested",
    "undecided": "is undecided",
    "does not hold here": "does not hold",
}


def about_verdicts(verdicts: Sequence[Verdict]) -> str:
    """In how many settings a claim holds, in one sentence."""
    counts = [(verdict, verdicts.count(verdict)) for verdict in VERDICTS if verdict in verdicts]
    if len(counts) == 1:
        where = "in both settings" if len(verdicts) == 2 else f"in all {len(verdicts)} settings"
        return f"It {SAID[counts[0][0]]} {where if len(verdicts) > 1 else 'in the one setting'}."
    parts = [f"{SAID[verdict]} in {count}" for verdict, count in counts]
    return f"Of {plural(len(verdicts), 'setting')} it {listed(parts)}."


def number_of(value: float, form: Form) -> str:
    """A statistic in words."""
    return exponent(value) if form == "exponent" else human(value)


def finding(found: Finding, form: Form, exact: bool = False) -> str:
    """A statistic with its interval. exact: it has none."""
    if exact:
        return f"{number_of(found.value, form)} (exact)"
    low, high = number_of(found.low, form), number_of(found.high, form)
    return f"{number_of(found.value, form)} ({low} to {high})"


def against(found: Sequence[Finding], exact: bool = False) -> str:
    """What there is to see in the statistics of several settings. exact: they have no interval. What lies lower than
    claimed, where a claim holds as an upper bound, is counted by itself, as in `summary`."""
    verdicts = [one.verdict for one in found]
    inside, lower = verdicts.count("holds"), verdicts.count("holds as an upper bound")
    what = "number" if exact else "interval"
    whole = what if exact else f"whole {what}"
    within, below = (
        f"the {whole} is within its range",
        f"the {what} reaches below its range, so growth may be slower than claimed",
    )
    if len(found) == 1:
        said = f"The claim holds: {within}." if inside else f"The claim holds as an upper bound: {below}."
        return (
            said if inside or lower else f"The claim is not confirmed: the {whole} is not within its range."
        )
    counts = [
        (inside, f"holds: {within}"),
        (lower, f"holds as an upper bound: {below}"),
        (len(found) - inside - lower, "is not confirmed"),
    ]
    return " ".join(
        f"In {count} of {len(found)} settings the claim {words}." for count, words in counts if count
    )
