"""A page without a server: downloaded from *Share*, opened without a network, touched, and compared bit for bit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import dprl
from dprl.player import MOST_BYTES
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of
from tests.browser.conftest import Visits
from tests.browser.seen import SHORT, alone, box_of, compared

PRIVATE = SHORT.replace(epsilon=5.0)
# The first curve has a name of the visitor's own, which no link needs to repeat.
NAMED = [links.Curve(PRIVATE, name="Mine, ε = 5"), links.Curve(PRIVATE.baseline())]
LINK = f"explore?{query_of(links.encode(NAMED, links.AT_FIRST))}"
PLAYED = re.compile("Your browser has played")
DRAWN = """() => document.querySelector("#regret .plot").data
  .filter((trace) => trace.mode === "lines" && !trace.fill && trace.customdata).map(({ x, y }) => [x, y])"""


# Plays everything anew, with nothing but the first seed of each curve; then the rest.
FIRST_SEEDS = """() => {
  const { pool } = player, there = [...pool.found], want = pool.want;
  pool.found.clear();
  pool.want = () => {};
  player.play();
  for (const [key, result] of there) if (key.split(" ")[2] === "0") pool.found.set(key, result);
  player.due = 1;
  player.asked -= 60_000;  // the rest would take long
  player.draw();
  pool.want = want;
}"""


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
    return tmp_path_factory.mktemp("taken") / "runs.html"


def taken(visit: Visits, file: Path) -> Path:
    """The file as a visitor gets it, once for all tests here."""
    if not file.exists():
        page = visit(LINK)
        page.get_by_role("button", name="Share").click()
        page.get_by_role("button", name="Prepare the page").click()
        button = page.get_by_role("button", name="Download the page")
        expect(button).to_be_visible()
        with page.expect_download(timeout=30_000) as download:
            button.click()
        assert download.value.suggested_filename == "riverswim-central-vs-no-privacy.html"
        download.value.save_as(file)
        page.close()
    return file


@contextmanager
def opened(browser: Browser, file: Path, fragment: str = "", **how: Any) -> Iterator[Page]:
    """The file from disk, which has played."""
    with alone(browser, file, fragment, **how) as page:
        expect(page.locator("#played")).to_have_text(PLAYED)
        yield page


def compare(page: Page, specs: list[dprl.RunSpec], measure: str = "share") -> None:
    """What is drawn has the bits of the mean over the seeds of native runs, in the measure that is chosen."""
    expect(page.get_by_label("Measure shown")).to_have_value({"share": "0", "cumulative": "1"}[measure])
    drawn = page.evaluate(DRAWN)
    assert len(drawn) == len(specs)
    for (x, y), spec in zip(drawn, specs, strict=True):
        trace = dprl.run(spec)
        assert x == trace.at.tolist()
        rows = trace.values / trace.at / trace.seeds[0].v_star if measure == "share" else trace.values
        assert np.array_equal(np.array(y, float), rows.mean(axis=0)), spec.label()


@pytest.mark.thorough
def test_a_dragged_epsilon_draws_what_a_native_run_gives_bit_for_bit(
    visit: Visits, browser: Browser, file: Path
) -> None:
    assert taken(visit, file).stat().st_size <= MOST_BYTES
    with opened(browser, file) as page:
        compare(page, [PRIVATE, PRIVATE.baseline()])
        slider = page.get_by_label("Privacy budget ε")
        slider.press("ArrowRight")
        expect(page.locator("#ends")).to_contain_text("ε = 7")
        compare(page, [PRIVATE.replace(epsilon=7.0), PRIVATE.baseline()])
        page.get_by_label("Average over").press("ArrowRight")
        expect(page.locator("#ends tbody tr").first.locator("td").last).to_have_text("3")
        moved = PRIVATE.replace(epsilon=7.0, seeds=3)
        compare(page, [moved, moved.baseline()])
        expect(page.locator("#cards")).to_contain_text("Proved as claimed: (7, 10⁻⁶)")
        fragment = page.url.partition("#")[2]
        page.evaluate(FIRST_SEEDS)
        expect(page.locator("#played")).to_contain_text("The chart has 1 of 3 seeds so far")
        compare(page, [moved.replace(seeds=1), moved.baseline().replace(seeds=1)])
        page.evaluate("player.play()")
        expect(page.locator("#played")).to_have_text(PLAYED)
        compare(page, [moved, moved.baseline()])
    link = links.decode(parse_qs(fragment))
    assert link.problems == ()
    assert [curve.spec for curve in link.curves] == [moved, moved.baseline()]
    assert link.view == links.AT_FIRST


@pytest.mark.thorough
def test_a_link_of_the_dashboard_is_followed_and_a_wrong_one_gets_one_sentence(
    visit: Visits, browser: Browser, file: Path
) -> None:
    taken(visit, file)
    wanted = PRIVATE.replace(epsilon=0.3, seeds=4)
    fragment = compared(wanted, wanted.baseline()).replace("explore?", "#")
    with opened(browser, file, fragment) as page:
        expect(page.locator("#said")).to_be_empty()
        expect(page.locator("#ends")).to_contain_text("ε = 0.3")
        compare(page, [wanted, wanted.baseline()], "cumulative")
    for hostile in (
        "#<img src=x onerror=alert(1)>",
        compared(PRIVATE.replace(epsilon=0.123), PRIVATE.baseline()).replace("explore?", "#"),
        f"#{'x' * 200_000}",
    ):
        with opened(browser, file, hostile) as page:
            expect(page.locator("#said")).to_have_text(re.compile(r"^The link could not be used[^.]*\."))
            expect(page.locator("#ends")).to_contain_text("ε = 5")


def dragged(page: Page, slider: Locator, share: float) -> None:
    """The slider's knob is taken and moved to a share of its width."""
    slider.scroll_into_view_if_needed()
    box = box_of(slider)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + share * box["width"], y, steps=10)
    page.mouse.up()


