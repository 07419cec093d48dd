"""The tab Exponents: how regret grows, beside what theory allows at most."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import difficulty, growth
from dprl.figures.growth import Decades
from dprl.figures.lines import Series
from dprl.sentences import linear as sentences
from dprl.sentences.linear import MeasuredSlope
from dprl.simulation import RunSpec
from dprl.theory import BOUNDS
from dprl.words import exponent, plural
from pages.linear.examples import harder
from pages.linear.record import LINEAR
from pages.linear.tabs.regret import run_rows
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.online.regret import Row
from pages.shared.results.status import ACTIVE, act

PROBLEMS = {"same": "One environment", "harder": "Harder with more users"}
OF_MODEL = {"none": "", "central": "-jdp", "local": "-ldp"}  # how bounds of a learner are named
LAST = 4  # numbers of users, three tenfolds, over which a slope is taken


def tab() -> None:
    """Either exponents in each tenfold of one run, or of regret at the end of runs."""
    if LINEAR.widgets.segments("Environments", "problem", PROBLEMS) == "harder":
        met()
    else:
        flattening()


def most(spec: RunSpec) -> float | None:
    """The exponent that its paper proves at most; None where there is no bound."""
    key = f"{spec.algorithm}{OF_MODEL.get(spec.privacy, '-')}"
    return BOUNDS[key].growth if key in BOUNDS else None


def allowed(found: list[Row]) -> list[tuple[float, str]]:
    """Each exponent that theory allows at most to one of these runs, and whose it is."""
    whose: dict[float, list[str]] = {}
    for curve, _, title, _ in found:
        x = most(curve.spec)
        if x is not None:
            whose.setdefault(x, []).append(title)
    return [(x, f"{exponent(x)}: at most, {shortened(titles)}") for x, titles in sorted(whose.items())]


def shortened(titles: list[str]) -> str:
    """Some of them, where they are many."""
    return ", ".join(titles) if len(titles) < 3 else f"{titles[0]} and {len(titles) - 1} more"


def flattening() -> None:
    """The exponent of each run in each tenfold."""
    found, drawn, told = run_rows(), [], []
    for curve, kind, title, run in found:
        known = LINEAR.runs.curves(curve.spec)
        if run.state != "done":
            continue
        decades = metrics.growth_by_decade(known.at, known.values)
        if not decades:
            continue
        from_k, to_k, mean, low, high = np.array(
            [(d.from_k, d.to_k, d.mean, d.low, d.high) for d in decades]
        ).T
        seeds = np.array([d.seeds for d in decades])
        drawn.append(Decades(title, kind, from_k, to_k, mean, low, high, seeds, len(known.values)))
        told.append(MeasuredSlope(title, mean[-1], low[-1], high[-1], most(curve.spec)))
    if not drawn:
        empty("An exponent needs a finished run of at least 10,000 users.")
        return
    night = dark()
    levels = [(1.0, "1: nothing is learned", False), *((x, name, True) for x, name in allowed(found))]
    see = sentences.slopes(told, harder=False)
    parts = [
        (curve.spec.to_json(), LINEAR.runs.curves(curve.spec).token, title) for curve, _, title, _ in found
    ]
    show(
        kept(
            ("exponents", night, *parts),
            lambda: growth.growth_exponents(drawn, what="regret", levels=levels, see=see, dark=night),
        ),
        "exponents",
    )


def met() -> None:
    """Regret at the end of runs whose environment gets harder with their users."""
    found = run_rows()
    needed = [one for curve, *_ in found for one in harder(curve.spec)]
    if not needed:
        empty(
            "This view needs more users, or an environment with a parameter that makes actions differ less."
        )
        return
    lacking = LINEAR.runs.missing(needed)
    if lacking and not any(LINEAR.runs.status(one).state in ACTIVE for one in lacking):
        st.markdown(
            explained(
                f"This chart needs {plural(len(lacking), 'more run')}, each with ten times the users of the one before."
            )
        )
        act("Run them", "play_arrow", lambda: LINEAR.runs.start(needed), "run_harder")
    curves, told = [], []
    for curve, kind, title, _ in found:
        done = [one for one in harder(curve.spec) if LINEAR.runs.status(one).state == "done"]
        if not done:
            continue
        users = np.array([one.episodes for one in done])
        ends = np.array([LINEAR.runs.curves(one).ends for one in done])
        center, low, high = metrics.BANDS[LINEAR.state.view.statistic](ends.T)
        curves.append(Series(title, kind, users, ends.T, center, low, high, complete=len(done) > 1))
        slope = metrics.growth_of_mean(users[-LAST:], ends[-LAST:]) if len(done) >= LAST else (np.nan,) * 3
        told.append(MeasuredSlope(title, *slope, most(curve.spec)))
    if not curves:
        if any(LINEAR.runs.status(one).state in ACTIVE for one in lacking):
            empty("The first points appear in a moment.")
        return
    night, statistic = dark(), LINEAR.state.view.statistic
    parts = [(c.label, c.style, c.rows.tobytes()) for c in curves]
    see = sentences.slopes(told, harder=True)
    show(
        kept(
            ("harder", night, statistic, *parts),
            lambda: difficulty.harder(curves, allowed(found), statistic=statistic, see=see, dark=night),
        ),
        "harder",
    )
