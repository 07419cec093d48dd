"""Handing on what is seen: buttons by keyboard, and a page within another one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, Visits


@pytest.mark.thorough
def test_tab_leads_from_a_button_to_what_it_opens_and_on(visit: Visits) -> None:
    page = visit("tradeoffs")
    button, keys = page.get_by_role("button", name="Share"), page.keyboard
    button.focus()
    keys.press("Enter")
    behind = page.get_by_test_id("stPopoverBody")
    locks = behind.get_by_role("switch", name="Lock the settings")
    expect(locks).to_be_visible()
    keys.press("Tab")
    expect(locks).to_be_focused()
    keys.press("Tab")
    expect(page.get_by_text("Whoever opens the link sees the settings")).to_be_visible()
    keys.press("Shift+Tab")
    keys.press("Shift+Tab")
    expect(button).to_be_focused()
    within = "body => body.contains(document.activeElement)"
    keys.press("Tab")
    passed = 0
    while behind.evaluate(within):
        passed += 1
        keys.press("Tab")
    assert passed >= 4
    assert page.evaluate(
        "() => { const at = dprlTest.active().getBoundingClientRect(); return 0 < at.y && at.y < 400 }"
    )


def test_within_another_page_there_is_one_chart_with_its_sentence(
    visit: Visits, screen: tuple[int, str]
) -> None:
    page = visit("tradeoffs?show=regret&say=Look%20here.&embed=true", *screen)
    main = page.get_by_test_id("stMain")
    expect(main.locator(".js-plotly-plot:visible")).to_have_count(1)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_role("button", name="Share")).to_have_count(0)
    expect(page.get_by_role("heading")).to_have_count(0)
    expect(main.locator(".st-key-alone_words")).to_contain_text("halving ε multiplies")
    expect(page.get_by_text("Look here.")).to_be_visible()
    expect(main.locator(".st-key-alone_chart [data-testid=stCaptionContainer]")).to_contain_text("RiverSwim")
    expect(page).to_have_title("Trade-offs · Privacy in reinforcement learning")
    way = page.get_by_role("link", name="Open the whole page").get_attribute("href")
    assert way is not None
    assert "embed" not in way
    if screen != PHONE:
        return
    other = visit(f"tradeoffs{way}")
    expect(other.get_by_role("button", name="Copy link")).to_be_visible()
    assert "embed" not in other.url


def test_home_within_another_page_has_its_slider(visit: Visits) -> None:
    page = visit("?embed=true")
    expect(page.locator(".dprl-cards")).to_be_hidden()
    page.get_by_role("slider", name="Privacy budget").press("ArrowRight")
    expect(page.locator(".gtitle")).to_contain_text("at ε = 2")
    expect(page.get_by_role("link", name="Open the whole page")).to_have_attribute("href", "?v=1&eps=2")
