"""The pages in a real browser: links, live runs, the clipboard, the Back button, and a telephone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from dprl.simulation import RunSpec
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import Study
from tests.browser.conftest import Visits

Idle = Callable[[Any], None]

QUICK = "envp.S.3~envp.H.3~K.100000~seeds.2"
LINK = f"explore?v=1&c={QUICK}~eps.50&c=priv.none&m=per-episode"
CURVE = "[data-testid=stMain] .js-plotly-plot .scatterlayer path.js-line"
TABS = ("Regret", "Counts", "Policy", "Guarantee", "Data")


def fits(page: Page) -> bool:
    """Nothing sticks out to the right."""
    return bool(
        page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".every(e => e.scrollWidth <= window.innerWidth)"
        )
    )


def test_a_run_appears_and_its_copied_link_shows_it_to_others(visit: Visits, idle: Idle) -> None:
    page = visit("explore")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("Privacy budget ε, exact value").fill("2.5")
    page.keyboard.press("Enter")
    idle(page)
    assert "c=" not in page.url  # the address does not follow every control
    page.locator(".st-key-run button").click()
    page.wait_for_selector(CURVE, timeout=60_000)
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    idle(page)
    assert "eps.2.5" in page.url
    page.get_by_text("Per episode", exact=True).click()
    idle(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "m=per-episode" in copied
    other = visit(copied.split("/", 3)[3])
    other.wait_for_selector(CURVE)
    expect(other.get_by_text("Average regret per episode so far")).to_be_visible()


def test_back_returns_to_the_comparison_before(visit: Visits, idle: Idle) -> None:
    page = visit(LINK)
    page.locator(".st-key-chip_0 button").first.click()
    page.get_by_role("button", name="Remove").first.click()
    expect(page.locator("[class*=st-key-chip_]")).to_have_count(1)
    idle(page)
    page.go_back()
    expect(page.locator("[class*=st-key-chip_]")).to_have_count(2)
    idle(page)


def test_an_upload_lets_a_link_be_read_that_waited_for_it(visit: Visits, idle: Idle) -> None:
    S = 40
    P = [[[1 / S] * S]] * S
    model = json.dumps({"P": P, "R": [[0.5]] * S, "d1": [1] + [0] * (S - 1)}, separators=(",", ":"))
    base = RunSpec(environment="custom", environment_params={"model": model, "H": 2}, episodes=1000, seeds=2)
    page = visit(f"tradeoffs?{urlencode(studies.encode(Study(base, values=(1.0, 10.0))))}")
    expect(page.get_by_text("upload that file")).to_be_visible()
    page.get_by_role("combobox", name="Environment").click()
    page.get_by_role("option", name="Your own").click()
    idle(page)  # nobody picks a file before the button for it is drawn
    file = {"name": "mine.json", "mimeType": "application/json", "buffer": model.encode()}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("upload that file")).to_have_count(0)
    expect(page.get_by_text("Your own (Custom MDP, H = 2)")).to_be_visible()
    idle(page)


def test_names_are_text_everywhere(visit: Visits, idle: Idle) -> None:
    name = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20**b**%20www.evil.com%20%5Bl%5D(http%3A//evil.com)%20a%40evil.com"
    page = visit(f"{LINK}&c={QUICK}~eps.20~col.1~name.{name}&i=2")
    page.wait_for_selector(CURVE, timeout=60_000)
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        idle(page)
        assert page.locator("a[href*=evil], img[src=x], svg a").count() == 0
    expect(page.locator(".st-key-chip_2 button").first).to_contain_text("<img src=x onerror=alert(1)> **b**")


def test_every_page_and_tab_fits_its_screen(visit: Visits, idle: Idle, screen: tuple[int, str]) -> None:
    width, scheme = screen
    for path in ("", "runs", "explore"):
        assert fits(visit(path, width, scheme)), path
    page = visit(LINK, width, scheme)
    page.wait_for_selector(CURVE, timeout=60_000)
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        idle(page)
        assert fits(page), tab


def test_on_a_telephone_the_settings_open_and_make_room_again(visit: Visits, idle: Idle) -> None:
    page = visit(LINK, 390)
    sidebar = page.get_by_test_id("stSidebar")
    assert sidebar.get_attribute("data-collapsed") == "true"
    page.get_by_role("button", name="Settings").click()
    expect(sidebar).to_have_attribute("data-collapsed", "false")
    page.locator(".st-key-run button").click()
    expect(sidebar).to_have_attribute("data-collapsed", "true")
    page.wait_for_selector(CURVE, timeout=60_000)
    expect(page.locator("[class*=st-key-chip_]")).to_have_count(2)  # the run was one of the two
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(sidebar).to_have_attribute("data-collapsed", "true")


def test_homes_slider_moves_the_chart_and_the_sentence_by_keyboard(visit: Visits, idle: Idle) -> None:
    page = visit()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    slider = page.get_by_role("slider", name="Privacy budget")
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 1")
    title = page.locator("[data-testid=stMain] .js-plotly-plot .gtitle")
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
    expect(page.get_by_text("hiding each of them at ε\u00a0=\u00a00.3 takes")).to_be_visible()
    idle(page)
    after = page.evaluate(curves)
    assert len(before) == len(after) == 4
    moved = {name for name in before if before[name] != after[name]}
    assert moved == set(before) - {"No privacy"}
    assert page.evaluate("chart => chart.isConnected", chart)  # turned, not replaced
    expect(page).to_have_url(re.compile(r"/\?v=2&eps=0\.3$"))  # the address follows once the slider rests
    assert page.evaluate("history.length") == entries  # without an entry of the Back button for each stop
    page.reload()
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 0.3")
    expect(title).to_have_text(re.compile("at ε = 0.3$"))
    page.get_by_role("link", name="Explore", exact=True).first.click()
    expect(page.get_by_role("heading", name="Explore")).to_be_visible()
    assert "eps" not in page.url
    page.get_by_role("link", name="Home").click()
    expect(page).to_have_url(re.compile(r"/\?v=2&eps=0\.3$"))  # it is told again
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    other = visit(copied.split("/", 3)[3], 390)
    expect(other.get_by_role("slider", name="Privacy budget")).to_have_attribute(
        "aria-valuetext", "epsilon 0.3"
    )
    expect(other.get_by_text("hiding each of them at ε\u00a0=\u00a00.3 takes")).to_be_visible()


def test_homes_slider_ends_where_a_quick_drag_ends(visit: Visits, idle: Idle) -> None:
    page = visit()
    slider = page.get_by_role("slider", name="Privacy budget")
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    for share in (0.4, 0.6, 0.3, 0.8, 0.1, 0.0):
        page.mouse.move(box["x"] + share * box["width"], middle)
    page.mouse.up()
    expect(page.get_by_text("hiding each of them at ε\u00a0=\u00a00.03 takes")).to_be_visible()
    idle(page)
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 0.03")
    page.get_by_role("link", name="Explore", exact=True).first.click()
    expect(page.get_by_role("heading", name="Explore")).to_be_visible()
    page.get_by_role("link", name="Home").click()
    expect(slider).to_have_attribute("aria-valuetext", "epsilon 0.03")
    title = page.locator("[data-testid=stMain] .js-plotly-plot .gtitle")
    expect(title).to_have_text(re.compile("at ε = 0.03$"))
    for key, epsilon in (("End", "30"), ("Home", "0.03")):
        slider.press(key)
        expect(page.get_by_text(f"hiding each of them at ε\u00a0=\u00a0{epsilon} takes")).to_be_visible()
        # The chart that was sent for 0.03 was turned to 30 before it went: that must not come back with it.
        page.get_by_role("link", name="Explore", exact=True).first.click()
        page.get_by_role("link", name="Home").click()
        idle(page)
        expect(title).to_have_text(re.compile(f"at ε = {epsilon}$"))


def test_moments_play_and_stop_at_the_last(visit: Visits, idle: Idle) -> None:
    page = visit(f"{LINK}&tab=policy&k=1")
    page.wait_for_selector("[data-testid=stMain] .js-plotly-plot", timeout=60_000)
    shown = page.locator("[data-testid=stMain] [data-testid=stSliderThumbValue]").first
    before = shown.inner_text()
    page.get_by_role("button", name="Play").click()
    page.wait_for_timeout(2500)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    idle(page)
    assert shown.inner_text() != before


def test_a_bad_link_is_answered_with_a_sentence(visit: Visits, idle: Idle) -> None:
    for query in ("c=eps.-1", "v=9&c=%00%ff~~~&tab=<script>", "c=" + "x" * 3000, "c=envp.S.1e99&k=--"):
        page = visit(f"explore?{query}")
        expect(page.get_by_text("Not all of this link could be used")).to_be_visible()


def test_when_privacy_is_free_is_seen_at_once_fits_and_its_link_shows_it_to_others(
    visit: Visits, screen: tuple[int, str], idle: Idle
) -> None:
    page = visit("free", *screen)
    page.wait_for_selector(CURVE, timeout=60_000)
    expect(page.get_by_text("privacy has become free with a trusted agent")).to_be_visible()
    assert fits(page)
    for view, title in (
        ("Regret", "Regret so far"),
        ("Growth", "How fast the price of privacy grows"),
        ("Theory", "What is proved, beside what is seen"),
    ):
        page.get_by_text(view, exact=True).click()
        expect(page.locator("[data-testid=stMain] .gtitle").first).to_contain_text(title)
        assert fits(page)
    page.get_by_text("Calculator", exact=True).click()
    idle(page)
    page.get_by_label("Budget ε", exact=True).fill("0.25")
    page.keyboard.press("Enter")
    idle(page)
    assert "eps=0.25" in page.url
    assert fits(page)
    other = visit("free" + page.url.partition("/free")[2], *screen)
    expect(other.get_by_label("Budget ε", exact=True)).to_have_value("0.25")


POINT = "[data-testid=stMain] .js-plotly-plot .scatterlayer .points path"
SWEEP = (
    "tradeoffs?v=1&b=envp.S.3~envp.H.3~K.20000~seeds.2&m=none&m=central&m=local"
    "&x=epsilon&at=1,10,100&show=price&share=1"
)


def test_trade_offs_are_seen_at_once_and_fit(visit: Visits, screen: tuple[int, str], idle: Idle) -> None:
    page = visit("tradeoffs", *screen)
    page.wait_for_selector(POINT, timeout=60_000)
    expect(page.get_by_text("falls like ε")).to_be_visible()
    assert fits(page)
    for view, seen in (
        ("Regret", "Regret at the end"),
        ("Users needed", "Users until privacy"),
        ("Table", "sweep.csv"),
    ):
        page.get_by_text(view, exact=True).first.click()
        expect(page.get_by_text(seen).first).to_be_visible()
        idle(page)
        assert fits(page), view


def test_a_sweep_runs_and_each_of_its_points_leads_to_its_run(visit: Visits, idle: Idle) -> None:
    page = visit(SWEEP)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.wait_for_selector(POINT, timeout=60_000)
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=60_000)
    idle(page)
    box = page.locator(POINT).first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    way = page.get_by_role("link", name="Open this run in Explore")
    expect(way).to_be_visible()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    way.click()
    expect(page.get_by_role("heading", name="Explore")).to_be_visible()
    expect(page.locator("[class*=st-key-chip_]")).to_have_count(2)
    idle(page)
    other = visit(copied.split("/", 3)[3])
    other.wait_for_selector(POINT, timeout=60_000)
    assert other.locator(".st-key-status_going").count() == 0  # it was computed for the first visitor
