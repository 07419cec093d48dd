"""Views of the answers: cards, the chart, and one page for a meeting, a file of its own that prints."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as html

from dprl.figures import looks
from dprl.figures import users as figures
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture, chart_page
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.users import BUDGETS, Asked, Need, Problem, curve
from pages.shared.layout.terms import explained
from pages.tradeoffs import study
from pages.users import words
from pages.users.link import users_table


def cards(found: Sequence[Need], asked: Asked, night: bool) -> str:
    """Return a card for each privacy model, as HTML: the epsilon that is likely enough, and the users needed."""
    items = []
    for need in found:
        sign = looks.swatch(CurveStyle(need.model, asked.epsilon), night)
        mark = f'<img src="{sign.uri}" alt="" height="{sign.height}">'
        title = explained(html(PRIVATIZERS[need.model].title), html=True)
        largest, why = words.card(users_table(), asked, need)
        items.append(
            f'<div><dt>{mark} {title}</dt><dd>{html(largest)}</dd><dd class="why">{html(why)}</dd></div>'
        )
    return f'<div class="dprl-cards dprl-verdicts"><dl>{"".join(items)}</dl></div>'


def picture(asked: Asked, found: Sequence[Need], night: bool, see: str = "", mine: bool = True) -> Picture:
    """Draw the chart. see: instead of the usual sentence; mine: with the visitor's own users and budget."""
    curves = [
        figures.UsersCurve(
            need.model,
            PRIVATIZERS[need.model].title,
            need.kind == "measured",
            BUDGETS,
            curve(users_table(), asked, need.model, BUDGETS),
            need.factor,
        )
        for need in found
    ]
    own = figures.Mine(float(asked.users), asked.epsilon) if mine else None
    return figures.users_by_trust(curves, own, see=see or words.see(asked, found), dark=night)


def measure(problem: Problem) -> list[tuple[str, str]]:
    """Return the link to the search for users on Trade-offs, for a problem."""
    base = RunSpec(environment=problem.environment, environment_params=dict(problem.params), seeds=10)
    return study.encode(study.SweepView(base, models=study.DEFAULT_MODELS, show="users"))


HEADS = ("Privacy model", "Our users are", "Users needed", "Smallest ε for our users")


def whole_sheet(asked: Asked, found: Sequence[Need], query: str) -> str:
    """Write the whole document. query: of the link to it."""
    table = users_table()
    rows = "".join(map(_row, found))
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    rests = "".join(f"<li>{html(said)}</li>" for said in words.assumptions(asked))
    more = (
        f"<p><b>{html(words.whom_to_trust(asked, found))}</b></p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p>{html(words.source(table, asked))}</p><p>{html(words.SIGNS)}</p>"
        f"<h2>What this rests on</h2><ul>{rests}</ul>"
    )
    about = f"{words.size(table, asked)}. {words.wanted(asked)}"
    made = f"Made with dprl {table.version['dprl']}, page users?{query}"
    return chart_page("How many users do we need?", about, picture(asked, found, False), made, more)


def _row(need: Need) -> str:
    """Write the row of a privacy model."""
    name = ": ".join(filter(None, (PRIVATIZERS[need.model].title, words.way(need.model))))
    cells = (
        name,
        words.HEADINGS[need.verdict],
        f"{words.needs(need)} {words.kind(need)}",
        words.smallest(need),
    )
    return f"<tr>{''.join(f'<td>{html(cell)}</td>' for cell in cells)}</tr>"
