"""What the page shows: a panel for each kind of trust, the table, and one learner closely."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl.figures import landscape as figures
from dprl.figures.lines import Array, Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.landscape import PROBLEMS, TARGET, Cell, Row, frame
from dprl.landscape.entry import absent, paper, year
from dprl.landscape.rows import TRUSTS, in_table
from dprl.learners import ALGORITHMS
from dprl.metrics import median_band
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.words import exponent, significant
from pages.landscape import words
from pages.landscape.state import SORTS, Seen, bundled_landscape, look_at
from pages.shared.controls.widgets import select
from pages.shared.layout.chart import draw, explain, kept
from pages.shared.layout.frame import dark
from pages.shared.layout.menu import page_link
from pages.shared.layout.terms import explained
from pages.shared.names import style_of
from pages.shared.text import escape
from pages.shared.visitor import links

FORMATS: dict[Any, Any] = {  # of the table's columns
    **dict.fromkeys(
        ("users needed", "regret (median)", "share of K V* lost", "times the lower bound"), significant
    ),
    **dict.fromkeys(("exponent since the K before", "exponent of the bound"), exponent),
}
ORDER = {
    "users": lambda row: row.needed,
    "regret": lambda row: row.regret,
    "bound": lambda row: row.bound.growth if row.bound else np.nan,
    "year": lambda row: year(ALGORITHMS[row.entry.learner]) or np.nan,
    "learner": lambda row: row.learner,
    "trust": lambda row: (*TRUSTS, "none").index(row.entry.privacy),
}


def ordered(found: Sequence[Row], seen: Seen) -> list[Row]:
    """As the visitor wants them: what is not known comes last whichever way."""
    key = ORDER[seen.sort]
    known = [row for row in found if key(row) == key(row)]
    rest = [row for row in found if key(row) != key(row)]
    return sorted(known, key=key, reverse=seen.down == "yes") + rest


def learner_curve(row: Row) -> Series:
    """A learner as it is drawn."""
    return Series(
        row.learner, learner_style(row), row.cell.at, row.cell.regret, *median_band(row.cell.regret)
    )


def learner_style(row: Row) -> CurveStyle:
    """What gives it its look."""
    return style_of(*longest_runs([row]))


def longest_runs(found: Sequence[Row]) -> list[RunSpec]:
    """The longest run of each that was run."""
    return [
        row.entry.spec(PROBLEMS[row.cell.problem], int(row.cell.at[-1])) for row in found if not row.cell.why
    ]


def reference(seen: Seen) -> list[Series]:
    """The learner without privacy that all are held against."""
    found = []
    for entry in bundled_landscape().entries.values():
        wanted = entry.bonus == "paper" if seen.constants == "paper" else entry.default
        if not in_table(entry) and wanted:
            cell = bundled_landscape().cells[entry.key, seen.problem]
            spec = entry.spec(PROBLEMS[seen.problem], int(cell.at[-1]))
            band = median_band(cell.regret)
            found.append(Series("no privacy", style_of(spec), cell.at, cell.regret, *band))
    return found


def lower_bound(seen: Seen, trust: str) -> tuple[Array, Array] | None:
    """K, and what no algorithm with this privacy model stays below; None where no lower bound is known."""
    found = bundled_landscape().lower
    at = [K for K in bundled_landscape().users if (seen.problem, trust, K) in found]
    if not at:
        return None
    return np.array(at, float), np.array([found[seen.problem, trust, K].regret for K in at])


def panels(found: Sequence[Row], seen: Seen) -> None:
    """A chart for each kind of trust, beside each other or below."""
    night = dark()
    key = ("landscape", seen.problem, seen.constants, seen.y, night)
    run = [row for row in found if not row.cell.why]
    v_star = found[0].cell.v_star
    beside = reference(seen)
    lower = {trust: lower_bound(seen, trust) for trust in TRUSTS}
    known = [line for line in lower.values() if line is not None]

    def made(trust: str) -> Picture:
        curves = [learner_curve(row) for row in run]
        ends = figures.span([*curves, *beside], seen.y, v_star, known)  # type: ignore[arg-type]
        own = [one for one, row in zip(curves, run, strict=True) if trust == row.entry.privacy]
        return figures.regret_by_users(
            PRIVATIZERS[trust].title,
            [*own, *beside],
            view=seen.y,  # type: ignore[arg-type]
            v_star=v_star,
            target=TARGET,
            ends=ends,
            dark=night,
            lower=lower[trust],
        )

    pictures = {trust: kept((*key, trust), partial(made, trust)) for trust in TRUSTS}
    for column, (trust, picture) in zip(st.columns(3, gap="small"), pictures.items(), strict=True):
        with column:
            draw(picture, f"landscape_{trust}")
    explain(words.see(found, seen.K), lambda: figures.joined(pictures), "landscape_central")


def shown_columns(found: Sequence[Row]) -> pd.DataFrame:
    """The columns of the table on the page."""
    whole = frame(list(found))
    columns = [
        "learner", "trust", "mechanism", "users needed", "so", "regret (median)", "share of K V* lost",
        "times the lower bound", "exponent since the K before", "bound on regret",
        "exponent of the bound", "year", "source", "why not",
    ]  # fmt: skip
    whole["so"] = [row.note for row in found]
    table_ = whole[columns].rename(columns={"learner": "algorithm", "trust": "privacy model"})
    table_["share of K V* lost"] *= 100
    table_["users needed"] = table_["users needed"].where(np.isfinite(table_["users needed"]), np.nan)
    return table_


def rows_table(found: Sequence[Row], seen: Seen) -> None:
    """All learners: a press on a heading sorts, too."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="landscape_order"):
        with st.container(width=200):
            select(
                "Sort by", list(SORTS), seen.sort, lambda by: look_at(sort=by), SORTS, name="landscape.sort"
            )
        with st.container(width=200):
            ways = {"no": "Smallest first", "yes": "Largest first"}
            select("Order", list(ways), seen.down, lambda way: look_at(down=way), ways, name="landscape.down")
    number = st.column_config.NumberColumn
    st.dataframe(
        # only what is shown is words: a press on a heading sorts the numbers
        shown_columns(found).style.format(FORMATS, na_rep="–"),
        hide_index=True,
        width="stretch",
        height="content",
        key="landscape_table",
        placeholder="–",
        column_config={
            "algorithm": st.column_config.TextColumn(pinned=True),
            "users needed": number(help="Empty where it takes more than 10¹⁵, or was not run."),
            "mechanism": st.column_config.TextColumn(width="medium"),
            "so": st.column_config.TextColumn("note", width=150),
            "share of K V* lost": number("lost, % of K·V*"),
            "times the lower bound": number(help="The regret, divided by the lower bound of its panel."),
            "exponent since the K before": number("exponent of K"),
            "exponent of the bound": number("exponent of K, bound"),
            "bound on regret": st.column_config.TextColumn(width="medium"),
            "year": number(format="%d"),
        },
    )


