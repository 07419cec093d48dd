"""The chart of a sweep, with its basis, the run behind each point, and the downloads; and the chart of the users needed
under each kind of privacy."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.figures import tradeoff as figures
from dprl.figures.picture import Picture
from dprl.figures.tradeoff import Frontier, ProvedLine
from dprl.figures.users import UsersRow, users_needed
from dprl.metrics import search
from dprl.privacy import PRIVATIZERS
from dprl.research.frontiers import AXES, SYMBOLS, band_of, bound_of_run
from dprl.sentences import doubts as doubted
from dprl.sentences import price as sentences
from dprl.simulation import RunSpec
from dprl.simulation.axes import PrivacyChoice
from dprl.sitemap import PAGES
from dprl.tables import csv
from dprl.theory import BOUNDS, BoundSetting
from dprl.words import count, human, interval, quoted, significant, some
from pages.shared.controls.widgets import exact
from pages.shared.layout.chart import empty, kept, save, save_chart, save_citations, show
from pages.shared.layout.frame import page_link, wide
from pages.shared.layout.terms import escape, explained
from pages.shared.names import style_of
from pages.shared.results import answers, status
from pages.shared.results.status import Progress, awaited, line, price, stopped, working_out
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of
from pages.shared.visitor.links import Curve, fields_of
from pages.tradeoffs import state as trade
from pages.tradeoffs import study as studies
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
    status.tell_doubts(doubts_of(study))
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
    nothing is learned yet, so if users are the axis, only the largest number is checked."""
    stuck: dict[str, tuple[int, int]] = {}
    negative: list[str] = []
    for model, title in study.titles.items():
        for x, spec in study.points(model):
            at = f"{symbol_of(study.x)} = {count(x) if x >= 1 else format(x, 'g')}"
            last = study.x != "episodes" or x == study.values[-1]
            if last and (seeds := status.stuck(spec.baseline())):
                stuck["" if study.x == "epsilon" else at] = (seeds, spec.seeds)
            if spec != spec.baseline():
                negative += status.below_zero(f"{title} at {at}", trade.price(spec))
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
        said = "None of these runs is possible; the lines above list the allowed values."
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


ONLY = "{way} needs {users} users."
FEWEST = "{way} needs the fewest users, {users}."
FEWEST_LOOKED_AT = "{ways} needs at most {users} users, the fewest that we tried."
MANY_LOOKED_AT = "{ways} need at most {users} users, the fewest that we tried."


def needed(study: SweepView, state: Progress) -> None:
    """Draw the users needed under each kind of privacy until the privacy cost of an episode is small enough."""
    t = trade.trade()
    with st.columns(2)[0]:
        exact(
            "Privacy cost of an episode, at most % of V*",
            "share",
            fields_of(SweepView)["share"],
            study.share,
            lambda value: trade.change_sweep_view(share=value),
        )
    v_star = answers.v_star(study.base)
    if v_star is None:
        st.info(working_out("reward of an optimal episode"))
        return
    ways, level = tuple(study.searches), trade.target(study)
    if v_star == 0:
        st.info("Every policy earns 0 here, so nothing can be lost.")
        return
    found = [trade.users_search(study, way, level) for way in ways]
    open_ = [way for way, users in zip(ways, found, strict=True) if users.pending is not None]
    if state.active:
        said = f"Searching over K: {len(ways) - len(open_)} of {len(ways)} found."
        line(1 - len(open_) / max(len(ways), 1), said, partial(trade.cancel_sweep, state.active))
    elif open_ and state.of("failed"):
        trade.strip(state)
    elif open_:
        why = (
            f"Each number comes from a search over K, with {study.base.seeds} seeds at each K. {len(open_)} of "
            f"{len(ways)} have not been found yet; the next step needs {price([*state.lacking])}."
        )
        stopped(explained(why), "Search", "search", trade.start_sweep, "begin")
    if not ways:
        st.info(
            "None of these runs is possible; the lines above list the allowed values."
            if study.ways
            else "There is no private model to compare. Add one in the settings."
        )
        return
    times = multiples(study, found)
    rows = []
    for way, title, users in zip(ways, trade.way_titles(ways), found, strict=True):
        most = max(study.searches[way])
        if users.pending is not None:
            note = "searching"
        elif np.isnan(users.needed):
            note = f"more than {human(most)}"
        else:
            note = f"at most {human(users.needed)}" if fewest(study, way, users) else ""
        low, high = (users.low, users.high) if study.base.seeds > 1 else (np.nan, np.nan)
        kind = style_of(study.searches[way][most])
        rows.append(UsersRow(title, kind, users.needed, low, high, note, times[way]))
    heading = f"Users until privacy costs below {study.share:g}% of V*"
    picture = kept(
        ("users", heading, study.base.to_json(), tuple(repr(row) for row in rows)),
        lambda night: users_needed(
            rows,
            title=heading,
            most=float(studies.USERS_GRID[-1]),
            see=fewest_and_most(study, found),
            dark=night,
        ),
    )
    show(picture, "users")
    st.caption(
        explained(
            f"At ε = {study.base.epsilon:g} and δ = {human(study.base.delta or 0.0)} (δ = 0 for one-hot questions and "
            "for scaled noise), if one user is replaced. "
            f"V* is {v_star:.4g}. "
            f"{'Bars: 95% bootstrap intervals over seeds. ' if study.base.seeds > 1 else 'One seed has no interval. '}"
            "Each K has a separate run, with noise set for that K."
        )
    )
    looked_at(study, found, v_star)
    t.picked = None


