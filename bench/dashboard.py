"""A dashboard of its own with an empty store, and a browser before it, for what is taken from pages as they are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM_FLAGS, chromium, idle
from tests.browser.server import ROOT, serve_command, start


class Dashboard:
    """Pages of it, one at a time."""

    def __init__(self, url: str, page: Page) -> None:
        self._url, self._page = url, page

    def opened(self, address: str, until: str) -> Page:
        """A page at rest. until: a selector of what has to be there first."""
        self._page.goto(f"{self._url}/{address}")
        self._page.locator(until).first.wait_for()
        idle(self._page)
        return self._page


@contextmanager
def dashboard(width: int, height: int) -> Iterator[Dashboard]:
    """It, at a size in pixels, by day and without motion; gone at the end."""
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
