"""A page that plays its runs, by touch, with its environment, and with a run that never ends. The page is made here:
tests/browser/test_one_page.py downloads one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dprl.simulation.replay import replayed
from pages.shared.online.played import played_page
from pages.shared.visitor import links
from tests.browser.runs import SHORT

pytestmark = pytest.mark.thorough  # tests/wasm plays and reads such pages in parts always

PRIVATE = SHORT.replace(epsilon=5.0)
GRID = SHORT.replace(environment="gridworld", environment_params={}, epsilon=5.0)
PLAYED = "Your browser has played"
NARROW = 390
# Every worker from now on hangs as soon as it is asked for a run.
HANG = """() => {
  const text = "self.onmessage = ({ data }) => { if (data.key) for (;;); };";
  const good = player.pool.url, terminate = Worker.prototype.terminate;
  player.pool.url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  for (const worker of player.pool.workers) { worker.worker.terminate(); player.pool.begun(worker); }
  player.pool.url = good;
  window.ended = 0;
  Worker.prototype.terminate = function () { window.ended += 1; terminate.call(this); };
}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    curves = [links.Curve(PRIVATE), links.Curve(PRIVATE.baseline()), links.Curve(GRID)]
    path = tmp_path_factory.mktemp("live") / "runs.html"
    path.write_text(played_page("Runs", curves, links.AT_FIRST, replayed), "utf-8")
    return path


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Callable[..., Page]]:
    """Opens the page without a network, in a context of its own; nothing goes wrong on it."""
    wrong: list[str] = []
    contexts = []

    def opening(**how: object) -> Page:
        context = browser.new_context(offline=True, **how)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(file.as_uri())
        expect(page.locator("#played")).to_contain_text(PLAYED)
        return page

    yield opening
    for context in contexts:
        context.close()
    assert wrong == []


def dragged(page: Page, slider: Locator, share: float) -> None:
    """A finger lies down on the slider's knob, and moves to a share of its width."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    at = float(slider.evaluate("({ value, max }) => value / max"))
    y, knob = box["y"] + box["height"] / 2, 16.0
    session = page.context.new_cdp_session(page)

    def finger(kind: str, place: float | None = None) -> None:
        inner = box["width"] - knob
        points = [] if place is None else [{"x": box["x"] + knob / 2 + place * inner, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    finger("touchStart", at)
    for step in range(1, 11):
        finger("touchMove", at + (share - at) * step / 10)
    finger("touchEnd")


def test_it_is_used_by_touch(opened: Callable[..., Page]) -> None:
    page = opened(viewport={"width": NARROW, "height": 844}, has_touch=True, is_mobile=True)

    def fits() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW

    fits()
    slider, ends = page.get_by_label("Privacy budget ε"), page.locator("#ends")
    before = page.locator("#regret figcaption").inner_text()
    dragged(page, slider, 1.0)
    expect(slider).to_have_attribute("aria-valuetext", "ε = 30")
    expect(ends).to_contain_text("ε = 30")
    expect(page.locator("#played")).to_contain_text(PLAYED)
    page.wait_for_function(
        "location.hash.includes('eps.30~')"
    )  # the address follows when the finger has gone
    expect(page.locator("#regret figcaption")).not_to_have_text(before)
    dragged(page, slider, 0.0)
    expect(ends).to_contain_text("ε = 0.03")
    fits()
    for label, chosen in (
        ("What is drawn", "Regret so far"),
        ("Logarithmic axes", "neither"),
        ("Curve", "3"),
    ):
        menu = page.get_by_label(label, exact=True)
        menu.tap()
        expect(menu).to_be_focused()
        page.keyboard.press("Escape")
        menu.select_option(**({"index": 2} if chosen == "3" else {"label": chosen}))
        expect(page.locator("#played")).to_contain_text(PLAYED)
        fits()
    expect(page.locator("#regret .ytitle")).to_contain_text("Regret")
    card = page.locator(".card").first
    card.evaluate("card => card.scrollIntoView()")  # at once: a card is replaced when a run has ended
    expect(card).to_contain_text("Proved as claimed: (0.03, 10⁻⁶)")
    box = card.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= NARROW
    page.locator("summary").tap()
    expect(page.locator("details li").first).to_be_visible()
    fits()
    page.get_by_role("button", name="Go back to the first settings").tap()
    expect(ends).to_contain_text("ε = 5")
    expect(page.get_by_label("What is drawn")).to_have_value("0")


def test_each_environment_is_drawn_once_in_the_colours_of_the_day(opened: Callable[..., Page]) -> None:
    page = opened(color_scheme="light")
    pictures = page.locator("#worlds figure")
    expect(pictures.locator(".main-svg").first).to_be_visible()
    expect(pictures).to_have_count(2)
    expect(pictures.first).to_contain_text("RiverSwim, with 3 states, 2 actions and 3 steps.")
    expect(pictures.last).to_contain_text("Gridworld, with 11 states")
    first, second = (one.bounding_box() for one in pictures.locator(".plot").all())
    assert first is not None
    assert second is not None
    assert first["x"] + first["width"] <= second["x"]
    drawn = "() => JSON.stringify([...document.querySelectorAll('#worlds .plot')].map(({ data }) => data))"
    by_day = page.evaluate(drawn)
    page.get_by_label("Privacy budget ε").press("ArrowRight")
    expect(page.locator("#ends")).to_contain_text("ε = 7")
    assert page.evaluate(drawn) == by_day
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"before => ({drawn})() !== before", arg=by_day)
    expect(pictures).to_have_count(2)


def test_a_run_that_never_ends_freezes_nothing(opened: Callable[..., Page]) -> None:
    page = opened()
    page.evaluate(HANG)
    slider = page.get_by_label("Privacy budget ε")
    slider.press("ArrowRight")
    expect(page.locator("body.waiting")).to_have_count(1)
    page.get_by_label("Logarithmic axes").select_option(label="neither")  # the page answers
    expect(slider).to_have_attribute("aria-valuetext", "ε = 7")
    assert page.evaluate("player.pool.workers.every(({ asked }) => asked.length > 0)")
    slider.press("ArrowRight")
    expect(page.locator("#played")).to_contain_text(PLAYED)
    expect(page.locator("body.waiting")).to_have_count(0)
    assert page.evaluate("window.ended") >= page.evaluate("player.pool.workers.length")
