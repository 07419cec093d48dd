"""Numbers, specs and chart of online runs as files."""

from __future__ import annotations

from collections.abc import Sequence

from dprl.figures import standalone_html
from dprl.metrics import Statistic
from dprl.simulation.replay import unplayable
from pages.shared.layout.chart import footer
from pages.shared.online.regret import Row, comparison_picture, curve_of
from pages.shared.results import answers, data
from pages.shared.results.again import files, tidy
from pages.shared.visitor.state import session


def downloads(shown: Sequence[Row], statistic: Statistic) -> None:
    """Draw the numbers and the chart of these runs as files, and the table."""
    known = [data.curves(curve.spec) for curve, *_ in shown]
    table = tidy([title for *_, title, _ in shown], known, "episode", "regret")
    drawn = [row for row, one in zip(shown, known, strict=True) if one.begun]
    best = [answers.v_star(curve.spec) for curve, *_ in drawn]
    about, words = session().common, footer()
    live = not any(
        unplayable(curve.spec) for curve, *_ in shown
    )  # as one page without a server, behind *Share*
    files(
        "regret",
        "Cumulative regret of every seed of every visible curve, at every checkpoint.",
        table,
        [curve.spec for curve, *_ in shown],
        None if live else lambda: regret_page(drawn, best, statistic, about=about, footer=words),
    )


def regret_page(
    shown: Sequence[Row],
    best: Sequence[float | None],
    statistic: Statistic,
    *,
    about: str,
    footer: str,
) -> str:
    """Return the regret chart as a page that needs no network, with a slider over episodes, and one over epsilon.

    best: V* of each, where it is known.
    """
    rows = zip(shown, best, strict=True)
    curves = [curve_of(*row, "cumulative", statistic, v_star=value) for row, value in rows]
    budgets = [row[0].spec.epsilon for row in shown]
    return standalone_html.comparison_page(
        "Regret so far, compared",
        about,
        curves,
        ["" if epsilon is None else f"ε = {epsilon:g}" for epsilon in budgets],
        lambda some: comparison_picture(some, view="cumulative", statistic=statistic),
        x="After this many episodes",
        columns=["regret so far", "95% interval", "seeds"],
        footer=footer,
    )
