"""Linear in a real browser: a curve grows, every tab fits its screen, and a link reopens the same view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.test_pages import CURVE, NAMED, fits

Idle = Callable[[Any], None]
SMALL = "v=2&t=2&c=env.linear-mixture~envp.d.3~envp.S.3~envp.H.4~alg.ucrl-vtr~K.1e7~seeds.2~priv.none&c=priv.central"
TABS = {
    "Regret": "Average regret per episode so far",
    "Exponents": "How fast regret grows",
    "Ellipsoid": "Where the weights can be",
    "Eigenvalues": "What the matrix knows, against noise",
    "Weights": "Estimated and true weights",
    "Guarantee": "It proves what it claims",
    "Data": "Make it again without this page",
}


@pytest.mark.thorough
def test_a_run_grows_and_its_copied_link_shows_it_to_others(visit: Visits, idle: Idle) -> None:
    page = visit(f"linear?{SMALL}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    idle(page)
    page.get_by_role("textbox", name="Values of ε").fill("2, 5")
    page.keyboard.press("Enter")
    idle(page)
    before = page.url
    page.locator(".st-key-run button").click()
    page.wait_for_function("before => location.href !== before", arg=before)
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    expect(page.locator(NAMED, has_text="Central ε = 5")).to_be_visible()
    idle(page)
    assert page.locator(CURVE).count() >= 3
    page.get_by_role("tab", name="Ellipsoid").click()
    expect(page.get_by_text("Noise makes the region")).to_be_visible()
    idle(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    other = visit(page.evaluate("navigator.clipboard.readText()").split("/", 3)[3])
    expect(other.get_by_role("tab", name="Ellipsoid")).to_have_attribute("aria-selected", "true")
    expect(other.get_by_text("Noise makes the region")).to_be_visible()
    idle(other)


@pytest.mark.thorough
def test_every_tab_fits_its_screen(visit: Visits, idle: Idle, screen: tuple[int, str]) -> None:
    page = visit(f"linear?{SMALL}", *screen)
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    for tab, shown in TABS.items():
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.get_by_role("tab", name=tab, exact=True)).to_have_attribute("aria-selected", "true")
        expect(page.get_by_text(shown).first).to_be_visible()
        idle(page)
        assert fits(page), tab


@pytest.mark.thorough
def test_three_number_fields_fit_beside_each_other(visit: Visits, idle: Idle) -> None:
    """The third one was cut off: a column of Streamlit is at least 8 rem wide."""
    page = visit(f"linear?{SMALL}", 1280)
    idle(page)
    page.get_by_text("Its parameters").click()
    idle(page)
    room = page.get_by_test_id("stSidebarUserContent").bounding_box()
    assert room is not None
    for name in ("d", "S", "H"):
        field = page.get_by_test_id("stSidebar").get_by_role("textbox", name=name, exact=True).bounding_box()
        assert field is not None
        assert room["x"] <= field["x"]
        assert field["x"] + field["width"] <= room["x"] + room["width"]
