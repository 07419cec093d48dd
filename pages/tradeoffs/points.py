"""The points of a sweep: drawn, in numbers, and each the way to its run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl import metrics
from dprl.figures import lines, standalone_html
from dprl.figures import regret as regrets
from dprl.figures import tradeoff as figures
from dprl.figures.lines import Series
from dprl.figures.picture import Picture
from dprl.research.frontiers import AXES, SYMBOLS
from dprl.sentences import price as sentences
from dprl.simulation import RunSpec
from dprl.sitemap import PAGES
from dprl.tables import csv
from dprl.words import count, human, percent, significant
from pages.shared.layout.chart import computed, empty, footer, kept, show
from pages.shared.layout.download import save
from pages.shared.layout.frame import dark, wide
from pages.shared.layout.menu import page_link
from pages.shared.layout.terms import explained
from pages.shared.results import data, doubts
from pages.shared.results.again import save_citations
from pages.shared.results.status import awaited
from pages.shared.text import escape
from pages.shared.visitor.address import query_of
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import session
from pages.tradeoffs import state as trade
from pages.tradeoffs.doubts import of_study
from pages.tradeoffs.study import SweepView

LINKED = {"run": st.column_config.LinkColumn("run", display_text="open")}


def frontier_chart(study: SweepView) -> None:
    """The frontier, and what was pressed of it."""
    curves = trade.frontiers(study)
    if not any(np.isfinite(c.center).any() for c in curves):
        nothing_yet(study)
        return
    doubts.tell(of_study(study))
    night, room = dark(), wide()
    symbol = SYMBOLS.get(study.x, study.x)
    title = AXES.get(study.x, study.x)
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
    said = trade.order_words(study)
    runs = [spec for line in trade.drawn_lines(study) for _, spec in trade.points(study, line)[:1]]
    proved = study.subject.proved(runs, study.x, study.show)
    measure = study.subject.measures[study.show]
    picture = kept(
        ("frontier", study.show, study.statistic, symbol, night, room, parts),
        lambda: figures.frontier(
            curves,
            measure=measure,
            axis=f"{title[0].upper()}{title[1:]}",
            symbol=symbol,
            statistic=study.statistic,
            see=sentences.about_frontier(curves, measure, symbol),
            dark=night,
            wide=room,
        ),
    )
    show(picture, "frontier", picked=point_pressed)
    how = sentences.how_frontier(curves, measure, symbol, [*said, proved], study.statistic)
    computed(how)
    opened_run(study)
    offer_along(study)


def nothing_yet(study: SweepView) -> None:
    """What stands where the chart, or the table, will be."""
    if trade.drawn_lines(study):
        said = awaited(
            (data.status(spec, owner_id("sweep")) for spec in study.sweep.specs), study.sweep.specs
        )
    elif study.show == "price" and all(study.free(line) for line in study.lines):
        said = "Without privacy there is no privacy cost."
    else:
        said = "None of this can be run: the lines above say what is allowed."
    empty(said)


def point_pressed(event: Any) -> None:
    """A point was pressed: it is looked at closely below the chart."""
    t = trade.trade()
    for pressed_point in event["selection"]["points"]:
        found = pressed_point.get("customdata")
        if found is not None and len(found) >= 2:
            lines = trade.drawn_lines(t.study)
            at, point = int(found[0]), int(found[1])
            t.picked = (lines[at], point) if at < len(lines) else None
            return
    t.picked = None


def opened_run(study: SweepView) -> None:
    """The run of the point that was pressed, and the way to it."""
    t = trade.trade()
    if t.picked is None:
        st.caption(f"Press a point to open its run in {PAGES[study.subject.page].name}.")
        return
    line, at = t.picked
    runs = trade.points(study, line)
    if at >= len(runs):
        return
    x, spec = runs[at]
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key="picked"):
        lost = significant(trade.band(study, trade.ends(spec))[0])
        st.markdown(
            f"**{escape(study.titles[line])}**, {SYMBOLS.get(study.x, escape(study.x))} = "
            f"{count(x) if x >= 1 else f'{x:g}'}: {study.statistic} {study.subject.measures['regret']} {lost} "
            f"{study.subject.size(spec)}.",
            width="stretch",
        )
        opened = PAGES[study.subject.page]
        page_link(opened.path, f"Open this run on the page {opened.name}", study.subject.view(spec))


def run_address(study: SweepView, spec: Any) -> str:
    """Where a run is looked at, beside the same without privacy."""
    return f"/{study.subject.page}?{query_of(study.subject.view(spec))}"


def offer_along(study: SweepView) -> None:
    """The sweep as a page that needs no server, once something of it is known."""
    words = footer()
    shared = session().common
    save("sweep.html", "Download interactive chart", "text/html", lambda: taken_along(study, shared, words))


def taken_along(study: SweepView, about: str, footer: str) -> str:
    """The sweep as a page of its own, with a slider for its axis, and one over episodes where all curves are known.

    about: what all points share; footer: of the page.
    """
    named, symbol = AXES.get(study.x, study.x), SYMBOLS.get(study.x, study.x)
    axis = named[0].upper() + named[1:]
    measure = study.subject.measures["price" if study.show == "price" else "regret"]
    ks = moments(study)
    reached = [trade.frontiers(study, k) for k in ks]

    def frontier(place: int) -> Picture:
        said = sentences.about_frontier(reached[place], measure, symbol)
        when = "" if ks[place] in (None, study.base.size) else f"after {human(ks[place] or 0)} episodes"
        return figures.frontier(
            reached[place],
            measure=measure,
            axis=axis,
            symbol=symbol,
            statistic=study.statistic,
            see=said,
            when=when,
        )

    def numbers(at: tuple[int, ...]) -> list[list[str]]:
        rows = []
        for line in reached[at[1]]:
            here = np.flatnonzero(np.asarray(line.x) == study.values[at[0]])
            if len(here) == 0 or not np.isfinite(line.center[here[0]]):
                rows.append([line.label, standalone_html.NOWHERE, "", "", ""])
                continue
            center, low, high = (float(part[here[0]]) for part in (line.center, line.low, line.high))
            share = percent(float(line.share[here[0]]))
            rows.append(
                [
                    line.label,
                    human(center),
                    standalone_html.interval(low, high),
                    share,
                    str(int(line.seeds[here[0]])),
                ]
            )
        return rows

    known = [k for k in ks if k is not None]
    over_x = standalone_html.slider_over(axis, study.values, len(study.values) // 2)
    over_k = (
        standalone_html.slider_over("After so many episodes", known)
        if known
        else standalone_html.Slider("", (0.0,), ("",), 0)
    )
    charts = [standalone_html.ChartSlot([frontier(place) for place in range(len(ks))], turned=1, marked=0)]
    if known:
        charts.append(
            standalone_html.ChartSlot([curves_at(study, x) for x in study.values], turned=0, marked=1)
        )
    what = study.subject.shows["price" if study.show == "price" else "regret"]
    over = figures.OVER[study.subject.measures["regret"]]
    columns = ["", what, "95% interval", f"of {study.subject.worst_named}", over]
    return standalone_html.html_page(
        f"{what} against {named}", about, [over_x, over_k], charts, columns, numbers, footer=footer
    )


def moments(study: SweepView) -> list[int | None]:
    """After how many episodes the points of a sweep are all known; [None]: only at the end, or each point has another
    end."""
    runs = {spec for line in study.lines for _, spec in trade.points(study, line)}
    runs |= {spec.baseline() for spec in runs} if study.show == "price" else set()
    known = [trade.run_curves(spec) for spec in runs]
    if study.base.kind != RunSpec.kind or study.x == "episodes" or not known:
        return [None]
    if not all(one.whole(spec.seeds) for one, spec in zip(known, runs, strict=True)):
        return [None]
    return [int(k) for k in standalone_html.episodes([one.at for one in known])] or [None]


def curves_at(study: SweepView, x: Any) -> Picture:
    """The curves of the runs at one value of the axis."""
    looks, drawn = trade.kinds_of(study), []
    for line in trade.drawn_lines(study):
        for spec in (spec for value, spec in trade.points(study, line) if value == x):
            known = trade.run_curves(spec)
            rows = (
                known.values - trade.run_curves(spec.baseline()).values
                if study.show == "price"
                else known.values
            )
            center, low, high = metrics.BANDS[study.statistic](rows)
            kind = replace(looks[line], epsilon=spec.epsilon)
            drawn.append(Series(study.titles[line], kind, known.at, rows, center, low, high))
    view: regrets.Measure = "extra" if study.show == "price" else "cumulative"
    return regrets.comparison(drawn, view=view, statistic=study.statistic)


def four_digits(value: float) -> float:
    """Four digits are enough for a table; the downloads have all."""
    return float(f"{value:.4g}")


def sweep_table(study: SweepView) -> None:
    """Every point in numbers, each with its run; and the downloads."""
    if not trade.drawn_lines(study):
        nothing_yet(study)
        return
    doubts.tell(of_study(study))
    rows = []
    over = figures.OVER[study.subject.measures["regret"]]
    lost, share = study.subject.measures["regret"], f"% of {study.subject.worst_named}"
    for line, title in study.titles.items():
        for x, spec in trade.points(study, line):
            ends = trade.ends(spec)
            regret, low, high = trade.band(study, ends)
            worst = trade.worst_of(spec)
            price = ends - trade.ends(spec.baseline())
            extra, extra_low, extra_high = trade.band(study, price)
            rows.append(
                {
                    "model": title,
                    SYMBOLS.get(study.x, study.x): x,
                    "run": run_address(study, spec),
                    lost: four_digits(regret),
                    f"{lost} low": four_digits(low),
                    f"{lost} high": four_digits(high),
                    "price": four_digits(extra),
                    "price low": four_digits(extra_low),
                    "price high": four_digits(extra_high),
                    share: four_digits(100 * regret / worst) if worst > 0 else None,
                    over: int(np.isfinite(ends).sum()),
                }
            )
    st.caption(
        explained(
            f"{lost.capitalize()} and price are {study.statistic}s. Low and high are the ends of the "
            f"{lines.band(study.statistic, over)}. Price is the privacy cost: {lost} beyond the run without privacy."
        )
    )
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        key="trade_table",
        column_config={
            **LINKED,
            **{
                name: st.column_config.NumberColumn(name, format="localized", width=92)
                for name in (
                    lost,
                    f"{lost} low",
                    f"{lost} high",
                    "price",
                    "price low",
                    "price high",
                    share,
                )
            },
        },
    )
    sweep = study.sweep
    final = {spec: trade.ends(spec) for spec in sweep.specs}
    with st.container(horizontal=True, gap="small"):
        save(
            "sweep.csv",
            "CSV, every seed",
            "text/csv",
            lambda: csv(sweep.frame(final).dropna()),
        )
        save(
            "sweep.json", "Settings (JSON)", "application/json", lambda: json.dumps(sweep.to_dict(), indent=2)
        )
        save_citations(sweep.specs)
        offer_along(study)
    st.caption("The command line does the same from these settings, and writes sweep.csv:")
    st.code("python -m dprl sweep --spec sweep.json --out results", language="bash", wrap_lines=True)
