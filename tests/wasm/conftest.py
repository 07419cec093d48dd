"""A browser of its own: these tests look at no page of the dashboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, sync_playwright

from dprl.assets import plain, web_source
from dprl.wasm import ENGINE, manifest
from tests.browser.conftest import CHROMIUM_FLAGS, chromium
from tests.wasm.browser import LOAD, encoded


@pytest.fixture(scope="package")
def engine() -> Iterator[Page]:
    """A page that has the module and `play`, with no server behind it."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        page = running.new_page()
        page.evaluate(
            LOAD, [plain(web_source("engine.js")), encoded(ENGINE.read_bytes()), manifest().kernels]
        )
        yield page
        running.close()