@pytest.mark.thorough
def test_it_is_used_on_a_phone(visit: Visits, browser: Browser, file: Path) -> None:
    with opened(browser, taken(visit, file), width=NARROW, has_touch=True, is_mobile=True) as page:

        def fits() -> None:
            assert page.evaluate("document.documentElement.scrollWidth") <= NARROW

        fits()
        slider, ends = page.get_by_label("Privacy budget ε"), page.locator("#ends")
        before = page.locator("#regret figcaption").inner_text()
        dragged(page, slider, 1.0)
        expect(slider).to_have_attribute("aria-valuetext", "ε = 30")
        expect(ends).to_contain_text("ε = 30")
        expect(page.locator("#played")).to_have_text(PLAYED)
        page.wait_for_function(
            "location.hash.includes('eps.30~')"
        )  # the address follows when the knob is let go
        expect(page.locator("#regret figcaption")).not_to_have_text(before)
        dragged(page, slider, 0.0)
        expect(ends).to_contain_text("ε = 0.03")
        fits()
        for label, chosen in (
            ("Measure shown", "Regret so far"),
            ("Logarithmic axes", "neither"),
            ("Curve", "2"),
        ):
            menu = page.get_by_label(label, exact=True)
            menu.tap()
            expect(menu).to_be_focused()
            page.keyboard.press("Escape")
            menu.select_option(**({"index": 1} if chosen == "2" else {"label": chosen}))
            expect(page.locator("#played")).to_have_text(PLAYED)
            fits()
        expect(page.locator("#regret .ytitle")).to_contain_text("Regret")
        card = page.locator(".card").first
        card.evaluate("card => card.scrollIntoView()")  # at once: a card is replaced when a run has ended
        expect(card).to_contain_text("Proved as claimed: (0.03, 10⁻⁶)")
        box = box_of(card)
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= NARROW
        page.locator("summary").tap()
        expect(page.locator("details li").first).to_be_visible()
        fits()
        page.get_by_role("button", name="Restore the first settings").tap()
        expect(ends).to_contain_text("ε = 5")
        expect(page.get_by_label("Measure shown")).to_have_value("0")


@pytest.mark.thorough
def test_a_run_that_never_ends_freezes_nothing(visit: Visits, browser: Browser, file: Path) -> None:
    with opened(browser, taken(visit, file)) as page:
        page.evaluate(HANG)
        slider = page.get_by_label("Privacy budget ε")
        slider.press("ArrowRight")
        expect(page.locator("body.waiting")).to_have_count(1)
        page.get_by_label("Logarithmic axes").select_option(label="neither")  # the page answers
        expect(slider).to_have_attribute("aria-valuetext", "ε = 7")
        assert page.evaluate("player.pool.workers.every(({ asked }) => asked.length > 0)")
        slider.press("ArrowRight")
        expect(page.locator("#played")).to_have_text(PLAYED)
        expect(page.locator("body.waiting")).to_have_count(0)
        assert page.evaluate("window.ended") >= page.evaluate("player.pool.workers.length")
