"""The site's Papers page: each claim of a paper that we tested, with its verdict, numbers and charts."""

from __future__ import annotations

from functools import partial
from html import escape

from dprl.figures.picture import Picture
from dprl.papers import CLAIMS
from dprl.papers.report import ClaimReport
from dprl.sitemap import PAGES
from pages.papers.views import by_statistic, drawn_statistic
from pages.shared.results.data import bundled_papers
from website.document import Block, Document, Plot, paragraph, table

INTRO = (
    "We test each of the papers' claims in several settings. A verdict is computed from runs: a statistic, its 95% "
    "interval, and a threshold."
)
AGAIN = "To run it again, with dprl installed:"


def papers() -> Document:
    blocks: list[Block] = [paragraph(INTRO), contents()]
    for number, claim in enumerate(CLAIMS.values(), 1):
        found = bundled_papers().reports[claim.key]
        blocks += [
            f'<h2 id="{escape(claim.key)}">{number}. {escape(claim.title)}</h2>',
            f"<p>{escape(claim.says)}</p>",
            f"<p><strong>{escape(found.summary)}</strong></p>",
            table(("Setting", "Measured", "Claimed", "Verdict"), rows(found)),
            *(Plot(partial(chart, found, which)) for which in by_statistic(found)),
            f'<p class="note">{escape(claim.source)}. {escape(claim.conditions)}</p>',
            f"<p>{AGAIN}</p><pre>python -m dprl reproduce {escape(claim.key)} --out results</pre>",
            '<p class="note"><a href="#">Back to the list of claims</a></p>',
        ]
    then = bundled_papers().version
    return Document(
        PAGES["papers"].heading, f"Computed with dprl {then['dprl']}, sources {then['sources']}", blocks
    )


def contents() -> str:
    """Build a list of all claims with their verdicts, each with a link to its numbers."""
    items = (
        f'<li><a href="#{escape(key)}">{escape(claim.title)}</a>: {escape(bundled_papers().reports[key].summary)}</li>'
        for key, claim in CLAIMS.items()
    )
    return f"<ol>{''.join(items)}</ol>"


def rows(found: ClaimReport) -> list[tuple[str, str, str, str]]:
    """Return a table row for each setting of a claim: setting, measured value, claimed value and verdict."""
    settings = zip(found.claim.settings, found.numbers, found.findings, strict=True)
    return [
        (f"{number}. {setting.title}", numbers, setting.asks, one.verdict)
        for number, (setting, numbers, one) in enumerate(settings, 1)
    ]


def chart(found: ClaimReport, which: tuple[str, str], place: int, dark: bool) -> Picture:
    """Draw one statistic for all settings that measure it."""
    statistic, over = which
    return drawn_statistic(found, statistic, over, by_statistic(found)[which], dark)
