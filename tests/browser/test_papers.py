"""Claims in a real browser: a claim opens by a click and by its link, and both fit their screens."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, Visits
from tests.browser.seen import below, fits, idle


def test_a_claim_low_on_the_list_opens_at_its_beginning(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit("claims", *screen)
    idle(page)
    page.get_by_role("button", name="10. One draw of noise hides nobody").click()
    expect(page.get_by_role("heading", name="10. One draw of noise hides nobody")).to_be_in_viewport()
    idle(page)
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0


@pytest.mark.thorough
def test_a_claim_opens_by_a_click_and_its_link_opens_the_same(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit("claims", *screen)
    idle(page)
    assert fits(page)
    page.get_by_role("button", name="10. One draw of noise hides nobody").click()
    expect(page.get_by_role("heading", name="10. One draw of noise hides nobody")).to_be_visible()
    idle(page)
    assert fits(page)
    assert "claim=one-draw" in page.url
    if screen != PHONE:
        return  # that the link opens the same is looked at thoroughly, and by pages/test_claims.py at each run
    said = page.locator("li", has_text="One draw for all releases").inner_text()
    other = visit(below(page.url), *screen)
    expect(other.get_by_role("heading", name="10. One draw of noise hides nobody")).to_be_visible()
    idle(other)
    assert other.locator("li", has_text="One draw for all releases").inner_text() == said
    assert other.url == page.url
