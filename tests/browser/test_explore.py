"""Explore while something moves: Run in sight, what plays, and what is typed last."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.seen import box_of, uncovered
from tests.problems import first


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


def test_the_page_stays_where_it_was_scrolled_to_when_a_run_ends(visit: Visits) -> None:
    page = visit("explore?v=1&c=env.gridworld~priv.local~K.1e15~seeds.3&c=priv.none")
    page.locator(".st-key-status_going").wait_for(state="detached")
    page.get_by_role("textbox", name="Privacy budget ε, exact value").fill("0.21")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="keep it").wait_for()
    page.keyboard.press("Control+Enter")
    page.locator(".st-key-status_going").wait_for()
    page.evaluate("""() => { window.heights = []; const main = document.querySelector("[data-testid=stMain]");
      const look = () => { window.heights.push(main.scrollHeight); requestAnimationFrame(look); }; look(); }""")
    page.locator(".st-key-status_going").wait_for(state="detached")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("() => Math.min(...window.heights) - innerHeight") >= 150
