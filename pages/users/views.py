"""What the page shows of the answers: cards, the chart, what they rest on and how far off they may be."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as html

import pandas as pd
import streamlit as st

from dprl.figures import looks
from dprl.figures import users as figures
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.users import BUDGETS, MODELS, Asked, Need, Problem, curve
from dprl.words import exponents, percent
from pages.shared.layout.terms import explained
from pages.shared.text import escape
from pages.tradeoffs import study
from pages.users import words
from pages.users.link import users_table

EXPONENTS = {"S": "S", "A": "A", "H": "H", "value": "1/v", "loss": "1/loss", "mu": "1/µ"}


def cards(found: Sequence[Need], asked: Asked, night: bool) -> str:
    """A card for each privacy model, as HTML: the verdict, and how many users it takes."""
    items = []
    for need in found:
        sign = looks.swatch(CurveStyle(need.model, asked.epsilon), night)
        mark = f'<img src="{sign.uri}" alt="" height="{sign.height}">'
        said = f'<dd class="why">needs {html(words.users(need.needed))} users</dd>'
        items.append(
            f"<div><dt>{mark} {explained(html(PRIVATIZERS[need.model].title), html=True)}</dt>"
            f"<dd>{html(words.HEADINGS[need.verdict])}</dd>{said}</div>"
        )
    return f'<div class="dprl-cards dprl-verdicts"><dl>{"".join(items)}</dl></div>'


def curves(asked: Asked, found: Sequence[Need]) -> list[figures.UsersCurve]:
    """What is drawn of each model."""
    t = users_table()
    return [
        figures.UsersCurve(
            need.model,
            PRIVATIZERS[need.model].title,
            need.kind == "measured",
            BUDGETS,
            curve(t, asked, need.model, BUDGETS),
            need.factor,
        )
        for need in found
    ]


def picture(asked: Asked, found: Sequence[Need], night: bool) -> Picture:
    """The chart."""
    mine = figures.Mine(float(asked.users), asked.epsilon)
    return figures.users_by_trust(curves(asked, found), mine, see=words.see(asked, found), dark=night)


def numbers_and_sources(asked: Asked, found: Sequence[Need]) -> None:
    """Each number with its interval, and where it comes from."""
    with st.expander("How this was computed", icon=":material/calculate:"):
        st.markdown(explained(escape(words.source(users_table(), asked))))
        heads = (
            "Privacy model",
            "Noise, and reports counted",
            "Users needed",
            "Where the number comes from",
            "Smallest ε that users pay for",
        )
        rows = [
            (
                PRIVATIZERS[need.model].title,
                words.way(need.model) or "–",
                words.needs(need),
                words.kind(need),
                words.smallest(need) or "–",
            )
            for need in found
        ]
        lines = [heads, ("---",) * len(heads), *(tuple(map(escape, row)) for row in rows)]
        st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def returning_users(asked: Asked) -> None:
    """How many episodes it takes where one user may have several."""
    with st.expander("If users return", icon=":material/repeat:"):
        st.markdown(explained(escape(words.returning(users_table(), asked))))
        heads = ("Privacy model", *(f"m = {most}" for most in words.RETURNS))
        rows = [
            (
                PRIVATIZERS[model].title,
                *(words.episodes(users_table(), asked, model, most) for most in words.RETURNS),
            )
            for model in MODELS
            if model != "none"
        ]
        lines = [heads, ("---",) * len(heads), *(tuple(map(escape, row)) for row in rows)]
        st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def assumptions(asked: Asked) -> None:
    """What the numbers rest on."""
    with st.expander("What this rests on", icon=":material/foundation:"):
        st.markdown("\n".join(f"- {escape(said)}" for said in words.assumptions(asked)))


def errors() -> None:
    """How far off the numbers may be, and what the law is."""
    with st.expander("How far off this may be", icon=":material/straighten:"):
        t = users_table()
        st.markdown(words.checks_said(t))
        st.dataframe(
            pd.DataFrame(
                [
                    {
                        "runs": check.of,
                        "privacy model": PRIVATIZERS[check.model].title,
                        "numbers": check.numbers,
                        "within the stated error": percent(check.within),
                        "nine in ten within a factor of": words.times(check.factor),
                    }
                    for check in t.checks
                ]
            ),
            hide_index=True,
            width="stretch",
            height="content",
            key="users_checks",
        )
        st.markdown(words.law())
        st.dataframe(
            pd.DataFrame(
                [
                    {
                        "privacy model": PRIVATIZERS[model].title,
                        **{
                            title: exponents(getattr(power, name), *t.exponents[model][name])
                            if model != "none" or name != "mu"
                            else "–"
                            for name, title in EXPONENTS.items()
                        },
                    }
                    for model, power in t.law.items()
                ]
            ),
            hide_index=True,
            width="stretch",
            height="content",
            key="users_exponents",
        )


def measure(problem: Problem) -> list[tuple[str, str]]:
    """The link to the search for users on Trade-offs, of a problem."""
    base = RunSpec(environment=problem.environment, environment_params=dict(problem.params), seeds=10)
    return study.encode(study.SweepView(base, models=study.DEFAULT_MODELS, show="users"))
