"""Explore while something moves: Run in sight, what plays, and what is typed last."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.seen import box_of, uncovered
from tests.problems import first

SMALL = "envp.S.3~envp.H.3~K.20000~seeds.2"


@pytest.mark.parametrize(("width", "height"), first([(1280, 800), (390, 844)]))
def test_run_is_in_sight_wherever_the_settings_are_scrolled_to(
    visit: Visits, width: int, height: int
) -> None:
    page = visit("explore", width)
    page.set_viewport_size({"width": width, "height": height})
    if width < 768:
        page.get_by_role("button", name="Settings").click()
    run, settings = page.locator(".st-key-run button"), page.get_by_test_id("stSidebarContent")
    expect(settings).to_be_in_viewport(ratio=0.9)  # it has slid in
    page.get_by_text("Expert settings").click()
    page.get_by_role("textbox", name="Root seed").wait_for()
    page.wait_for_function(
        "() => (e => e.scrollHeight - e.clientHeight > 300)(document.querySelector('[data-testid=stSidebarContent]'))"
    )
    longer = settings.evaluate("e => e.scrollHeight - e.clientHeight")
    for share in (0, 0.5, 1):
        settings.evaluate("(e, top) => e.scrollTo(0, top)", share * longer)
        box = box_of(run)
        assert box["x"] >= 0
        assert 0 <= box["y"] <= height - box["height"]
        assert uncovered(run)


@pytest.mark.thorough
@pytest.mark.parametrize("held", [0, 20, 120])
def test_run_takes_what_was_typed_last_and_it_stays(visit: Visits, held: int) -> None:
    """The press leaves the field, so that both come to the server at nearly the same time. held: ms of the press."""
    page = visit("explore")
    box = page.get_by_role("textbox", name="Privacy budget ε, exact value")
    box.fill("0.4")
    page.locator(".st-key-run button").click(delay=held)
    added = page.locator("[class*=st-key-chip_] button").nth(4)
    expect(added).to_contain_text("Central ε = 0.4")
    expect(added).not_to_contain_text("Draft")
    page.wait_for_load_state("networkidle")
    expect(box).to_have_value("0.4")
