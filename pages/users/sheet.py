"""One page for a meeting: a file of its own that prints, and needs neither a network nor a script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dprl.figures import users as figures
from dprl.privacy import PRIVATIZERS
from dprl.users import Asked, Need, Table
from pages.users import words

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
HEADS = ("Privacy model", "Our users are", "Users needed", "Smallest ε that our users pay for")


def whole_sheet(
    table: Table, asked: Asked, found: Sequence[Need], curves: Sequence[figures.UsersCurve], query: str
) -> str:
    """The whole document. curves: what the page draws; query: of the link to it."""
    mine = figures.Mine(float(asked.users), asked.epsilon)
    drawn = figures.printed_users(curves, mine)
    rows = "".join(map(_row, found))
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    rests = "".join(f"<li>{escape(said)}</li>" for said in words.assumptions(asked))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>How many users do we need?</title><style>{STYLE}</style></head><body>
<h1>How many users do we need?</h1>
<p>{escape(words.size(table, asked))}. {escape(words.wanted(asked))}</p>
<p><b>{escape(words.whom_to_trust(asked, found))}</b></p>
<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>
<p>{escape(words.source(table, asked))}</p>
<div role="img" aria-label="{escape(drawn.alt)}">{drawn.svg}</div>
<p class="from">{escape(words.SIGNS)}</p>
<h2>What this rests on</h2><ul>{rests}</ul>
<p class="from">Made with dprl {escape(table.version["dprl"])}, page users?{escape(query)}.</p>
</body></html>
"""


def _row(need: Need) -> str:
    """A privacy model."""
    name = ": ".join(filter(None, (PRIVATIZERS[need.model].title, words.way(need.model))))
    cells = (
        name,
        words.HEADINGS[need.verdict],
        f"{words.needs(need)} {words.kind(need)}",
        words.smallest(need),
    )
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
