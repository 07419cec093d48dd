"""Forty sentences and twenty labels drawn at random, for people to say what each means:

    python -m bench.reading SEED OUT

Opens the pages of the dashboard in a browser, in the states that their tests look at, and writes to the folder OUT
a picture of each and sheet.md: what was drawn, each with its page. The protocol and what came of it are in
docs/development/reading.md.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page, sync_playwright

from dprl.sitemap import PAGES
from tests.browser.conftest import CHROMIUM_FLAGS, chromium, idle
from tests.browser.server import ROOT, serve_command, start
from tests.pages.strings import length, sentences
from tests.pages.test_terms import STATES

SENTENCES, LABELS = 40, 20
SIZE = (1280, 1600)  # most of a page at once
WHOLE = re.compile(r"[.?!][\"”)]?$")
PROSE = "[data-testid=stMarkdownContainer] p, [data-testid=stMarkdownContainer] li, [data-testid=stAlertContainer] p"
PRESSED = (
    ".stButton button, .stDownloadButton button, .stTabs [role=tab], [data-testid=stPageLink] a, summary"
)
NAMED = "[data-testid=stWidgetLabel]"
HELD = "pressed, opened or filled in"


def seen(page: Page, what: str) -> list[str]:
    """The texts of what is in sight."""
    found = page.locator(what).evaluate_all(
        "all => all.filter(e => e.checkVisibility()).map(e => e.innerText.replace(/\\s+/g, ' ').trim())"
    )
    return [text for text in found if text]


def on_the_page(page: Page) -> tuple[list[str], list[str]]:
    """Its sentences, and what can be pressed, opened or filled in."""
    prose = [one for text in seen(page, PROSE) for one in sentences(text)]
    labels = seen(page, f"{PRESSED}, {NAMED}")
    # the signs of icons are words of their font
    bare = [re.sub(r"^(?:[a-z0-9]+_)*[a-z0-9]+ (?=[A-Z])", "", label) for label in labels]
    return [one for one in prose if WHOLE.search(one) and length(one) >= 4], bare


def address(path: str, query: dict[str, Any]) -> str:
    return f"{path}?{urlencode(query, doseq=True)}" if query else path


def main(seed: int, out: Path) -> None:
    """Visit all pages, and draw."""
    out.mkdir(parents=True, exist_ok=True)
    said: dict[str, str] = {}  # the first page of each sentence
    named: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        app = start(serve_command, ROOT, Path(home))
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        context = browser.new_context(
            viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light", reduced_motion="reduce"
        )
        context.add_init_script(path=ROOT / "tests" / "browser" / "page.js")
        for at, (path, query) in enumerate(STATES):
            page = context.new_page()
            page.goto(f"{app.url}/{address(path, query)}")
            page.locator("h1").first.wait_for()
            idle(page)
            picture = f"{at:02d}-{path or 'home'}.png"
            page.screenshot(path=out / picture)
            prose, labels = on_the_page(page)
            where = f"{PAGES[path].name} ({picture})"
            for found, kept in ((prose, said), (labels, named)):
                for text in found:
                    kept.setdefault(text, where)
            page.close()
        browser.close()
        app.end()
    random = np.random.default_rng(seed)
    sheet = [f"# Reading sheet, seed {seed}: of {len(said)} sentences and {len(named)} labels", ""]
    for title, texts, count in (
        ("Sentences: what does it mean?", said, SENTENCES),
        (f"Labels: what happens when it is {HELD}?", named, LABELS),
    ):
        drawn = sorted(random.choice(len(texts), min(count, len(texts)), replace=False))
        items = list(texts.items())
        sheet += [f"## {title}", ""]
        sheet += [f"{n}. {items[i][0]} — on *{items[i][1]}*" for n, i in enumerate(drawn, 1)]
        sheet.append("")
    (out / "sheet.md").write_text("\n".join(sheet))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
