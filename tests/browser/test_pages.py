"""The pages in a real browser: links, live runs, the clipboard, the Back button, and a telephone."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from dprl.simulation import RunSpec
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView
from tests.browser.conftest import Visits
from tests.browser.seen import CURVE, copied, finished, fits, idle

QUICK = "envp.S.3~envp.H.3~K.100000~seeds.2"
LINK = f"explore?v=1&c={QUICK}~eps.50&c=priv.none&m=per-episode"
TABS = ("Regret", "Counts", "Policy", "Guarantee", "Data")


def test_a_run_appears_and_its_copied_link_shows_it_to_others(visit: Visits) -> None:
    page = visit("explore")
    idle(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to Run")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-run button")).to_be_focused()
    page.get_by_label("Privacy budget ε, exact value").fill("2.5")
    page.keyboard.press("Enter")
    idle(page)
    expect(page.get_by_role("button", name="Draft: Central ε = 2.5")).to_be_visible()
    assert "c=" not in page.url  # a draft is in no link
    page.locator(".st-key-run button").click()
    page.wait_for_selector(CURVE, timeout=60_000)
    finished(page)
    expect(page.locator("[role=status]", has_text="5 runs finished.")).to_have_count(1)
    idle(page)
    assert "eps.2.5" in page.url
    page.get_by_text("Per episode", exact=True).click()
    idle(page)
    page.get_by_role("button", name="Axes and seeds").click()
    page.get_by_text("Median", exact=True).click()
    expect(page.get_by_text("Numbers are medians over seeds")).to_be_visible()
    page.keyboard.press("Escape")
    idle(page)
    link = copied(page)
    assert "m=per-episode" in link
    assert "stat=median" in link
    other = visit(link)
    other.wait_for_selector(CURVE)
    expect(other.get_by_text("Average regret per episode so far")).to_be_visible()
    expect(other.get_by_text("Numbers are medians over seeds")).to_be_visible()


@pytest.mark.thorough
def test_back_returns_to_the_comparison_before(visit: Visits) -> None:
    page = visit(LINK)
    page.locator(".st-key-chip_0 button").first.click()
    page.get_by_role("button", name="Remove").first.click()
    expect(page.locator("[class*=st-key-chip_]")).to_have_count(1)
    idle(page)
    page.go_back()
    expect(page.locator("[class*=st-key-chip_]")).to_have_count(2)
    idle(page)


@pytest.mark.thorough
def test_an_upload_lets_a_link_be_read_that_waited_for_it(visit: Visits) -> None:
    S = 40
    P = [[[1 / S] * S]] * S
    model = json.dumps({"P": P, "R": [[0.5]] * S, "d1": [1] + [0] * (S - 1)}, separators=(",", ":"))
    base = RunSpec(environment="custom", environment_params={"model": model, "H": 2}, episodes=1000, seeds=2)
    page = visit(f"tradeoffs?{urlencode(studies.encode(SweepView(base, values=(1.0, 10.0))))}")
    expect(page.get_by_text("upload that file")).to_be_visible()
    page.get_by_role("combobox", name="Environment").click()
    page.get_by_role("option", name="Your own").click()
    idle(page)  # nobody picks a file before the button for it is drawn
    file = {"name": "mine.json", "mimeType": "application/json", "buffer": model.encode()}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("upload that file")).to_have_count(0)
    expect(page.get_by_text("Your own (Custom MDP, H = 2)")).to_be_visible()
    idle(page)


@pytest.mark.thorough
def test_names_are_text_everywhere(visit: Visits) -> None:
    name = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20**b**%20www.evil.com%20%5Bl%5D(http%3A//evil.com)%20a%40evil.com"
    page = visit(f"{LINK}&c={QUICK}~eps.20~col.1~name.{name}&i=2")
    page.wait_for_selector(CURVE, timeout=60_000)
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        idle(page)
        assert page.locator("a[href*=evil], img[src=x], svg a").count() == 0
    expect(page.locator(".st-key-chip_2 button").first).to_contain_text("<img src=x onerror=alert(1)> **b**")


@pytest.mark.thorough
def test_every_page_and_tab_fits_its_screen(visit: Visits, screen: tuple[int, str]) -> None:
    width, scheme = screen
    for path in ("", "runs", "explore", "users"):
        assert fits(visit(path, width, scheme)), path
    page = visit(LINK, width, scheme)
    page.wait_for_selector(CURVE, timeout=60_000)
    finished(page)
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        idle(page)
        assert fits(page), tab


@pytest.mark.thorough
def test_on_a_telephone_the_settings_open_and_make_room_again(visit: Visits) -> None:
    page = visit(LINK, 390)
    sidebar = page.get_by_test_id("stSidebar")
    assert sidebar.get_attribute("data-collapsed") == "true"
    page.get_by_role("button", name="Settings").click()
    expect(sidebar).to_have_attribute("data-collapsed", "false")
    page.locator(".st-key-run button").click()
    expect(sidebar).to_have_attribute("data-collapsed", "true")
    page.wait_for_selector(CURVE, timeout=60_000)
    expect(page.locator("[class*=st-key-chip_]")).to_have_count(2)  # the run was one of the two
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(sidebar).to_have_attribute("data-collapsed", "true")


@pytest.mark.thorough
def test_a_bad_link_is_answered_with_a_sentence(visit: Visits) -> None:
    page = visit(f"explore?v=9&c=%00%ff~~~&c=eps.-1&c={'x' * 3000}&k=--&tab=<script>")
    expect(page.get_by_text("Not all of this link could be used")).to_be_visible()
