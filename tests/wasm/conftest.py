"""A browser and a Node of its own: these tests look at no page of the dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from bench import same_bits
from bench.node import node
from tests.browser.conftest import CHROMIUM_FLAGS, chromium


@pytest.fixture(scope="package")
def engine() -> Iterator[Page]:
    """A page that has the module and `play`, with no server behind it."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        page = running.new_page()
        same_bits.load(page)
        yield page
        running.close()


@pytest.fixture(scope="package")
def in_node() -> Iterator[Any]:
    """A process of Node that has the module and `play`."""
    with node() as running:
        same_bits.load(running)
        yield running
