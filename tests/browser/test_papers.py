"""Papers in a real browser: a cell and a row open a verdict, its link opens the same, and all fit their screens."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, Visits
from tests.browser.seen import below, fits, idle

CELLS = ".js-plotly-plot .bars .point path"


def test_a_press_on_a_cell_opens_its_row_at_its_beginning(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit("papers", *screen)
    idle(page)
    assert fits(page)
    expect(page.get_by_text("hold here")).to_be_in_viewport()
    cell = page.locator(CELLS).first.bounding_box()
    assert cell is not None
    page.mouse.click(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
    expect(page.get_by_text("Holds here.").first).to_be_visible()
    idle(page)
    assert "item=online" in page.url
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0


@pytest.mark.thorough
def test_a_row_opens_and_its_link_opens_the_same(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit("claims?paper=pac", *screen)
    idle(page)
    page.get_by_role("button", name="Section 2.2").click()
    expect(page.get_by_role("heading", name="Section 2.2")).to_be_visible()
    idle(page)
    assert fits(page)
    assert "papers?v=1&item=pac" in page.url
    if screen != PHONE:
        return  # that the link opens the same is looked at thoroughly, and by pages/test_papers.py at each run
    said = page.get_by_text("Share of users recovered exactly:").inner_text()
    other = visit(below(page.url), *screen)
    expect(other.get_by_role("heading", name="Section 2.2")).to_be_visible()
    idle(other)
    assert other.get_by_text("Share of users recovered exactly:").inner_text() == said
    assert other.url == page.url


@pytest.mark.thorough
def test_algorithms_are_ranked_where_a_visitor_wants(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit("landscape", *screen)
    idle(page)
    box = page.get_by_role("combobox", name="Environment")
    box.scroll_into_view_if_needed()  # a list closes when the page scrolls
    idle(page)
    box.click()
    page.get_by_role("option", name="Linear mixture").click()
    expect(page.get_by_text("UCRL-VTR+ with a trusted curator")).to_be_visible()
    idle(page)
    assert fits(page)
    assert "problem=linear-mixture" in page.url
