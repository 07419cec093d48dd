"""The tab Data: the numbers, the spec, and how to make them again without this page."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dprl.figures import regret as figures
from dprl.figures import style
from dprl.figures.looks import Kind
from dprl.jobs.store import RunStatus
from dprl.metrics import Statistic
from dprl.simulation import FIELDS, RunSpec
from dprl.tables import csv, harmless
from pages.explore import view
from pages.explore.regret import curve_of
from pages.shared.layout.download import save
from pages.shared.names import kinds
from pages.shared.results import answers, data
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import session

MOST_SHOWN = 5000  # characters of a spec that is shown in the page
Row = tuple[Curve, Kind, str, RunStatus]  # a curve, what gives it its look, its title, and how its run stands


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Downloads for the whole comparison, then one curve's spec, code and command."""
    s = session()
    rows = zip(s.explore.curves, kinds(s.explore.curves), titles, runs, strict=True)
    shown = [row for row in rows if not row[0].hidden]
    offered = [i for i, curve in enumerate(s.explore.curves) if not curve.hidden]
    if not shown:
        st.info("All curves are hidden. Show one to see its data.")
        return
    table = frame([curve.spec for curve, *_ in shown], [title for *_, title, _ in shown])
    best = [answers.v_star(curve.spec) for curve, *_ in shown]
    statistic = s.explore.view.statistic
    st.caption("Cumulative regret of every seed of every visible curve, at every checkpoint.")
    with st.container(horizontal=True, gap="small"):
        save("regret.csv", "CSV", "text/csv", lambda: csv(table))
        save("regret.parquet", "Parquet", "application/vnd.apache.parquet", lambda: parquet(table))
        save("specs.json", "Specs", "application/json", lambda: specs(shown))
        save("regret.html", "Chart (HTML)", "text/html", lambda: page(shown, best, statistic))
    st.segmented_control(
        "The camera above each chart saves",
        style.PICTURES,
        default=s.saves,
        format_func=str.upper,
        required=True,
        key="saves",
        on_change=on_value("saves", take_picture),
    )
    st.dataframe(harmless(table), hide_index=True, width="stretch", height=280, key="data_table")
    st.markdown("#### Make it again without this page", anchors=False)
    chosen = view.curve("Curve", offered, titles)
    spec = s.explore.curves[chosen].spec
    text = json.dumps(spec.to_dict(), indent=2)
    long = (
        len(text) > MOST_SHOWN or spec.environment == "custom"
    )  # JSON within JSON is not for a command line
    if long:
        st.caption("This run's spec as a file, which the lines below read:")
        save("spec.json", "spec.json", "application/json", lambda: text)
    st.caption("In Python, with this repository installed:")
    st.code(python(spec, from_file=long), language="python")
    st.caption("On the command line; it writes spec.json, regret.csv and summary.json:")
    st.code(command(spec, from_file=long), language="bash", wrap_lines=True)
    if len(text) <= MOST_SHOWN:
        st.caption("The spec, for `--spec` and `dprl.spec_from_json`:")
        st.code(text, language="json", height=260)


def take_picture(kind: str) -> None:
    """Keeps the kind of picture that was chosen."""
    session().saves = kind


def frame(specs: Sequence[RunSpec], titles: Sequence[str]) -> pd.DataFrame:
    """Tidy: curve, seed, episode, regret."""
    parts = []
    for spec, title in zip(specs, titles, strict=True):
        known = data.regret(spec)
        for seed, row in enumerate(known.rows):
            parts.append(
                pd.DataFrame({"curve": title, "seed": seed, "episode": known.episodes, "regret": row})
            )
    whole = (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame(columns=["curve", "seed", "episode", "regret"])
    )
    return whole.dropna(ignore_index=True)


def parquet(table: pd.DataFrame) -> bytes:
    """The table as Parquet."""
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


def specs(shown: Sequence[Row]) -> str:
    """All specs by title, as JSON."""
    return json.dumps(
        {title: curve.spec.to_dict() for curve, _, title, _ in shown}, indent=2, ensure_ascii=False
    )


def page(shown: Sequence[Row], best: Sequence[float | None], statistic: Statistic) -> str:
    """The regret chart as a page of its own that needs no network. best: V* of each, where it is known."""
    rows = zip(shown, best, strict=True)
    curves = [curve_of(*row, "cumulative", statistic, v_star=value) for row, value in rows]
    picture = figures.comparison(curves, statistic=statistic)
    html: str = picture.figure.to_html(include_plotlyjs=True, full_html=True)
    return html


def python(spec: RunSpec, from_file: bool = False) -> str:
    """Python that computes this run, from its spec.json or from the spec written out."""
    if from_file:
        return (
            "from pathlib import Path\n\nimport dprl\n\n"
            'spec = dprl.spec_from_json(Path("spec.json").read_text(encoding="utf-8"))\ntrace = dprl.run(spec)\n'
            'print(trace.summary())\ntrace.frame().to_csv("regret.csv", index=False)'
        )
    arguments = "\n".join(f"    {k}={v!r}," for k, v in spec.to_dict().items() if v is not None)
    return (
        f"import dprl\n\nspec = dprl.RunSpec(\n{arguments}\n)\ntrace = dprl.run(spec)\n"
        'print(trace.summary())\ntrace.frame().to_csv("regret.csv", index=False)'
    )


def command(spec: RunSpec, from_file: bool = False) -> str:
    """The command line that computes this run."""
    if from_file:
        return "python -m dprl run --spec spec.json --out results"
    words = ["python", "-m", "dprl", "run"]
    for name, value in spec.to_dict().items():
        flag = FIELDS[name].flag
        if isinstance(value, dict):
            for key, item in value.items():
                words += [] if item is None else [flag, shlex.quote(f"{key}={item}")]
        elif value is not None:
            words += [flag, shlex.quote(str(value))]
    return " ".join([*words, "--out", "results"])
