"""The page's answers: cards, the chart, and one page for a meeting: a file of its own that prints, and
needs neither a network nor a script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as html

from dprl.figures import looks
from dprl.figures import users as figures
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.users import BUDGETS, Asked, Need, Problem, Table, curve
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


def curves(asked: Asked, found: Sequence[Need]) -> list[figures.UsersCurve]:
    """Return the curve of each model."""
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
    """Draw the chart."""
    mine = figures.Mine(float(asked.users), asked.epsilon)
    return figures.users_by_trust(curves(asked, found), mine, see=words.see(asked, found), dark=night)


def measure(problem: Problem) -> list[tuple[str, str]]:
    """Return the link to the search for users on Trade-offs, for a problem."""
    base = RunSpec(environment=problem.environment, environment_params=dict(problem.params), seeds=10)
    return study.encode(study.SweepView(base, models=study.DEFAULT_MODELS, show="users"))


STYLE = """
@page { size: A4; margin: 13mm; }
body { font: 13px/1.4 "Segoe UI", Roboto, Helvetica, Arial, sans-serif; color: #1F2933; background: #FFFFFF;
  max-width: 690px; margin: 16px auto; padding: 0 8px; }
h1 { font-size: 21px; margin: 0 0 4px; }
h2 { font-size: 15px; margin: 12px 0 4px; }
p { margin: 0 0 6px; }
table { border-collapse: collapse; width: 100%; margin: 0 0 6px; }
th, td { text-align: left; vertical-align: top; padding: 3px 8px 3px 0; border-bottom: 1px solid #D7DCE2; }
svg { width: 100%; height: auto; }
ul { margin: 0; padding-left: 18px; }
li { margin: 0 0 2px; }
@media print { body { font-size: 11px; line-height: 1.35; max-width: none; margin: 0; padding: 0; }
  svg { max-height: 68mm; } }
.from { color: #52606D; font-size: 11px; margin-top: 8px; }
"""
HEADS = ("Privacy model", "Our users are", "Users needed", "Smallest ε for our users")


def whole_sheet(
    table: Table, asked: Asked, found: Sequence[Need], curves: Sequence[figures.UsersCurve], query: str
) -> str:
    """Return the whole document. curves: as the page draws them; query: of the link to it."""
    mine = figures.Mine(float(asked.users), asked.epsilon)
    drawn = figures.printed_users(curves, mine)
    rows = "".join(map(_row, found))
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    rests = "".join(f"<li>{html(said)}</li>" for said in words.assumptions(asked))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>How many users do we need?</title><style>{STYLE}</style></head><body>
<h1>How many users do we need?</h1>
<p>{html(words.size(table, asked))}. {html(words.wanted(asked))}</p>
<p><b>{html(words.whom_to_trust(asked, found))}</b></p>
<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>
<p>{html(words.source(table, asked))}</p>
<div role="img" aria-label="{html(drawn.alt)}">{drawn.svg}</div>
<p class="from">{html(words.SIGNS)}</p>
<h2>What this rests on</h2><ul>{rests}</ul>
<p class="from">Made with dprl {html(table.version["dprl"])}, page users?{html(query)}.</p>
</body></html>
"""


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
