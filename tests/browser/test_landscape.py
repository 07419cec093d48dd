"""Landscape in a real browser: it fits, and its link opens the same."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, Visits
from tests.browser.seen import CHART, below, fits, idle


@pytest.mark.thorough
def test_it_fits_and_its_link_opens_the_same(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit("landscape", *screen)
    page.wait_for_selector(".js-plotly-plot .gtitle")
    idle(page)
    assert fits(page)
    expect(page.locator(CHART)).to_have_count(3)
    expect(page.get_by_text("the fewest users.")).to_be_in_viewport()
    page.get_by_role("combobox", name="Environment").click()
    page.get_by_role("option", name="Linear mixture").click()
    expect(page.get_by_text("Linear mixture (S = 4")).to_be_visible()
    idle(page)
    assert fits(page)
    assert "problem=linear-mixture" in page.url
    if screen != PHONE:
        return  # that the link opens the same is looked at thoroughly, and by pages/test_landscape.py at each run
    said = page.get_by_text("the fewest users.").inner_text()
    other = visit(below(page.url), *screen)
    assert other.get_by_text("the fewest users.").inner_text() == said
    assert other.url == page.url
