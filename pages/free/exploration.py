"""The view of exploration noise: RLSVI beside calibrated noise at the budget that is claimed of it for each K."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl import metrics
from dprl.claims.exploration import BLOCK, KEY, MOST, TOLD, Pair, Planned
from dprl.fields import SpecError
from dprl.figures import exploration as figures
from dprl.figures.exploration import Beside
from dprl.figures.lines import Series
from dprl.figures.picture import PackedPicture, Picture
from dprl.metrics import Finding
from dprl.sentences import exploration as sentences
from dprl.simulation import RunSpec
from dprl.words import percent
from pages.free import explored
from pages.free.explored import RUNS
from pages.free.state import free, start_runs
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.head import common
from pages.shared.layout.menu import page_link
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.names import in_common, style_of
from pages.shared.results import answers, together
from pages.shared.results.again import save_citations
from pages.shared.results.evidence import bundled as claims
from pages.shared.text import escape
from pages.shared.visitor import links
from pages.shared.visitor.links import Curve
from pages.shared.visitor.owners import owner_id


def pace() -> float | None:
    """Seconds until this view is drawn again by itself; None where nothing goes on."""
    try:
        return together.PACE if explored.pairs_progress(free().base).active else None
    except SpecError:
        return None


def results(corner: DeltaGenerator, choices: Callable[[], None], live: bool) -> None:
    """Progress, the answer, the chart, and what the budget is worth; in the corner the link to just that."""
    f = free()
    try:
        planned = explored.planned_pairs(f.base)
    except SpecError as error:
        st.warning(
            f"RLSVI cannot be compared on this environment. {escape(str(error))}", icon=":material/info:"
        )
        choices()
        return
    state = explored.pairs_progress(f.base)
    if live != bool(state.active):
        st.rerun()
    together.strip(state, owner_id("exploration"), start_runs)
    pairs = finished_pairs(planned)
    found = beside(pairs) if pairs else None
    st.markdown(explained(answer_words(found, len(pairs) == len(planned.pairs))))
    if planned.pairs:
        common(shared([pair.calibrated for pair in planned.pairs]))
    choices()
    if found is not None:
        show(costs_picture(pairs, found), "free_exploration")
    elif planned.pairs:
        empty("The first points appear in a moment." if state.active else "Nothing has been computed.")
    if ended := sentences.about_ends(planned.beyond, MOST):
        st.caption(explained(ended))
    worth = sentences.claimed(planned.by, planned.delta, attacked())
    st.markdown(f":material/warning: {explained(worth)}")
    st.caption(
        explained(
            "This view uses three of your settings: the environment, the seeds, and the bonus of DP-UCBVI. Other "
            f"constants may give another answer. RLSVI draws new noise when there are {percent(BLOCK)} more users."
        )
    )
    ways(pairs, found)
    specs = explored.runs(f.base)
    if specs:
        save_citations(specs)
    with corner:
        share(f)


def finished_pairs(planned: Planned) -> list[Pair]:
    """The pairs of which every seed is known."""
    return [
        pair
        for pair in planned.pairs
        if np.isfinite(RUNS.ends(pair.own)).all() and np.isfinite(RUNS.ends(pair.calibrated)).all()
    ]


def regret_rows(pairs: Sequence[Pair]) -> tuple[metrics.Array, metrics.Array]:
    """Regret of RLSVI and of calibrated noise, [seeds, P] each."""
    own = np.array([RUNS.ends(pair.own) for pair in pairs]).T
    return own, np.array([RUNS.ends(pair.calibrated) for pair in pairs]).T


def beside(pairs: Sequence[Pair]) -> Beside:
    """What was measured of them."""
    own, other = regret_rows(pairs)
    users = np.array([pair.users for pair in pairs])
    ratios = [metrics.ratio(a, b, len(pairs)) for a, b in zip(own.T, other.T, strict=True)]
    value, low, high = np.array(ratios).T
    return Beside(
        users,
        np.array([pair.epsilon for pair in pairs]),
        value,
        low,
        high,
        metrics.stays_above(ratios),
        metrics.crossing(users.astype(float), own, other),
    )


def answer_words(found: Beside | None, whole: bool) -> str:
    """The answer, Markdown: a sentence, and a line for each number in it; what is asked while it is not all there."""
    if found is None or not whole:
        return sentences.ABOUT
    lines = [f"**{sentences.headline(found)}** {sentences.ABOUT}", ""]
    return "\n".join([*lines, *(f"- {line}" for line in sentences.about_numbers(found))])


def shared(calibrated: Sequence[RunSpec]) -> str:
    """What all points have in common."""
    return f"{in_common([Curve(spec) for spec in calibrated])} · beside RLSVI, in blocks of {percent(BLOCK)}"


def costs_picture(pairs: Sequence[Pair], found: Beside) -> PackedPicture:
    """The chart, drawn once."""
    night, best = dark(), answers.v_star(pairs[0].own)

    def made() -> Picture:
        own, other = regret_rows(pairs)
        mine = costs_series("RLSVI, exploration noise", pairs[0].own, found, own, best)
        calibrated = costs_series("DP-UCBVI, calibrated noise", pairs[0].calibrated, found, other, best)
        worst = found.users[-1] * (best or np.nan)
        lost = float(mine.center[-1] / worst), float(calibrated.center[-1] / worst)
        see = sentences.about_costs(found, lost if best else None)
        return figures.costs(mine, calibrated, found, see=see, dark=night)

    return kept(("free-exploration", tuple(pairs), best, night), made)


def costs_series(label: str, spec: RunSpec, found: Beside, rows: metrics.Array, best: float | None) -> Series:
    """One of the two, in the colour of its privacy model: its budget is another at each point."""
    center, low, high = metrics.regret_band(rows)
    kind = replace(style_of(spec), epsilon=None)
    return Series(label, kind, found.users, rows, center, low, high, v_star=best)


def attacked() -> list[tuple[str, Finding]]:
    """Each size at which the claim was attacked, and what was found."""
    report = claims().reports[KEY]
    return [
        (setting.title.partition(" · ")[2], finding)
        for setting, finding in zip(report.claim.settings, report.findings, strict=True)
        if setting.statistic == TOLD
    ]


def ways(pairs: Sequence[Pair], found: Beside | None) -> None:
    """Where more is to be seen: two of the runs, and the claim."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="free_ways"):
        if found is not None:
            pair = pairs[len(pairs) - 1 if found.first is None else found.first]
            both = [Curve(pair.own), Curve(pair.calibrated)]
            page_link("explore", "Compare two of these runs on Online", links.encode(both, links.AT_FIRST))
        page_link("claims", "Open this claim in Papers' claims", {"claim": KEY})
