"""The tab Data: the numbers, the spec, and how to make them again without this page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.figures import standalone_html
from dprl.jobs.store import RunStatus
from dprl.metrics import Statistic
from pages.explore import view
from pages.explore.regret import Read, Row, comparison_picture, curve_of
from pages.shared.layout.chart import footer
from pages.shared.names import kinds
from pages.shared.results import answers, data
from pages.shared.results.again import files, make_again, tidy
from pages.shared.visitor.state import session


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Downloads for the whole comparison, then one curve's spec, code and command."""
    s = session()
    rows = zip(s.explore.curves, kinds(s.explore.curves), titles, runs, strict=True)
    shown = [row for row in rows if not row[0].hidden]
    offered = [i for i, curve in enumerate(s.explore.curves) if not curve.hidden]
    if not shown:
        st.info("All curves are hidden. Show one to see its data.")
        return
    downloads(shown, s.explore.view.statistic)
    st.markdown("## Make it again without this page", anchors=False)
    chosen = view.curve_menu("Curve", offered, titles)
    make_again(s.explore.curves[chosen].spec)


def downloads(shown: Sequence[Row], statistic: Statistic, read: Read = data.curves) -> None:
    """The numbers, the specs and the chart of these runs as files, and the table. read: where their numbers are."""
    known = [read(curve.spec) for curve, *_ in shown]
    table = tidy([title for *_, title, _ in shown], known, "episode", "regret")
    drawn = [row for row, one in zip(shown, known, strict=True) if one.begun]
    best = [answers.v_star(curve.spec) for curve, *_ in drawn]
    about, words = session().common, footer()
    files(
        "regret",
        "Cumulative regret of every seed of every visible curve, at every checkpoint.",
        table,
        {title: curve.spec.to_dict() for curve, _, title, _ in shown},
        lambda: regret_page(drawn, best, statistic, read, about=about, footer=words),
    )


def regret_page(
    shown: Sequence[Row],
    best: Sequence[float | None],
    statistic: Statistic,
    read: Read = data.curves,
    *,
    about: str,
    footer: str,
) -> str:
    """The regret chart as a page of its own that needs no network, with a slider over episodes, and one over epsilon.

    best: V* of each, where it is known.
    """
    rows = zip(shown, best, strict=True)
    curves = [curve_of(*row, "cumulative", statistic, read, v_star=value) for row, value in rows]
    budgets = [row[0].spec.epsilon for row in shown]
    return standalone_html.comparison_page(
        "Regret so far, compared",
        about,
        curves,
        ["" if epsilon is None else f"ε = {epsilon:g}" for epsilon in budgets],
        lambda some: comparison_picture(some, view="cumulative", statistic=statistic),
        x="After so many episodes",
        columns=["regret so far", "95% interval", "seeds"],
        footer=footer,
    )
