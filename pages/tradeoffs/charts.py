"""The chart of a sweep, with its basis, the run behind each point, and the downloads."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.figures import tradeoff as figures
from dprl.figures.picture import Picture
from dprl.figures.tradeoff import Frontier, ProvedLine
from dprl.privacy import PRIVATIZERS
from dprl.research.frontiers import AXES, SYMBOLS, band_of, bound_of_run
from dprl.sentences import doubts as doubted
from dprl.sentences import price as sentences
from dprl.simulation import RunSpec
from dprl.simulation.axes import PrivacyChoice
from dprl.sitemap import PAGES
from dprl.tables import csv
from dprl.theory import BOUNDS, BoundSetting
from dprl.words import count, significant
from pages.shared.layout.chart import empty, kept, save_chart, show
from pages.shared.layout.download import save
from pages.shared.layout.frame import wide
from pages.shared.layout.menu import page_link
from pages.shared.results import doubts
from pages.shared.results.again import save_citations
from pages.shared.results.status import awaited
from pages.shared.text import escape
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of
from pages.shared.visitor.links import Curve
from pages.tradeoffs import state as trade
from pages.tradeoffs.study import SHOWS, SweepView

# The bound for each privacy model that is drawn if no paper has one for the algorithm.
PROVED = {"none": "minimax", "central": "dp-ucbvi-jdp", "shuffle": "sdp-pe", "local": "dp-ucbvi-ldp"}
ONLY_SLOPES = "Dotted bounds have constants and logarithms set to 1, so compare slopes, not heights."


def frontier_chart(study: SweepView) -> None:
    """Draw the chart, and the run of the clicked point."""
    curves = trade.frontiers(study)
    if not any(np.isfinite(c.center).any() for c in curves):
        nothing_yet(study)
        return
    doubts.tell(doubts_of(study))
    room = wide()
    bounds, theorems = proved(study)
    growth = trade.growth(study)
    drawn = partial(picture_of, study, curves, bounds)
    parts = tuple(
        (
            c.label,
            c.style,
            c.epsilon,
            c.center.tobytes(),
            c.seeds.tobytes(),
            np.asarray(c.x).tobytes(),
            c.worst.tobytes(),
        )
        for c in curves
    )
    picture = kept(
        ("frontier", study.show, study.statistic, study.x, tuple(growth), theorems, room, parts),
        lambda night: drawn(night=night, room=room),
    )
    extra = [*sentences.how_growth(growth), *theorems]
    measure: Any = study.show
    how = sentences.how_frontier(curves, measure, symbol_of(study.x), extra, study.statistic)
    show(picture, "frontier", picked=point_pressed, how=how, files=partial(downloads, study, drawn))
    opened_run(study)


def picture_of(
    study: SweepView,
    curves: list[Frontier],
    bounds: list[ProvedLine],
    *,
    night: bool = False,
    room: bool = False,
) -> Picture:
    """Draw the chart with its sentence; over users, it describes whether the privacy cost still grows."""
    measure: Any = study.show
    title = AXES.get(study.x, study.x)
    said = sentences.about_growth(trade.growth(study))
    said = said or sentences.about_frontier(curves, measure, symbol_of(study.x))
    return figures.frontier(
        curves,
        measure=measure,
        axis=title[0].upper() + title[1:],
        symbol=symbol_of(study.x),
        statistic=study.statistic,
        bounds=bounds,
        see=f"{said} {ONLY_SLOPES}" if bounds else said,
        dark=night,
        wide=room,
    )


def symbol_of(x: str) -> str:
    """Return the symbol of an axis for sentences."""
    return SYMBOLS.get(x, x)


def proved(study: SweepView) -> tuple[list[ProvedLine], tuple[str, ...]]:
    """Return the papers' bounds, one for each privacy model of the chart, and a description of each. The bounds are for
    users with one episode each."""
    drawn: list[ProvedLine] = []
    said: list[str] = []
    if study.bounds == "off" or study.x == "contribution" or study.base.contribution > 1:
        return [], ()
    for model in trade.drawn_models(study):
        privacy = PrivacyChoice.parse(model).privacy
        points = study.points(model)
        bound = bound_of_run(points[0][1]) or BOUNDS[PROVED[privacy]]
        label = f"{bound.title}, {PRIVATIZERS[privacy].title}"
        if label in {line.label for line in drawn}:
            continue
        settings = [setting_of(spec) for _, spec in points]
        height = bound.price if study.show == "price" else bound.value
        values = np.array([float(height(at)) for at in settings])
        if study.show == "share":
            values /= [trade.worst_of(spec) for _, spec in points]
        epsilon = None if study.x == "epsilon" else points[0][1].epsilon
        drawn.append(ProvedLine(label, privacy, epsilon, np.array([x for x, _ in points], float), values))
        unmet = bound.unmet(settings[0])
        most = "at most" if bound.upper else "at least"
        said.append(
            f"**{label}:** {most} {bound.formula} ({bound.paper})."
            + (f" Condition not met here: {unmet}." if unmet else "")
        )
    return drawn, tuple(said)


def setting_of(spec: RunSpec) -> BoundSetting:
    """Return the arguments of bounds for a run; a tabular environment counts as S·A features."""
    S, A, H, *d = ENVIRONMENTS[spec.environment].size(**spec.environment_params)
    return BoundSetting(S, A, H, spec.episodes, spec.epsilon or 1.0, (d and d[0]) or S * A)


def doubts_of(study: SweepView) -> list[str]:
    """Warn of runs without privacy that have not found the best policy, and of privacy costs below zero. With few users
    nothing is learned yet, so if users are the axis, only the largest number counts."""
    stuck: dict[str, tuple[int, int]] = {}
    negative: list[str] = []
    for model, title in study.titles.items():
        for x, spec in study.points(model):
            at = f"{symbol_of(study.x)} = {count(x) if x >= 1 else format(x, 'g')}"
            last = study.x != "episodes" or x == study.values[-1]
            if last and (seeds := doubts.stuck(spec.baseline())):
                stuck["" if study.x == "epsilon" else at] = (seeds, spec.seeds)
            if spec != spec.baseline():
                negative += doubts.below_zero(f"{title} at {at}", trade.price(spec))
    said = [doubted.unsettled(*max(stuck.values()), at=list(filter(None, stuck)))] if stuck else []
    return [*said, doubted.about_negative_prices(negative)]


def nothing_yet(study: SweepView) -> None:
    """Draw a placeholder for the chart, with the reason why it is empty."""
    if trade.drawn_models(study):
        specs = study.sweep.specs
        said = awaited(map(trade.RUNS.status, specs), specs)
    elif study.show == "price" and study.models == ("none",):
        said = "Without privacy there is no privacy cost."
    else:
        said = "None of this can be run: the lines above list the allowed values."
    empty(said)


def point_pressed(event: Any) -> None:
    """Open the run of the clicked point below the chart."""
    t = trade.trade()
    for pressed_point in event["selection"]["points"]:
        found = pressed_point.get("customdata")
        if found is not None and len(found) >= 2:
            models = trade.drawn_models(t.study)
            at, point = int(found[0]), int(found[1])
            t.picked = (models[at], point) if at < len(models) else None
            return
    t.picked = None


def opened_run(study: SweepView) -> None:
    """Draw the run of the clicked point, and a link to it."""
    t, opened = trade.trade(), PAGES["explore"]
    if t.picked is None:
        st.caption(f"Press a point to open its run in {opened.name}.")
        return
    model, at = t.picked
    runs = study.points(model)
    if at >= len(runs):
        return
    x, spec = runs[at]
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key="picked"):
        lost = significant(band_of(trade.ends(spec), study.statistic)[0])
        st.markdown(
            f"**{escape(study.titles[model])}**, {escape(symbol_of(study.x))} = "
            f"{count(x) if x >= 1 else f'{x:g}'}: {study.statistic} regret {lost} after {count(spec.episodes)} users.",
            width="stretch",
        )
        page_link(opened.path, f"Open this run on the page {opened.name}", run_view(spec))


def run_view(spec: RunSpec) -> list[tuple[str, str]]:
    """Return the link to a run and its non-private baseline, as query parameters."""
    return links.encode([Curve(each) for each in dict.fromkeys((spec, spec.baseline()))], links.AT_FIRST)


def run_address(spec: RunSpec) -> str:
    """Return the address of a run and its non-private baseline."""
    return f"/explore?{query_of(run_view(spec))}"


def downloads(study: SweepView, draw: Any) -> None:
    """Draw downloads of all seeds' numbers, the settings, the papers, and the chart as a page; `draw` returns the
    picture."""
    sweep, title = study.sweep, f"{SHOWS[study.show]} against {AXES.get(study.x, study.x)}"
    final = {spec: trade.ends(spec) for spec in sweep.specs}
    with st.container(horizontal=True, gap="small"):
        save_chart("sweep", title, draw)
        save("sweep.csv", "CSV, every seed", "text/csv", lambda: csv(sweep.frame(final).dropna()))
        save(
            "sweep.json", "Settings (JSON)", "application/json", lambda: json.dumps(sweep.to_dict(), indent=2)
        )
        save_citations(sweep.specs)
    st.caption("The command line does the same from these settings, and writes sweep.csv:")
    st.code("python -m dprl sweep --spec sweep.json --out results", language="bash", wrap_lines=True)
