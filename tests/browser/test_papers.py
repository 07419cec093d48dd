"""Papers in a real browser: a press on a cell opens its row."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.seen import fits, idle

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
