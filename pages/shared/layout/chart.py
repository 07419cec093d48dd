"""Display figures, offer downloads, and show how to repeat a run in Python or on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from html import escape as html
from mimetypes import guess_type
from typing import Any, Literal

import pandas as pd
import streamlit as st

from dprl.assets import ASSETS
from dprl.figures import looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import PackedPicture, Picture, Sketch, chart_page, for_page
from dprl.figures.style import config
from dprl.messages import messages
from dprl.messages.glossary import listed_terms
from dprl.metrics.curves import RunCurves
from dprl.papers.report import version
from dprl.privacy import PRIVATIZERS
from dprl.research.traces import cite
from dprl.simulation import OfflineSpec, RunSpec, Spec
from dprl.sitemap import PAGES
from dprl.tables import csv, escape_formulas
from dprl.theory import papers
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import escape, explained, unlinked
from pages.shared.results.data import cache_of_all
from pages.shared.streamlit_internals import keep_downloads
from pages.shared.visitor.address import here, query_of
from pages.shared.visitor.callbacks import into, on_value
from pages.shared.visitor.state import session

SAID = messages("pages")["files"]


def kept(key: tuple[Hashable, ...], draw: Callable[[bool], Picture]) -> PackedPicture:
    """Return a figure, drawn once per theme for all visitors. `key` identifies everything else that it depends on."""
    night = dark()
    return cache_of_all().cached(("picture", *key, night), lambda: PackedPicture(draw(night)))


def show(
    picture: Picture | PackedPicture,
    key: str,
    picked: Callable[[Any], None] | None = None,
    group: str = "",
    how: Sequence[str] = (),
    files: Callable[[], object] | None = None,
) -> None:
    """Show a figure and, below it, its sentence and a collapsible section. See `draw` and `explain`."""
    draw(picture, key, picked)
    explain(picture.see, lambda: picture.table, key, group=group, how=how, files=files)


def draw(
    picture: Picture | PackedPicture,
    key: str,
    picked: Callable[[Any], None] | None = None,
    height: Literal["content", "stretch"] = "content",
) -> None:
    """Draw only the figure. `picked` receives Streamlit's click events; the height "stretch" fills the container."""
    with st.container(key="alone_chart") if alone(key) else nullcontext():
        if alone(key):
            st.html(ASSETS / "alone.css")
            if session().common:
                st.caption(explained(unlinked(session().common)))
        st.plotly_chart(
            for_page(picture),
            key=key,
            theme=None,
            config=config(session().saves, footer(), dark=dark(), name=key),
            alt=picture.alt,
            width="stretch",
            height=height,
            on_select=on_value(key, picked) if picked else "ignore",
            selection_mode="points",
        )


def alone(key: str) -> bool:
    """Return whether the page is embedded and shows only this chart, its first. alone.css hides the rest."""
    s = session()
    if st.context.is_embedded and not s.alone:
        s.alone = key
    return s.alone == key


def footer() -> str:
    """Return the line below a saved picture or page: its run and version."""
    return " · ".join(filter(None, [session().common, f"dprl\N{NO-BREAK SPACE}{version()['dprl']}"]))


def save_chart(name: str, title: str, draw: Callable[[], Picture]) -> None:
    """Offer a chart as a separate page. When it is requested, `draw` makes the chart in light colours."""
    about, words = session().common, footer()
    save(f"{name}.html", "Download interactive chart", lambda: chart_page(title, about, draw(), words))


def explain(
    see: str,
    table: Callable[[], pd.DataFrame],
    key: str,
    link: Callable[[], list[tuple[str, str]]] = here,
    group: str = "",
    how: Sequence[str] = (),
    files: Callable[[], object] | None = None,
) -> None:
    """Draw the content below a figure: the sentence about it, and the collapsible section *About this chart*.

    link: returns the link to the whole page, if it may differ from the address. group: a name shared by charts that
    replace each other, so that their folds open together. how: the facts behind the sentence, one item each (Markdown).
    files: draws the downloads.
    """
    if alone(key):
        with st.container(key="alone_words"):
            st.markdown(explained(unlinked(see)))
            st.markdown(f"[Open the whole page](?{query_of(link())})")
        return
    st.markdown(f":material/visibility: {explained(unlinked(see))}")
    unfolded, place = session().unfolded, group or key
    # Streamlit forgets an expander once it is not drawn
    st.session_state.setdefault(f"{key}:about", place in unfolded)
    fold = st.expander("About this chart", on_change="rerun", key=f"{key}:about")
    (unfolded.add if fold.open else unfolded.discard)(place)
    if not fold.open:
        return
    with fold:
        numbers, computed, words, sources, *more = st.tabs(
            ["Numbers", "Computation", "Words", "Papers", *(["Files"] if files else [])]
        )
    numbers.dataframe(
        escape_formulas(table()), hide_index=True, width="stretch", height=280, key=f"{key}:table"
    )
    said = [explained(unlinked(item)) for item in how] or ["The chart shows the values of the first tab."]
    computed.markdown("\n".join(f"- {item}" for item in said))
    subjects = PAGES[session().page or ""].lists
    terms = {word: text for name in subjects for word, text in listed_terms(name).items()}
    words.markdown("\n".join(f"- **{escape(word)}:** {meaning}" for word, meaning in terms.items()))
    known = {title: at for name in subjects for title, at in papers.listed(name).items()}
    sources.markdown("\n".join(f"- [{title}]({address})" for title, address in known.items()))
    if files:
        with more[0]:
            files()


