"""Offline in a real browser: a curve grows, every tab fits its screen, and a link reopens the same view."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from pages.offline.record import EXAMPLES, Example
from tests.browser.conftest import Visits
from tests.browser.seen import CURVE, NAMED, box_of, copied, finished, fits, idle


class Alike(NamedTuple):
    """One of these pages.

    Attributes:
        link: to two small runs.
        tabs: what each shows.
        budgets: the field of budgets, what is written into it, and the run that this adds, among two.
        closely: the tab that is opened by the link.
        pressed: examples that have to fit, too.
    """

    link: str
    tabs: dict[str, str]
    budgets: tuple[str, str, str]
    closely: str
    pressed: tuple[Example, ...] = ()


ALIKE = {
    "offline": Alike(
        "v=1&c=env.riverswim~envp.S.3~envp.H.3~alg.apvi~n.1e6~seeds.2&c=alg.dp-apvi~rho.1",
        {
            "Suboptimality": "Trajectories needed",
            "Pessimism": "the penalty removes the action's whole value",
            "Policy": "the behaviour policy takes the learned action",
            "Coverage": "On the optimal policy's way",
            "Guarantee": "Proved as claimed",
            "Data": "Make it again without this page",
        },
        ("Values of ρ", "0.5, 3", "DP-APVI, ρ = 3"),
        "Pessimism",
        EXAMPLES,
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("path", ALIKE)
def test_a_run_grows_and_its_copied_link_shows_it_to_others(visit: Visits, path: str) -> None:
    link, tabs, (field, budgets, added), closely, _ = ALIKE[path]
    page = finished(visit(f"{path}?{link}"))
    page.get_by_role("textbox", name=field).fill(budgets)
    page.keyboard.press("Enter")
    idle(page)
    before = page.url
    page.locator(".st-key-run button").click()
    page.wait_for_function("before => location.href !== before", arg=before)
    finished(page)
    expect(page.locator(NAMED, has_text=added)).to_be_visible()
    assert page.locator(CURVE).count() >= 3
    page.get_by_role("tab", name=closely).click()
    expect(page.get_by_text(tabs[closely])).to_be_visible()
    idle(page)
    other = visit(copied(page))
    expect(other.get_by_role("tab", name=closely)).to_have_attribute("aria-selected", "true")
    expect(other.get_by_text(tabs[closely])).to_be_visible()
    other.get_by_role("tab", name=next(iter(tabs))).click()
    expect(other.locator(NAMED, has_text=added)).to_be_visible()
    idle(other)


@pytest.mark.thorough
@pytest.mark.parametrize("path", ALIKE)
def test_every_tab_fits_its_screen(visit: Visits, screen: tuple[int, str], path: str) -> None:
    page = finished(visit(f"{path}?{ALIKE[path].link}", *screen))
    for tab, shown in ALIKE[path].tabs.items():
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.get_by_role("tab", name=tab, exact=True)).to_have_attribute("aria-selected", "true")
        expect(page.get_by_text(shown).first).to_be_visible()
        idle(page)
        assert fits(page), tab
    for example in ALIKE[path].pressed:
        page.get_by_role("button", name=example.title).click()
        idle(page)
        assert fits(page), example.title


@pytest.mark.thorough
def test_three_number_fields_fit_beside_each_other(visit: Visits) -> None:
    """The third one was cut off: a column of Streamlit is at least 8 rem wide."""
    page = visit("explore?v=1&c=env.linear-mixture~alg.ucrl-vtr", 1280)
    idle(page)
    page.get_by_text("The environment").click()
    idle(page)
    room = box_of(page.get_by_test_id("stSidebarUserContent"))
    for name in ("d", "S", "H"):
        field = box_of(page.get_by_test_id("stSidebar").get_by_role("textbox", name=name, exact=True))
        assert room["x"] <= field["x"]
        assert field["x"] + field["width"] <= room["x"] + room["width"]
