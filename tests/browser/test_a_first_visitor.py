"""What a server learns from its first visitor must not be missing for that one; the first file to meet the app."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.seen import CURVE, finished
from tests.browser.test_pages import LINK


@pytest.mark.thorough
def test_the_first_visitor_of_all_may_come_by_a_link(visit: Visits) -> None:
    page = visit(LINK)
    expect(page.get_by_role("link", name="Home")).to_be_visible()
    page.wait_for_selector(CURVE, timeout=60_000)
    finished(page)
    assert page.get_by_text("Page not found").count() == 0
    assert page.locator("[data-testid=stMain] .js-plotly-plot .scatterlayer .js-line").count() >= 2
