"""The answer to "When is privacy free?" in words, read off the runs, whatever they say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.metrics import FLAT
from dprl.privacy import PRIVATIZERS
from dprl.sentences import doubts
from dprl.words import exponent, exponents, human, listed, plural
from pages.free.state import PricedRun


def state(run: PricedRun) -> str:
    """What its privacy cost does in the last decade of users: flat, growing, or unclear."""
    if run.flat is not None:
        return "flat"
    last = run.decades[-1] if run.decades else None
    return "growing" if last is not None and last.known and last.low > FLAT else "unclear"


def verdict(runs: Sequence[PricedRun]) -> str:
    """The answer, Markdown: a sentence or two, and a line for each run; "" while no private run is finished."""
    private = _finished(runs)
    if not private:
        return ""
    lead = "In reward:"
    return "\n".join([f"**{_headline(private)}** {lead}", "", *(f"- {_line(run)}" for run in private)])


def how(runs: Sequence[PricedRun]) -> list[str]:
    """What the answer rests on, Markdown, an item each: what was fitted, and the exponent of each run."""
    private = _finished(runs)
    if not private:
        return []
    return [
        "Over the last decade of users the privacy cost grows like K to an exponent. The exponent is fitted for each "
        "seed, and has a 95% interval over seeds.",
        f"Growth has stopped where the whole interval is at or below {FLAT:g}, in that decade and in all after it.",
        *(f"**{run.label}:** {_exponent(run)}." for run in private),
    ]


def _finished(runs: Sequence[PricedRun]) -> list[PricedRun]:
    return [run for run in runs if run.price is not None and run.complete]


def _headline(runs: Sequence[PricedRun]) -> str:
    """One sentence for each state that a run is in."""
    users = human(float(runs[0].regret.at[-1]))
    said = []
    for which, words in (
        ("flat", "By {users} users the privacy cost grows no more with {names}."),
        ("growing", "The privacy cost still grows at {users} users with {names}."),
        ("unclear", "These runs cannot tell whether the privacy cost still grows with {names}."),
    ):
        names = [PRIVATIZERS[run.model].words.given for run in runs if state(run) == which]
        if names:
            said.append(words.format(users=users, names=" or ".join(names)))
    return " ".join(said)


def _line(run: PricedRun) -> str:
    """What privacy has cost in one run, and whether that grows."""
    assert run.price is not None
    said = f"**{run.label}:** {human(float(np.mean(run.price.ends)))}"
    last = run.decades[-1] if run.decades else None
    if last is None or last.seeds == 0:
        return f"{said}. In no seed does the privacy cost stay above zero."
    if last.seeds < 2:
        return f"{said}. One seed is too few to tell whether the privacy cost grows."
    end = {
        "flat": f"No growth after {human(run.flat or 0)} users",
        "growing": "Still growing",
        "unclear": "The interval is too wide to tell whether it grows"
        if last.known
        else "Too few seeds have a cost above zero to tell whether it grows",
    }
    return f"{said}. {end[state(run)]}."


def _exponent(run: PricedRun) -> str:
    """With which exponent the privacy cost of one run grows in the last decade."""
    assert run.price is not None
    last = run.decades[-1] if run.decades else None
    if last is None or last.seeds == 0:
        return "no exponent"
    if last.seeds < 2:
        return f"exponent {exponent(last.mean)}, from one seed, too few for an interval"
    of = f"from {last.seeds} of {plural(len(run.price.values), 'seed')}"
    return f"exponent {exponents(last.mean, last.low, last.high)}, {of}"


def stopped_short(runs: Sequence[PricedRun]) -> str:
    """Where the run without privacy has not found the best policy; "" where it has."""
    return "".join(
        doubts.unsettled(run.stopped_short, len(run.regret.values)) for run in runs if run.model == "none"
    )


def late_losses(runs: Sequence[PricedRun]) -> str:
    """Where a run without privacy that does learn ended worse than the private run; "" where none did."""
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
        f"The run without privacy lost more in the end {listed(said)}. Such a seed plays a bad policy late, for many "
        "users, which costs far more than all learning before. Such seeds carry the mean, and have no exponent."
    )