def looked_at(study: SweepView, found: list[search.UsersFound], v_star: float) -> None:
    """Draw a table of every K that the search tried, with its run."""
    opened_up = st.expander("The runs behind these numbers", on_change="rerun", key="looked_at")
    if not opened_up.open:
        return
    rows = [
        {
            "model": trade.way_titles([way])[0],
            "K": human(float(k)),
            "price, % of V*": 100 * float(price.mean()) / v_star,
            "seeds": len(price),
            "run": f"/explore?{query_of(run_view(runs[int(k)]))}",
        }
        for (way, runs), users in zip(study.searches.items(), found, strict=True)
        for k, price in zip(users.at, users.price.T, strict=True)
    ]
    opened_up.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        key="looked_at_table",
        column_config={"run": st.column_config.LinkColumn("run", display_text="open")},
    )


def fewest(study: SweepView, way: str, users: search.UsersFound) -> bool:
    """Return whether the search ended at the smallest K, so that fewer users may be enough."""
    return users.needed == min(study.searches[way])


def multiples(study: SweepView, found: list[search.UsersFound]) -> dict[str, tuple[float, float, float]]:
    """Return the users that each model needs, as multiples of the fewest, with interval over seeds; NaN if unknown."""
    ways = dict(zip(study.searches, found, strict=True))
    best = min(found, key=lambda users: np.nan_to_num(users.needed, nan=np.inf))
    known = np.isfinite(best.needed) and not any(
        fewest(study, way, users) for way, users in ways.items() if np.isfinite(users.needed)
    )
    times = {}
    for way, users in ways.items():
        times[way] = (np.nan, np.nan, np.nan)
        if known and np.isfinite(users.needed):
            low, high = search.quantiles(users.resampled / best.resampled)
            if users is best or study.base.seeds == 1 or not np.isfinite(high):
                low = high = np.nan
            times[way] = (users.needed / best.needed, low, high)
    return times


def fewest_and_most(study: SweepView, found: list[search.UsersFound]) -> str:
    """Name the privacy model and mechanism that need the fewest users, and those that need the most."""
    titles = dict(zip(study.searches, map(quoted, trade.way_titles(tuple(study.searches))), strict=True))
    ways = dict(zip(study.searches, found, strict=True))
    ends = {way: users for way, users in ways.items() if np.isfinite(users.needed)}
    if len(ends) < 2 and any(users.pending for users in found):
        return "The search is not finished yet."
    if not ends:
        return "No privacy model reaches this, even with the most users that can be run."
    best, *others = sorted(ends, key=lambda way: ends[way].needed)
    few = [way for way in ends if fewest(study, way, ends[way])]
    least, most = human(ends[best].needed), others[-1:]
    if few:  # the smallest number of users is not known exactly, so there are no multiples of it
        template = FEWEST_LOOKED_AT if len(few) == 1 else MANY_LOOKED_AT
        said = [template.format(ways=some([titles[way] for way in few]), users=least)]
        said += [
            f"{titles[way]} needs {human(ends[way].needed)}, the most." for way in most if way not in few
        ]
    else:
        times = multiples(study, found)
        said = [(FEWEST if others else ONLY).format(way=titles[best], users=least)]
        for way in most:
            n, low, high = times[way]
            said.append(f"{titles[way]} needs {interval(f'{human(n)} times as many', low, high)}.")
    return " ".join(said)