def closely(found: Sequence[Row], seen: Seen) -> None:
    """One learner: what is proved, claimed and measured of it, and the way to its run."""
    by_key = {f"{row.entry.learner}:{row.entry.privacy}": row for row in found}
    first = next((key for key, row in by_key.items() if row.cell.proved), next(iter(by_key)))
    of = seen.of if seen.of in by_key else first
    names = {key: f"{row.learner}, {row.trust}" for key, row in by_key.items()}
    with st.container(border=True, key="landscape_close"):
        select(
            "Algorithm to look at closely",
            list(by_key),
            of,
            lambda key: look_at(of=key),
            names,
            name="landscape.of",
        )
        row = by_key[of]
        source = paper(ALGORITHMS[row.entry.learner])
        st.markdown(
            explained(
                "\n".join(
                    [
                        f"- **Proved:** {escape(row.proved or 'nothing here, as it was not run')}",
                        f"- **Claimed:** {escape(row.claimed)}",
                        f"- **Measured:** {escape(row.measured)}",
                        f"- **From:** {escape(source)}",
                    ]
                )
            )
        )
        if not row.why:
            spec = row.entry.spec(PROBLEMS[seen.problem], seen.K)
            page_link(
                "explore",
                "Open this run on the page Online",
                links.encode([links.Curve(spec)], links.AT_FIRST),
            )


def absent_learners() -> None:
    """Who is not in a panel, and why."""
    with st.expander("Algorithms that are not here, and why", icon=":material/block:"):
        for trust in TRUSTS:
            missing = absent(trust)
            if missing:
                st.markdown(f"**{escape(PRIVATIZERS[trust].title)}**")
                st.markdown(
                    "\n".join(
                        f"- {escape(ALGORITHMS[key].title)}: {escape(why)}" for key, why in missing.items()
                    )
                )
        tried = [
            cell
            for cell in bundled_landscape().cells.values()
            if cell.refused and bundled_landscape().entries[cell.entry].default
        ]
        st.markdown("**Not run, or not at every K**")
        st.markdown("\n".join(f"- {line}" for line in dict.fromkeys(map(_refused, tried))))


def _refused(cell: Cell) -> str:
    entry = bundled_landscape().entries[cell.entry]
    name = f"{ALGORITHMS[entry.learner].title}, {PRIVATIZERS[entry.privacy].title}, {PROBLEMS[cell.problem].title}"
    some = "" if not len(cell.at) else f" ({len(cell.refused)} of {len(bundled_landscape().users)} K)"
    why, _, _ = next(iter(cell.refused.values())).partition(
        "; give "
    )  # what to give instead is no answer here
    return escape(f"{name}{some}: {why}")
