"""What the eye and the finger meet: day and night, and a telephone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dprl.figures.style import DARK, LIGHT, Theme
from tests.browser.conftest import Visits
from tests.browser.seen import box_of, idle, turn_to, uncovered
from tests.browser.test_pages import LINK
from tests.problems import first


def titles(page: Page) -> set[str]:
    """The colours of the charts' titles, as the browser says them."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.js-plotly-plot .gtitle')].map(e => getComputedStyle(e).fill)"
    )
    return set(found)


def ink(theme: Theme) -> str:
    """A theme's ink, as a browser says it."""
    return f"rgb({', '.join(str(int(theme.ink[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.mark.thorough
def test_chips_have_signs_and_charts_follow_day_and_night_on_every_page(visit: Visits) -> None:
    page = visit(LINK)
    for chip in page.locator(".st-key-chips [class*=st-key-chip_] button").all():
        sign = chip.evaluate("e => getComputedStyle(e, '::before').backgroundImage")
        assert sign.startswith('url("data:image/svg')
    now, after = ("light", LIGHT), ("dark", DARK)
    for path in ("explore", "tradeoffs", ""):
        turn_to(page, path)
        page.wait_for_selector(".js-plotly-plot .gtitle")
        idle(page)
        assert titles(page) == {ink(now[1])}
        now, after = after, now
        page.emulate_media(color_scheme=now[0])  # type: ignore[arg-type]
        page.wait_for_function(
            "ink => [...document.querySelectorAll('.js-plotly-plot .gtitle')].every("
            "e => getComputedStyle(e).fill === ink)",
            arg=ink(now[1]),
        )


@pytest.mark.parametrize(
    "path", first(["", "explore?embed=true", "users", "offline", "lessons?lesson=trust&step=1"])
)
def test_on_a_telephone_no_tool_of_a_chart_lies_over_its_title(visit: Visits, path: str) -> None:
    page = visit(path, 390)
    charts = page.locator("[data-testid=stMain] .js-plotly-plot:has(.gtitle)")
    charts.first.wait_for()
    for chart in charts.all():
        chart.hover()
        title, tools = box_of(chart.locator(".gtitle")), box_of(chart.locator(".modebar"))
        assert tools["height"] > 10
        assert title["y"] >= tools["y"] + tools["height"]
        drawn = box_of(chart)
        assert title["x"] >= drawn["x"]
        assert title["x"] + title["width"] <= drawn["x"] + drawn["width"]
        tool = chart.locator(".modebar-btn").first
        assert uncovered(tool)


def test_a_telephone_has_a_menu_that_says_so_and_help_for_fingers(visit: Visits) -> None:
    page = visit("explore", 390)
    opener = page.get_by_test_id("stExpandSidebarButton")
    assert opener.evaluate("e => getComputedStyle(e, '::after').content") == '"Menu"'
    box = box_of(opener)
    assert min(box["width"], box["height"]) >= 40
    opener.click()
    expect(page.get_by_test_id("stSidebar")).to_be_in_viewport(ratio=0.9)  # it has slid in
    idle(page)
    buttons = page.get_by_test_id("stTooltipIcon").get_by_role("button")
    sizes = buttons.evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).filter(r => r.width > 0).map(r => [r.width, r.height])"
    )
    assert len(sizes) >= 5
    assert min(min(size) for size in sizes) >= 40
    assert buttons.first.evaluate(  # nothing lies over it
        "e => { const r = e.getBoundingClientRect(); return [1, 39].every(x => [1, 39].every(y => "
        "e.contains(document.elementFromPoint(r.left + x, r.top + y)))); }"
    )
    menu, environment = page.get_by_test_id("stSidebarNav"), page.get_by_role("combobox", name="Environment")
    expect(menu).to_be_visible()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    page.get_by_role("button", name="Settings", exact=True).click()  # apart from the menu
    expect(environment).to_be_in_viewport()
    expect(menu).to_be_hidden()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    opener.click()
    expect(menu).to_be_visible()
