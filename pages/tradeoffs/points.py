"""The points of a sweep: drawn, in numbers, and each the way to its run."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl.figures import lines
from dprl.figures import tradeoff as figures
from dprl.sentences import price as sentences
from dprl.tables import csv
from dprl.words import count, significant
from pages.shared.layout.chart import kept, show
from pages.shared.layout.download import save
from pages.shared.layout.frame import dark
from pages.shared.results import data, doubts
from pages.shared.results.status import awaited
from pages.shared.text import escape
from pages.shared.visitor.address import query_of
from pages.tradeoffs import state as trade
from pages.tradeoffs.axes import AXES, SYMBOLS
from pages.tradeoffs.doubts import of_study
from pages.tradeoffs.study import Study

LINKED = {"run": st.column_config.LinkColumn("run", display_text="open")}


def chart(study: Study) -> None:
    """The frontier, and what was pressed of it."""
    curves = trade.frontiers(study)
    if not any(np.isfinite(c.center).any() for c in curves):
        empty(study)
        return
    doubts.tell(of_study(study))
    night = dark()
    symbol = SYMBOLS.get(study.x, study.x)
    title = AXES.get(study.x, study.x)
    parts = tuple(
        (
            c.label,
            c.kind,
            c.epsilon,
            c.center.tobytes(),
            c.seeds.tobytes(),
            np.asarray(c.x).tobytes(),
            c.worst.tobytes(),
        )
        for c in curves
    )
    said = trade.order(study)
    runs = [spec for line in trade.drawn(study) for _, spec in trade.points(study, line)[:1]]
    proved = study.subject.proved(runs, study.x, study.show)
    measure = study.subject.measures[study.show]
    picture = kept(
        ("frontier", study.show, study.statistic, symbol, night, said, proved, parts),
        lambda: figures.frontier(
            curves,
            measure=measure,
            axis=f"{title[0].upper()}{title[1:]}",
            symbol=symbol,
            statistic=study.statistic,
            see=sentences.frontier(curves, measure, symbol, [said, proved], study.statistic),
            dark=night,
        ),
    )
    show(picture, "frontier", picked=pressed)
    opened(study)


def empty(study: Study) -> None:
    """What stands where the chart, or the table, will be."""
    if trade.drawn(study):
        said = awaited(data.status(spec, trade.visitor()) for spec in study.sweep.specs)
    elif study.show == "price" and all(study.free(line) for line in study.lines):
        said = "Without privacy there is no price."
    else:
        said = "None of this can be run: the lines above say what is allowed."
    with st.container(border=True, height=300, horizontal_alignment="center", vertical_alignment="center"):
        st.markdown(said, text_alignment="center")


def pressed(event: Any) -> None:
    """A point was pressed: it is looked at closely below the chart."""
    t = trade.trade()
    for pressed_point in event["selection"]["points"]:
        found = pressed_point.get("customdata")
        if found is not None and len(found) >= 2:
            lines = trade.drawn(t.study)
            at, point = int(found[0]), int(found[1])
            t.picked = (lines[at], point) if at < len(lines) else None
            return
    t.picked = None


def opened(study: Study) -> None:
    """The run of the point that was pressed, and the way to it."""
    t = trade.trade()
    if t.picked is None:
        st.caption(f"Press a point to open its run in {study.subject.label}.")
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
        st.page_link(
            study.subject.page,
            label=f"Open this run in {study.subject.label}",
            icon=study.subject.icon,
            query_params=study.subject.view(spec),
        )


def address(study: Study, spec: Any) -> str:
    """Where a run is looked at, beside the same without privacy."""
    return f"{study.subject.path}?{query_of(study.subject.view(spec))}"


def rounded(value: float) -> float:
    """Four digits are enough for a table; the downloads have all."""
    return float(f"{value:.4g}")


def table(study: Study) -> None:
    """Every point in numbers, each with its run; and the downloads."""
    if not trade.drawn(study):
        empty(study)
        return
    doubts.tell(of_study(study))
    rows = []
    lost, share = study.subject.measures["regret"], f"% of {study.subject.worst_named}"
    for line, title in study.titles.items():
        for x, spec in trade.points(study, line):
            ends = trade.ends(spec)
            regret, low, high = trade.band(study, ends)
            worst = trade.worst_of(study, spec)
            price = ends - trade.ends(spec.twin())
            extra, extra_low, extra_high = trade.band(study, price)
            rows.append(
                {
                    "model": title,
                    SYMBOLS.get(study.x, study.x): x,
                    "run": address(study, spec),
                    lost: rounded(regret),
                    f"{lost} low": rounded(low),
                    f"{lost} high": rounded(high),
                    "price": rounded(extra),
                    "price low": rounded(extra_low),
                    "price high": rounded(extra_high),
                    share: rounded(100 * regret / worst) if worst > 0 else None,
                    "seeds": int(np.isfinite(ends).sum()),
                }
            )
    st.caption(
        f"{lost.capitalize()} and price are {study.statistic}s, low and high the ends of the "
        f"{lines.BANDS[study.statistic]}; price is {lost} beyond the run without privacy."
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
        save("sweep.json", "sweep.json", "application/json", lambda: json.dumps(sweep.to_dict(), indent=2))
    st.caption("The same on the command line, from sweep.json; it writes sweep.csv:")
    st.code("python -m dprl sweep --spec sweep.json --out results", language="bash")
