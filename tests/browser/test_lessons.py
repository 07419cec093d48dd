"""Lessons in a real browser: predictions made on the chart by a press and a finger, and a question on one screen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from dprl.lessons import LESSONS
from pages.shared.lessons import evidence
from tests.browser.conftest import Visits
from tests.browser.seen import box_of, fits, idle

CHART = ".js-plotly-plot:not(.st-key-pictured *)"  # the one that is asked about, not an environment
REST = 100  # ms; Chromium takes a finger to stand still from 40 ms on


def plot(page: Page) -> Locator:
    """The area within the axes."""
    return page.locator(f"{CHART} .nsewdrag").first


def press(page: Page, x: float, y: float) -> None:
    """Presses the chart at shares of its width and height."""
    box = box_of(plot(page))
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


@pytest.mark.thorough
def test_a_press_near_a_curve_gives_it_the_next_name(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit("lessons?lesson=trust", *screen)
    plot(page).scroll_into_view_if_needed()
    press(page, 0.72, 0.3)
    expect(page.get_by_role("button", name=re.compile(r"^4\. "))).to_be_visible()


def test_a_question_is_on_one_screen_and_next_is_the_last_thing_to_press(visit: Visits) -> None:
    """At 1280 x 720: the question, its chart and the ways to answer; then the answer, its reason, and Next."""
    lesson = LESSONS["trust"]
    page = visit("lessons?lesson=trust&step=3")
    page.set_viewport_size({"width": 1280, "height": 720})
    idle(page)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("Why does the shuffler's curve lie between the other two")
    drawn = box_of(plot(page))
    assert box_of(heading)["y"] > 0
    assert drawn["y"] + drawn["height"] < 720
    expect(page.get_by_role("button", name="I don't know")).to_be_in_viewport(ratio=1)
    page.get_by_text("The shuffler adds noise, but less").click()
    page.get_by_role("button", name="Show the answer").click()
    why = page.get_by_text(lesson.steps[2].why(evidence())[:40])
    expect(why).to_be_visible()
    expect(page.get_by_text("It only mixes the reports")).to_be_visible()
    following = page.get_by_role("button", name="Next")
    expect(following).to_be_in_viewport(ratio=1)
    assert box_of(following)["y"] > box_of(why)["y"]
    following.click()
    expect(heading).to_contain_text("An app has 100 million users")
    idle(page)
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0


def marker(page: Page) -> float:
    """Where the marker stands, as a share of the plot's width."""
    x = page.evaluate(
        """(found) => {
          const chart = document.querySelector(found);
          const { uid } = chart._fullData[chart.data.findIndex(({ meta }) => meta === "held")];
          const points = [...chart.querySelectorAll(`.trace${uid} .points path`)];
          const seen = points.map((one) => one.getBoundingClientRect()).sort((a, b) => b.width - a.width)[0];
          return seen.x + seen.width / 2;
        }""",
        CHART,
    )
    box = box_of(plot(page))
    return float((x - box["x"]) / box["width"])


def draggable(page: Page) -> FloatRect:
    """Waits until the marker can be dragged; returns where the plot is."""
    cursor = f"getComputedStyle(document.querySelector('{CHART} .nsewdrag') ?? document.body).cursor"
    page.wait_for_function(f"{cursor} === 'ew-resize'")
    plot(page).scroll_into_view_if_needed()
    return box_of(plot(page))


def asked(page: Page) -> int:
    """How often the server was asked for something."""
    return int(page.evaluate("dprlTest.talk.asked"))


def test_the_marker_is_dragged_by_a_finger_which_may_still_scroll_and_press(visit: Visits) -> None:
    page = visit("lessons?lesson=trust&step=2", 390)
    finger = page.context.new_cdp_session(page)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})

    def touch(kind: str, *points: tuple[float, float]) -> None:
        given = [{"x": x, "y": y} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": given})

    def drag(way: list[tuple[float, float]]) -> None:
        for i, (x, y) in enumerate(way):
            touch("touchMove" if i else "touchStart", (x, y))
            page.evaluate("dprlTest.drawn()")
        # A finger that is lifted while it moves throws the page, and Chromium takes the next tap to stop that: on an
        # empty page 15 of 240 taps 0.3 s after such a drag were no click; after one that rested, 0 of 180.
        page.wait_for_timeout(REST)

    box = draggable(page)
    y = box["y"] + 0.4 * box["height"]

    def x(share: float) -> float:
        return box["x"] + share * box["width"]

    drag([(x(share), y) for share in (0.02, 0.1, 0.2, 0.35, 0.5)])
    assert marker(page) == pytest.approx(0.5, abs=0.01)
    before = asked(page)
    touch("touchEnd")
    expect(page).to_have_url(re.compile("guess=1e8(&|$)"))
    idle(page)
    assert asked(page) == before + 1
    assert marker(page) == pytest.approx(0.5, abs=0.01)
    touch("touchStart", (x(0.75), y))
    touch("touchEnd")
    expect(page).to_have_url(re.compile("guess=32e10(&|$)"))
    idle(page)
    assert marker(page) == pytest.approx(0.75, abs=0.02)
    place, top = page.url, box_of(plot(page))
    drag([(x(0.5), y - 20 * i) for i in range(8)])
    touch("touchEnd")
    idle(page)
    assert page.url == place
    assert box_of(plot(page))["y"] < top["y"] - 30  # the page was scrolled


@pytest.mark.thorough
def test_every_question_answer_and_recap_is_used_without_barriers(visit: Visits) -> None:
    """Of a lesson with every kind of question; at a desk by day and on a phone by night, as axe takes seconds."""
    key = "trust"
    last = len(LESSONS[key].steps) + 1  # the recap, which has no answer
    for at, shown in [*((at, shown) for at in range(1, last) for shown in ("no", "yes")), (last, "no")]:
        page = visit(f"lessons?v=1&lesson={key}&step={at}&shown={shown}")
        for width, scheme in ((1280, "light"), (390, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            idle(page)
            assert fits(page), (at, shown, width, scheme)
        page.close()
