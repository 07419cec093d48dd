"""The answer to "When is privacy free?" in words, read off the runs, whatever they say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.metrics import FLAT
from dprl.privacy import PRIVATIZERS
from dprl.sentences import doubts
from dprl.words import exponent, human, listed, plural
from pages.free.state import PricedRun


def state(run: PricedRun) -> str:
    """What its price of privacy does in the last tenfold: flat, growing, or unclear."""
    if run.flat is not None:
        return "flat"
    last = run.decades[-1] if run.decades else None
    return "growing" if last is not None and last.known and last.low > FLAT else "unclear"


def verdict(runs: Sequence[PricedRun]) -> str:
    """The answer, Markdown: a sentence, and a line for each run; "" while no private run is finished."""
    private = [run for run in runs if run.price is not None and run.complete]
    if not private:
        return ""
    lead = "What it cost, and the exponent with which that grew over the last decade of users:"
    return "\n".join([f"**{_headline(private)}** {lead}", "", *(f"- {_line(run)}" for run in private)])


def _headline(runs: Sequence[PricedRun]) -> str:
    """One clause for each state that a run is in."""
    clauses = []
    for which, words in (
        ("flat", "privacy has become free with {}"),
        ("growing", "the cost of privacy goes on growing with {}"),
        ("unclear", "whether privacy's cost still grows cannot be told with {}"),
    ):
        names = [PRIVATIZERS[run.model].words.given for run in runs if state(run) == which]
        if names:
            clauses.append(words.format(" or ".join(names)))
    return f"By {human(float(runs[0].regret.at[-1]))} users {'; '.join(clauses)}."


def _line(run: PricedRun) -> str:
    """What privacy cost in one run, and how it grows."""
    assert run.price is not None
    said = f"**{run.label}:** {human(float(np.mean(run.price.ends)))}"
    last = run.decades[-1] if run.decades else None
    if last is None or last.seeds == 0:
        return f"{said}; no exponent, for in no seed is it above zero all the while."
    said += f", exponent {exponent(last.mean)}"
    if last.seeds < 2:
        return f"{said} (one seed, too few for an interval)."
    of = "" if last.seeds == len(run.price.values) else f", {last.seeds} of {len(run.price.values)} seeds"
    said += f" ({exponent(last.low)} to {exponent(last.high)}{of})"
    end = {
        "flat": f"stops growing after {human(run.flat or 0)}",
        "growing": "it still grows",
        "unclear": "too wide to tell whether it grows"
        if last.known
        else "too few seeds to tell whether it grows",
    }
    return f"{said}: {end[state(run)]}."


def stopped_short(runs: Sequence[PricedRun]) -> str:
    """Where the run without privacy has not found the best policy; "" where it has."""
    return "".join(
        doubts.unsettled(run.stopped_short, len(run.regret.values)) for run in runs if run.model == "none"
    )


def late_mistakes(runs: Sequence[PricedRun]) -> str:
    """Where a run without privacy that does learn ended worse than its private twin; "" where none did."""
    said = []
    for run in runs:
        if run.price is None or not run.complete:
            continue
        worse = int((run.price.ends < 0).sum())
        if worse:
            said.append(
                f"in {worse} of {plural(len(run.price.values), 'seed')} than with {PRIVATIZERS[run.model].words.given}"
            )
    if not said or stopped_short(runs):
        return ""
    return (
        f"The run without privacy lost more in the end {listed(said)}: rare late mistakes that cost far more "
        "than all the learning before them. Such seeds carry the mean, and have no exponent."
    )
