"""How soon Start shows its first scene: python -m bench.opening [openings, by default 9].

Start's address and one that opens Home's chart alone are opened in turn, each time in a browser without anything that
it has read before. Prints the seconds from the navigation until the first scene's picture stands, and until the chart
does, and the ratio of their medians: a ratio, because a machine with other work slows both.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from pages.home.state import link_to
from pages.shared.visitor.address import query_of
from tests.browser.conftest import CHROMIUM_FLAGS, chromium
from tests.browser.server import ROOT, serve_command, start

OPENINGS, LIMIT, EPSILON = 9, 180.0, 1.0  # each; s that one may take; of the link to the chart
SCENE, CHART = ".story section:first-of-type svg .swimmer", ".js-plotly-plot .scatterlayer path.js-line"
# What stands is drawn and has a size. The story is in a shadow tree. A frame later the visitor sees it.
WATCH = """
window.stands = {};
const found = (root, selector) => {
  const here = root.querySelector(selector);
  if (here) return here;
  for (const one of root.querySelectorAll("[data-testid=stBidiComponentRegular], .st-key-story *"))
    if (one.shadowRoot) { const inner = found(one.shadowRoot, selector); if (inner) return inner; }
  return null;
};
const look = () => {
  for (const selector of %s) {
    const box = found(document, selector)?.getBoundingClientRect();
    if (box?.width && !(selector in window.stands)) window.stands[selector] = performance.now() / 1000;
  }
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def main(openings: int) -> int:
    """Measures; 1 where the scene comes later than the chart."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        app = start(serve_command, ROOT, Path(home))
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        try:
            link = f"{app.url}/?{query_of(link_to(EPSILON))}"
            for url, selector in ((app.url, SCENE), (link, CHART)):  # the server reads what it keeps
                opened(browser, url, selector)
            took: dict[str, list[float]] = {SCENE: [], CHART: []}
            for _ in range(openings):
                took[SCENE].append(opened(browser, app.url, SCENE))
                took[CHART].append(opened(browser, link, CHART))
        finally:
            browser.close()
            app.end()
    scene, chart = (statistics.median(took[selector]) for selector in (SCENE, CHART))
    for name, selector in (("first scene", SCENE), ("chart of Home", CHART)):
        print(f"{name}: {', '.join(f'{seconds:.2f}' for seconds in sorted(took[selector]))} s")
    print(f"medians {scene:.2f} s and {chart:.2f} s, ratio {scene / chart:.2f}")
    return int(scene > chart)


def opened(browser: Browser, url: str, selector: str) -> float:
    """Opens it anew; seconds until what is looked for stands."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.add_init_script(WATCH % [SCENE, CHART])
        page.goto(url, wait_until="commit")
        page.wait_for_function("selector => selector in window.stands", arg=selector, timeout=1000 * LIMIT)
        return float(page.evaluate("selector => window.stands[selector]", selector))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else OPENINGS))
