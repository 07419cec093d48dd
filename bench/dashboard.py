"""A temporary dashboard with an empty store and a browser, for taking screenshots of pages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM_FLAGS, chromium, idle
from tests.browser.server import ROOT, serve_command, start


class Dashboard:
    """Pages of a temporary dashboard, shown one at a time."""

    def __init__(self, url: str, page: Page) -> None:
        self._url, self._page = url, page

    def opened(self, address: str, until: str) -> Page:
        """Open a page and wait until it is idle. until: selector of an element that must appear first."""
        self._page.goto(f"{self._url}/{address}")
        self._page.locator(until).first.wait_for()
        idle(self._page)
        return self._page


@contextmanager
def dashboard(width: int, height: int) -> Iterator[Dashboard]:
    """Start a dashboard and a browser of this size in pixels, in the light theme, without animations."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        app = start(serve_command, ROOT, Path(home))
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="light", reduced_motion="reduce"
        )
        context.add_init_script(path=ROOT / "tests" / "browser" / "page.js")
        yield Dashboard(app.url, context.new_page())
        browser.close()
        app.end()
