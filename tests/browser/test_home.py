"""Home in a browser: the story by keys and buttons, without motion; the chart, its slider, and links for others."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pages.home.state import ORDER, story_content
from pages.shared.results.data import asset
from tests.browser.conftest import Visits
from tests.browser.seen import CHART, TITLE, box_of, copied, fits, idle, turn_to

LAST = len(ORDER) + 1
AROUND = 100  # pixels of what stays above and below, less the room between scenes
HOME = ".st-key-home_scene"


def at(page: Page, place: int) -> None:
    """Waits until a scene, from 1, is the one that is looked at."""
    expect(page.locator(".story .where")).to_have_text(f"{place} of {LAST}")


def test_keys_lead_through_the_scenes_to_the_chart_and_back(visit: Visits) -> None:
    page = visit("")
    expect(page.locator(".story section")).to_have_count(len(ORDER))
    for place in range(1, LAST):
        at(page, place)
        page.keyboard.press("ArrowRight")
    at(page, LAST)
    expect(page.locator(f"{HOME} h2")).to_be_focused()
    expect(page.locator(CHART).first).to_be_in_viewport()
    page.keyboard.press("ArrowLeft")
    at(page, LAST - 1)
    idle(page)


def test_who_has_records_finds_from_the_first_scene_where_to_give_them(visit: Visits) -> None:
    page = visit("", 1280)
    page.get_by_role("link", name="Use your own data").first.click()
    expect(page.get_by_role("heading", name="An example: 20,000 simulated patients")).to_be_visible()


def test_one_press_leads_to_the_chart_whose_slider_does_not_end_the_story(visit: Visits) -> None:
    page = visit("", 390)
    page.get_by_role("button", name="Skip to the chart").click()
    expect(page.locator(f"{HOME} h2")).to_be_in_viewport()
    slider = page.locator(f"{HOME} input[type=range]")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**eps=2")
    assert "story=on" in page.url  # so that a reload tells it again
    idle(page)
    expect(page.locator(".story section")).to_have_count(len(ORDER))
    # The bar ends with the story: who scrolls up to it is at the last scene, and goes back from there.
    page.get_by_role("button", name="Back", exact=True).click()
    at(page, LAST - 2)


def test_epsilon_under_the_finger_changes_noise_and_what_is_said(visit: Visits) -> None:
    page = visit("")
    section, said = page.locator(".story section").nth(ORDER.index("noise")), story_content()["noise"]
    told, slider = section.locator(".told"), section.get_by_role("slider")
    expect(told).to_contain_text(said["deviations"][story_content()["first"]])
    for name, drawn_as in (("count", "square"), ("less", "square"), ("true", "line"), ("noisy", "line")):
        sign = box_of(section.locator(f".legend i.{name}"))
        assert sign["width"] / sign["height"] == pytest.approx({"square": 1, "line": 7}[drawn_as], rel=0.05)
    # A thousand shapes inherit what Streamlit changes of whatever is under the mouse: that ends above them.
    shape, inherited = section.locator(".cell").first, "e => getComputedStyle(e).scrollbarColor"
    page.mouse.move(0, 0)
    outside = shape.evaluate(inherited)
    section.hover()
    assert shape.evaluate(inherited) == outside
    slider.focus()
    page.keyboard.press("Home")
    expect(told).to_contain_text(said["deviations"][0])
    assert slider.get_attribute("aria-valuetext") == said["slider"]["spoken"][0]
    page.keyboard.press("End")
    expect(section.get_by_role("img")).to_have_attribute("aria-label", said["alts"][-1])
    assert (
        section.locator(".cell:not([fill-opacity='0.000'], [fill-opacity='0'])").count() == 20
    )  # the path alone


def test_learning_is_seen_within_seconds_and_has_few_arrows(visit: Visits) -> None:
    page = visit("")
    learning = asset("start")["learning"]
    fallen = next(at for at, lost in enumerate(learning["baseline"]) if lost < 0.9)
    section = page.locator(".story section").nth(ORDER.index("learn"))
    assert section.locator("svg g .sent").count() == 2  # a colour for each way
    assert section.locator("svg g > .action0:not(.sent), svg g > .action1:not(.sent)").count() == 6
    button = page.get_by_role("button", name="Play motion")
    for place in range(ORDER.index("learn")):
        at(page, place + 1)
        page.keyboard.press("ArrowRight")
    at(page, ORDER.index("learn") + 1)
    button.click()
    now = story_content()["learn"]["now"]
    later = re.compile(
        "|".join(re.escape(text) for text in now[fallen:])
    )  # on a busy machine a text may be skipped
    expect(section.locator(".told")).to_have_text(later, timeout=4000)


def test_words_light_up_what_they_name(visit: Visits) -> None:
    """Every word that can, by keyboard as by mouse."""
    page = visit("")
    for section in page.locator(".story section").all():
        for word in section.locator(".word").all():
            word.focus()
            assert section.locator("svg .lit").count() > 0, word.inner_text()
            word.blur()
            assert section.locator("svg .lit").count() == 0
    assert page.locator(".story .word").count() == 7


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_scene_fits_its_screen(visit: Visits, size: tuple[int, int], scheme: str) -> None:
    width, height = size
    page = visit("", width, scheme)
    page.set_viewport_size({"width": width, "height": height})
    idle(page)
    assert fits(page)
    for section in page.locator(".story section").all():
        assert box_of(section)["height"] <= height - AROUND, section.inner_text()
        drawn = box_of(section.get_by_role("img"))
        assert drawn["x"] + drawn["width"] <= width


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
