"""Files of runs to download, and ways to repeat a run without the pages: its spec, Python, and a command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dprl.figures.picture import Picture
from dprl.metrics.curves import RunCurves
from dprl.research.traces import cite
from dprl.simulation import FIELDS, OfflineSpec, RunSpec, Spec
from dprl.simulation.offline_spec import FIELDS as OFFLINE_FIELDS
from dprl.tables import csv, escape_formulas
from pages.shared.layout.chart import camera, save, save_chart
from pages.shared.layout.terms import explained

MOST_SHOWN = 5000  # characters of a spec that is shown in the page


def make_again(spec: RunSpec | OfflineSpec) -> None:
    """Draw the code, the command and the spec of one run for copying; a long spec becomes a file."""
    text = json.dumps(spec.to_dict(), indent=2)
    long = len(text) > MOST_SHOWN or spec.environment == "custom"  # JSON in JSON is not for a command line
    if long:
        st.caption("This run's spec as a file, which the lines below read:")
        save("spec.json", "spec.json", "application/json", lambda: text)
    st.caption("In Python, with this repository installed:")
    st.code(python(spec, from_file=long), language="python")
    st.caption(f"On the command line; it writes spec.json, {table_of(spec)} and summary.json:")
    st.code(command_line(spec, from_file=long), language="bash", wrap_lines=True)
    if len(text) <= MOST_SHOWN:
        st.caption("The spec, for `--spec` and `dprl.spec_from_json`:")
        st.code(text, language="json", height=260)


def table_of(spec: RunSpec | OfflineSpec) -> str:
    """Return the file of numbers that the command line writes."""
    return "gap.csv" if spec.kind == OfflineSpec.kind else "regret.csv"


def python(spec: RunSpec | OfflineSpec, from_file: bool = False) -> str:
    """Return Python that computes this run, from its spec.json or from the spec written out."""
    end = f'trace = dprl.run(spec)\nprint(trace.summary())\ntrace.frame().to_csv("{table_of(spec)}", index=False)'
    if from_file:
        return (
            "from pathlib import Path\n\nimport dprl\n\n"
            f'spec = dprl.spec_from_json(Path("spec.json").read_text(encoding="utf-8"))\n{end}'
        )
    given = {k: v for k, v in spec.to_dict().items() if v is not None and k != "kind"}
    arguments = "\n".join(f"    {k}={v!r}," for k, v in given.items())
    return f"import dprl\n\nspec = dprl.{type(spec).__name__}(\n{arguments}\n)\n{end}"


def command_line(spec: RunSpec | OfflineSpec, from_file: bool = False) -> str:
    """Return the command line that computes this run."""
    if from_file:
        return "python -m dprl run --spec spec.json --out results"
    words, fields = ["python", "-m", "dprl", "run"], FIELDS
    if spec.kind == OfflineSpec.kind:
        words, fields = [*words, "--kind", spec.kind], OFFLINE_FIELDS
    for name, value in spec.to_dict().items():
        if name == "kind":
            continue
        flag = fields[name].flag
        if isinstance(value, dict):
            for key, item in value.items():
                words += [] if item is None else [flag, shlex.quote(f"{key}={item}")]
        elif value is not None:
            words += [flag, shlex.quote(str(value))]
    return " ".join([*words, "--out", "results"])


def tidy(titles: Sequence[str], known: Sequence[RunCurves], axis: str, measure: str) -> pd.DataFrame:
    """Tabulate curves: curve, seed, and their axis and measure."""
    parts = [one.frame(axis, measure).assign(curve=title) for title, one in zip(titles, known, strict=True)]
    columns = ["curve", "seed", axis, measure]
    return pd.concat(parts)[columns].dropna(ignore_index=True) if parts else pd.DataFrame(columns=columns)


def files(
    name: str,
    says: str,
    table: pd.DataFrame,
    specs: Sequence[Spec],
    title: str,
    draw: Callable[[], Picture] | None,
) -> None:
    """Draw the numbers and the chart of runs as files, and the table.

    says: the content of the table. title, draw: for the chart as a page of its own; None if *Share* has a better one.
    """
    st.caption(explained(says))
    if table.empty:  # nothing of these curves is known
        st.info(
            "Nothing has been computed yet. Download the numbers and the chart once the first results are here.",
            icon=":material/hourglass_empty:",
        )
    with st.container(horizontal=True, gap="small"):
        if not table.empty:
            save(f"{name}.csv", "CSV", "text/csv", lambda: csv(table))
            save(
                f"{name}.parquet",
                "Parquet",
                "application/vnd.apache.parquet",
                lambda: table.to_parquet(index=False),
            )
        save_citations(specs)
        if not table.empty and draw is not None:
            save_chart(name, title, draw)
    if draw is None:
        st.caption("To get a page that plays these runs without a server, press *Share* at the top.")
    if not table.empty:
        camera()
        st.dataframe(escape_formulas(table), hide_index=True, width="stretch", height=280, key="data_table")


def save_citations(specs: Iterable[Spec]) -> None:
    """Draw the download of the sources to cite for these runs."""
    save("cite.bib", "Citations (BibTeX)", "application/x-bibtex", partial(cite, *specs))
