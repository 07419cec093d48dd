"""Offline in a real browser: a curve grows, every tab fits its screen, and a link reopens the same view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from pages.offline.examples import EXAMPLES
from tests.browser.conftest import Visits
from tests.browser.test_pages import CURVE, NAMED, fits

Idle = Callable[[Any], None]
SMALL = "v=2&t=2&c=env.riverswim~envp.S.3~envp.H.3~alg.apvi~n.1e6~seeds.2&c=alg.dp-apvi~rho.1"
TABS = ("Gap against n", "Pessimism", "Policy", "Coverage", "Guarantee", "Data")


@pytest.mark.thorough
def test_a_run_grows_and_its_copied_link_shows_it_to_others(visit: Visits, idle: Idle) -> None:
    page = visit(f"offline?{SMALL}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    idle(page)
    page.get_by_role("textbox", name="Values of ρ").fill("0.5, 3")
    page.keyboard.press("Enter")
    idle(page)
    before = page.url
    page.locator(".st-key-run button").click()
    page.wait_for_function("before => location.href !== before", arg=before)
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    expect(page.locator(NAMED, has_text="DP-APVI, ρ = 3")).to_be_visible()
    idle(page)
    assert page.locator(CURVE).count() >= 3
    page.get_by_role("tab", name="Pessimism").click()
    expect(page.get_by_text("the penalty takes all that the action seems worth")).to_be_visible()
    idle(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    other = visit(page.evaluate("navigator.clipboard.readText()").split("/", 3)[3])
    expect(other.get_by_role("tab", name="Pessimism")).to_have_attribute("aria-selected", "true")
    expect(other.get_by_text("the penalty takes all that the action seems worth")).to_be_visible()
    other.get_by_role("tab", name="Gap against n").click()
    expect(other.locator(NAMED, has_text="DP-APVI, ρ = 0.5")).to_be_visible()
    idle(other)


@pytest.mark.thorough
def test_every_tab_fits_its_screen(visit: Visits, idle: Idle, screen: tuple[int, str]) -> None:
    page = visit(f"offline?{SMALL}", *screen)
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    for tab in TABS:
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.get_by_role("tab", name=tab, exact=True)).to_have_attribute("aria-selected", "true")
        idle(page)
        assert fits(page), tab
    for example in EXAMPLES:
        page.get_by_role("button", name=example.title).click()
        idle(page)
        assert fits(page)
