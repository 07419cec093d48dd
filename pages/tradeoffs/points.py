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
from dprl.simulation import RunSpec
from dprl.simulation.axes import Model
from dprl.tables import csv
from dprl.words import count, significant
from pages.shared.layout.chart import kept, show
from pages.shared.layout.download import save
from pages.shared.layout.frame import dark
from pages.shared.results import data, doubts
from pages.shared.results.status import awaited
from pages.shared.text import escape
from pages.shared.visitor import links
from pages.shared.visitor.links import Curve, View
from pages.tradeoffs import controls as trade_controls
from pages.tradeoffs import state as trade
from pages.tradeoffs.doubts import of_study
from pages.tradeoffs.study import Study

SYMBOLS = {"epsilon": "ε", "episodes": "K"}
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
    title = trade_controls.AXES.get(study.x, study.x)
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
    measure: figures.Measure = "price" if study.show == "price" else "regret"
    picture = kept(
        ("frontier", study.show, study.statistic, symbol, night, said, parts),
        lambda: figures.frontier(
            curves,
            measure=measure,
            axis=f"{title[0].upper()}{title[1:]}",
            symbol=symbol,
            statistic=study.statistic,
            see=sentences.frontier(curves, measure, symbol, [said], study.statistic),
            dark=night,
        ),
    )
    show(picture, "frontier", picked=pressed)
    opened(study)


def empty(study: Study) -> None:
    """What stands where the chart, or the table, will be."""
    if trade.drawn(study):
        said = awaited(data.status(spec, trade.visitor()) for spec in study.sweep.specs)
    elif study.show == "price" and all(Model.parse(model).privacy == "none" for model in study.models):
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
            models = trade.drawn(t.study)
            at, point = int(found[0]), int(found[1])
            t.picked = (t.study.models.index(models[at]), point) if at < len(models) else None
            return
    t.picked = None


def opened(study: Study) -> None:
    """The run of the point that was pressed, and the way to it."""
    t = trade.trade()
    if t.picked is None:
        st.caption("Press a point to open its run in Explore.")
        return
    model, at = t.picked
    runs = trade.points(study, study.models[model])
    if at >= len(runs):
        return
    x, spec = runs[at]
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key="picked"):
        regret = significant(trade.band(study, trade.ends(spec))[0])
        name = trade.titles(study.models)[model]
        st.markdown(
            f"**{escape(name)}**, {SYMBOLS.get(study.x, escape(study.x))} = {count(x) if x >= 1 else f'{x:g}'}: "
            f"{study.statistic} regret {regret} after {count(spec.episodes)} users.",
            width="stretch",
        )
        way_to_explore(spec, "Open this run in Explore")


def with_twin(spec: RunSpec) -> list[Curve]:
    """A run beside the same without privacy."""
    twin = spec.twin()
    return [Curve(spec)] if spec == twin else [Curve(spec), Curve(twin)]


def explore(spec: RunSpec) -> str:
    """The address of a run in Explore."""
    return f"/explore?{links.query(with_twin(spec), View())}"


def way_to_explore(spec: RunSpec, label: str) -> None:
    """A link to a run and its non-private twin."""
    st.page_link(
        "pages/explore/page.py",
        label=label,
        icon=":material/show_chart:",
        query_params=links.encode(with_twin(spec), View()),
    )


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
    for model, title in zip(study.models, trade.titles(study.models), strict=True):
        for x, spec in trade.points(study, model):
            ends = trade.ends(spec)
            regret, low, high = trade.band(study, ends)
            worst = trade.worst_of(spec)
            price = ends - trade.ends(spec.twin())
            extra, extra_low, extra_high = trade.band(study, price)
            rows.append(
                {
                    "model": title,
                    SYMBOLS.get(study.x, study.x): x,
                    "run": explore(spec),
                    "regret": rounded(regret),
                    "regret low": rounded(low),
                    "regret high": rounded(high),
                    "price": rounded(extra),
                    "price low": rounded(extra_low),
                    "price high": rounded(extra_high),
                    "% of K·V*": rounded(100 * regret / worst) if worst > 0 else None,
                    "seeds": int(np.isfinite(ends).sum()),
                }
            )
    st.caption(
        f"Regret and price are {study.statistic}s, low and high the ends of the {lines.BANDS[study.statistic]}; price "
        "is regret beyond the run without privacy."
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
                    "regret",
                    "regret low",
                    "regret high",
                    "price",
                    "price low",
                    "price high",
                    "% of K·V*",
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
