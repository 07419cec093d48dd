"""Forty sentences and twenty labels drawn at random, for people to say what each means:

    python -m bench.reading SEED OUT

Opens the pages of the dashboard in a browser, in the states that their tests look at, and writes to the folder OUT
a picture of each and sheet.md: what was drawn, each with its page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page

from bench.dashboard import dashboard
from dprl.sitemap import PAGES
from tests.pages.strings import length
from tests.pages.test_terms import STATES

SENTENCES, LABELS = 40, 20
FEWEST = 4  # words of a sentence that says something without those around it
SIZE = (1280, 1600)  # most of a page at once
ENDS = re.compile(r"(?<=[.?!])(?<!et al\.)\s+(?=[A-ZΑ-Ω0-9])")
WHOLE = re.compile(r"[.?!][\"”)]?$")
PROSE = "[data-testid=stMarkdownContainer] p, [data-testid=stMarkdownContainer] li, [data-testid=stAlertContainer] p"
LABEL = (
    ".stButton button, .stDownloadButton button, .stTabs [role=tab], [data-testid=stPageLink] a, summary, "
    "[data-testid=stWidgetLabel]"
)
# What is read: the names of icons are words of their font, and are not.
READ = """all => all.filter(e => e.checkVisibility()).map(e => {
  const copy = e.cloneNode(true);
  copy.querySelectorAll("[data-testid*=Icon], [role=img]").forEach(icon => icon.remove());
  return copy.textContent.replace(/\\s+/g, " ").trim();
}).filter(Boolean)"""


def on_the_page(page: Page) -> tuple[list[str], list[str]]:
    """Its sentences, and what can be pressed, opened or filled in."""
    found = [one for text in page.locator(PROSE).evaluate_all(READ) for one in ENDS.split(text)]
    sentences = [one for one in found if WHOLE.search(one) and length(one) >= FEWEST]
    return sentences, page.locator(LABEL).evaluate_all(READ)


def address(path: str, query: dict[str, Any]) -> str:
    return f"{path}?{urlencode(query, doseq=True)}" if query else path


def main(seed: int, out: Path) -> None:
    """Visit all pages, and draw."""
    out.mkdir(parents=True, exist_ok=True)
    said: dict[str, str] = {}  # the first page of each sentence
    named: dict[str, str] = {}
    with dashboard(*SIZE) as pages:
        for at, (path, query) in enumerate(STATES):
            page = pages.opened(address(path, query), "h1")
            picture = f"{at:02d}-{path or 'home'}.png"
            page.screenshot(path=out / picture)
            where = f"{PAGES[path].name} ({picture})"
            for found, kept in zip(on_the_page(page), (said, named), strict=True):
                for text in found:
                    kept.setdefault(text, where)
    random = np.random.default_rng(seed)
    sheet = [f"# Reading sheet, seed {seed}: of {len(said)} sentences and {len(named)} labels", ""]
    for title, texts, count in (
        ("Sentences: what does it mean?", said, SENTENCES),
        ("Labels: what happens when it is pressed, opened or filled in?", named, LABELS),
    ):
        items = list(texts.items())
        drawn = sorted(random.choice(len(items), min(count, len(items)), replace=False))
        sheet += [f"## {title}", ""]
        sheet += [f"{n}. {items[i][0]} (on *{items[i][1]}*)" for n, i in enumerate(drawn, 1)]
        sheet.append("")
    (out / "sheet.md").write_text("\n".join(sheet), encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
