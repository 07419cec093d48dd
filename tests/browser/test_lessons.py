"""Lessons in a real browser: predictions made on the chart by mouse and finger, and a projector without a mouse."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visits


def plot(page: Page) -> Locator:
    """The area within the axes."""
    return page.locator(".js-plotly-plot .nsewdrag").first


def press(page: Page, x: float, y: float) -> None:
    """Presses the chart at shares of its width and height."""
    box = plot(page).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


@pytest.mark.parametrize(
    ("link", "at", "guess"),
    [
        ("lesson=trust&step=2", (0.5, 0.3), "1e8"),  # the middle of 10 to 10^15, whatever the height
        ("lesson=price&step=1", (0.995, 0.32), "1"),  # near the end of a slope
        ("lesson=trust", (0.72, 0.3), "---a"),  # near the last curve: the first name is put there
    ],
)
def test_a_prediction_is_made_by_pressing_the_chart(
    visit: Visits,
    screen: tuple[int, str],
    idle: Callable[[Page], None],
    link: str,
    at: tuple[float, float],
    guess: str,
) -> None:
    page = visit(f"lessons?{link}", *screen)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    plot(page).scroll_into_view_if_needed()
    press(page, *at)
    if "-" in guess:
        expect(page.get_by_role("button", name=re.compile(r"^4\. "))).to_be_visible()
        return
    expect(page).to_have_url(re.compile(f"guess={guess}(&|$)"))
    expect(page.locator(".legendtext", has_text="your guess")).to_be_visible()
    idle(page)
    press(page, 0.1, 0.5 if at[1] > 0.3 else 0.3)  # again, elsewhere
    idle(page)
    page.get_by_role("button", name="Show the answer").click()
    expect(page.get_by_text("You said")).to_be_visible()


def test_a_projector_needs_no_mouse(visit: Visits, idle: Callable[[Page], None]) -> None:
    page = visit("lessons?lesson=price&present=on")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("shown=yes"))
    idle(page)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("step=2"))
    expect(page.get_by_role("button", name="Show the answer")).to_be_visible()
    idle(page)
    page.keyboard.press("PageUp")
    expect(page.get_by_role("button", name="Hide the answer")).to_be_visible()
    idle(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Lessons", exact=True)).to_be_visible()
    expect(page).not_to_have_url(re.compile("present"))
