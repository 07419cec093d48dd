"""Home in a real browser: its slider, and links for others."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.seen import TITLE, box_of, copied, idle, turn_to


def test_homes_slider_moves_the_chart_and_the_sentence_by_keyboard(visit: Visits) -> None:
    page = visit()
    slider = page.get_by_role("slider", name="Privacy budget")
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 1")
    title = page.locator(TITLE)
    expect(title).to_have_text(re.compile("at ε = 1$"))
    curves = """Object.fromEntries([...document.querySelectorAll('.js-plotly-plot .scatterlayer .trace')]
        .map(trace => [trace.__data__[0].trace, trace.querySelector('path.js-line')])
        .filter(([drawn, line]) => line && drawn.legendgroup && drawn.mode === 'lines')
        .map(([drawn, line]) => [drawn.name, line.getAttribute('d')]))"""
    before, entries = page.evaluate(curves), page.evaluate("history.length")
    chart = page.evaluate_handle("document.querySelector('.js-plotly-plot')")
    slider.focus()
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 0.3")
    expect(title).to_have_text(re.compile("at ε = 0.3$"))
    expect(page.get_by_text("At ε\u00a0=\u00a00.3 you need")).to_be_visible()
    idle(page)
    after = page.evaluate(curves)
    assert len(before) == len(after) == 4
    moved = {name for name in before if before[name] != after[name]}
    assert moved == set(before) - {"No privacy"}
    assert page.evaluate("chart => chart.isConnected", chart)  # turned, not replaced
    assert page.evaluate("location.search") == "?story=on&v=1&eps=0.3"
    assert page.evaluate("history.length") == entries  # without an entry of the Back button for each stop
    page.reload()
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 0.3")
    expect(title).to_have_text(re.compile("at ε = 0.3$"))
    turn_to(page, "explore")
    expect(page.get_by_role("heading", name="How fast does a private algorithm learn?")).to_be_visible()
    assert "eps" not in page.url
    page.get_by_role("link", name="Home").click()
    expect(page).to_have_url(re.compile(r"/\?story=on&v=1&eps=0\.3$"))  # it is told again
    link = copied(page)
    other = visit(link, 390)
    expect(other.get_by_role("slider", name="Privacy budget")).to_have_attribute(
        "aria-valuetext", "epsilon 0.3"
    )
    expect(other.get_by_text("At ε\u00a0=\u00a00.3 you need")).to_be_visible()


@pytest.mark.thorough
def test_homes_slider_ends_where_a_quick_drag_ends(visit: Visits) -> None:
    page = visit()
    slider = page.get_by_role("slider", name="Privacy budget")
    slider.scroll_into_view_if_needed()  # from below the story
    box = box_of(slider)
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    for share in (0.4, 0.6, 0.3, 0.8, 0.1, 0.0):
        page.mouse.move(box["x"] + share * box["width"], middle)
    page.mouse.up()
    expect(page.get_by_text("At ε\u00a0=\u00a00.03 you need")).to_be_visible()
    idle(page)
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 0.03")
    turn_to(page, "explore")
    expect(page.get_by_role("heading", name="How fast does a private algorithm learn?")).to_be_visible()
    page.get_by_role("link", name="Home").click()
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 0.03")
    title = page.locator(TITLE)
    expect(title).to_have_text(re.compile("at ε = 0.03$"))
    for key, epsilon in (("End", "30"), ("Home", "0.03")):
        slider.press(key)
        expect(page.get_by_text(f"At ε\u00a0=\u00a0{epsilon} you need")).to_be_visible()
        # Read as a link by whatever is pressed next, so it may not lag behind.
        assert page.evaluate("location.search") == f"?story=on&v=1&eps={epsilon}"
        # The chart that was sent for 0.03 was turned to 30 before it went: that must not come back with it.
        turn_to(page, "explore")
        page.get_by_role("link", name="Home").click()
        idle(page)
        expect(title).to_have_text(re.compile(f"at ε = {epsilon}$"))