def empty(words: str) -> None:
    """Draw a placeholder for a chart, with a sentence that explains why it is empty."""
    with st.container(border=True, height=300, horizontal_alignment="center", vertical_alignment="center"):
        st.markdown(words, text_alignment="center")


def cards(epsilon: float, texts: Mapping[str, Sequence[str]], above: str = "", kind: str = "") -> None:
    """Draw a card for each privacy model with its texts, the first of which is large."""
    items = []
    for model, (large, *small) in texts.items():
        sign = looks.swatch(CurveStyle(model, epsilon), dark())
        mark = f'<img src="{sign.uri}" alt="" height="{sign.height}">'
        name = explained(html(PRIVATIZERS[model].title), html=True)
        why = "".join(f'<dd class="why">{html(text)}</dd>' for text in small)
        items.append(f"<div><dt>{mark} {name}</dt><dd>{html(large)}</dd>{why}</div>")
    st.html(f'<div class="dprl-cards {kind}">{above}<dl>{"".join(items)}</dl></div>')


def sketch(drawing: Sketch) -> None:
    """Show a small drawing across the available width, but no more than a fifth wider than its natural size."""
    width = round(1.2 * drawing.width)
    st.html(
        f'<img src="{drawing.uri}" alt="{html(drawing.alt)}" '
        f'style="display:block;width:100%;max-width:{width}px;height:auto">'
    )


def save(name: str, label: str, make: Callable[[], str | bytes]) -> None:
    """Draw a download button. `make` is called outside the visitor's script, so it must not use the session."""
    keep_downloads()
    st.download_button(
        label,
        make,
        file_name=name,
        mime=guess_type(name)[0] or "application/octet-stream",
        on_click="ignore",
        icon=":material/download:",
        key=f"save_{name}",
    )


MOST_SHOWN = 5000  # longest spec, in characters, that is shown as code


def make_again(spec: RunSpec | OfflineSpec) -> None:
    """Draw the code and the command that compute one run again, and the file with its spec."""
    table = "gap.csv" if spec.kind == OfflineSpec.kind else "regret.csv"
    text = json.dumps(spec.to_dict(), indent=2)
    st.caption("In Python, with this repository installed:")
    long = spec.environment == "custom" or len(text) > MOST_SHOWN
    st.code(python(spec, table, from_file=long), language="python")
    st.caption(f"The command line reads this run's file and writes spec.json, {table} and summary.json:")
    st.code("python -m dprl run --spec spec.json --out results", language="bash", wrap_lines=True)
    save("spec.json", "spec.json", lambda: text)


def python(spec: RunSpec | OfflineSpec, table: str, from_file: bool) -> str:
    """Return Python code that computes this run, with the spec in the code or from spec.json."""
    begin, made = "import dprl\n\n", 'dprl.spec_from_json(Path("spec.json").read_text(encoding="utf-8"))'
    if from_file:
        begin = f"from pathlib import Path\n\n{begin}"
    else:
        given = {k: v for k, v in spec.to_dict().items() if v is not None and k != "kind"}
        arguments = "\n".join(f"    {k}={v!r}," for k, v in given.items())
        made = f"dprl.{type(spec).__name__}(\n{arguments}\n)"
    end = f'trace = dprl.run(spec)\nprint(trace.summary())\ntrace.frame().to_csv("{table}", index=False)'
    return f"{begin}spec = {made}\n{end}"


def tidy(titles: Sequence[str], known: Sequence[RunCurves], axis: str, measure: str) -> pd.DataFrame:
    """Tabulate curves in columns for the curve, the seed, the axis and the measure."""
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
    """Draw downloads of the runs' numbers, chart and table. `says` describes the table, and `draw` makes the chart for
    a separate page, or is None if *Share* offers a better page."""
    st.caption(explained(says))
    if table.empty:  # there are no results yet
        st.info(SAID["none_yet"], icon=":material/hourglass_empty:")
    with st.container(horizontal=True, gap="small"):
        if not table.empty:
            save(f"{name}.csv", "CSV", lambda: csv(table))
            save(f"{name}.parquet", "Parquet", lambda: table.to_parquet(index=False))
        save_citations(specs)
        if not table.empty and draw is not None:
            save_chart(name, title, draw)
    if draw is None:
        st.caption(SAID["played"])
    if not table.empty:
        st.segmented_control(
            SAID["format"],
            style.PICTURES,
            default=session().saves,
            format_func=str.upper,
            required=True,
            key="saves",
            on_change=on_value("saves", into(session(), "saves")),
        )
        st.dataframe(escape_formulas(table), hide_index=True, width="stretch", height=280, key="data_table")


def save_citations(specs: Iterable[Spec]) -> None:
    save("cite.bib", "Citations (BibTeX)", partial(cite, *specs))
