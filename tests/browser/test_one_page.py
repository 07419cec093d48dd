"""A page without a server: downloaded from *Share*, opened from disk with the network off, and compared bit for bit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import dprl
from dprl.player import MOST_BYTES
from dprl.simulation.replay import replayed
from pages.shared.examples import ExploreExample
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of
from tests.browser.barriers import barriers
from tests.browser.conftest import Visits
from tests.browser.runs import SHORT, compared
from website.live import page_of, runs_of

PRIVATE = SHORT.replace(epsilon=5.0)
# The first curve has a name of the visitor's own, which no link needs to repeat.
NAMED = [links.Curve(PRIVATE, name="Mine, ε = 5"), links.Curve(PRIVATE.baseline())]
LINK = f"explore?{query_of(links.encode(NAMED, links.AT_FIRST))}"
REFUSED = re.compile(
    r"The link could not be used, and the page's own settings are shown: .*\.|This page does not .*"
)
PLAYED = re.compile("Your browser has played")
DRAWN = """() => document.querySelector("#regret .plot").data
  .filter((trace) => trace.mode === "lines" && !trace.fill && trace.customdata).map(({ x, y }) => [x, y])"""

# Whether the dashboard's chart has the lines of a live page, bit for bit.
SEEN = """drawn => drawn.every(([, there]) => [...document.querySelectorAll(".js-plotly-plot")].some((chart) =>
  (chart._fullData ?? []).some(({ y }) => y?.length === there.length && there.every((one, i) => one === y[i]))))"""
# Follows a fragment, and returns what is said of it.
FOLLOWED = """fragment => { history.replaceState(null, "", `#${fragment}`); player.follow();
  return document.querySelector("#said").textContent; }"""

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
def opened(
    browser: Browser, file: Path, fragment: str = "", width: int = 1280, scheme: str = "light"
) -> Iterator[Page]:
    """The file from disk, without a network: no request leaves it, and nothing goes wrong."""
    context = browser.new_context(
        offline=True,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page, asked, wrong = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{file.as_uri()}{fragment}")
    expect(page.locator("#played")).to_have_text(PLAYED)
    yield page
    assert [url for url in asked if not url.startswith((file.as_uri(), "data:", "blob:"))] == []
    assert wrong == []
    context.close()


def compare(page: Page, specs: list[dprl.RunSpec], measure: str = "share") -> None:
    """What is drawn has the bits of the mean over the seeds of native runs, in the measure that is chosen."""
    expect(page.get_by_label("What is drawn")).to_have_value({"share": "0", "cumulative": "1"}[measure])
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


@pytest.mark.thorough
def test_it_is_used_without_barriers(
    visit: Visits, browser: Browser, file: Path, screen: tuple[int, str]
) -> None:
    width, scheme = screen
    with opened(browser, taken(visit, file), width=width, scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert barriers(page) == []


@pytest.mark.thorough
def test_a_link_of_the_site_opens_the_same_view_on_a_dashboard_and_the_other_way_round(
    visit: Visits, browser: Browser, tmp_path: Path
) -> None:
    example = ExploreExample("Two", "They say so.", tuple(NAMED), links.AT_FIRST)
    file = tmp_path / "live-1.html"
    file.write_text(page_of(example, {spec: replayed(spec) for spec in runs_of([example])}, ""), "utf-8")
    with opened(browser, file) as page:
        page.get_by_label("Privacy budget ε").press("ArrowRight")
        expect(page.locator("#ends")).to_contain_text("ε = 7")
        there, drawn = page.url.partition("#")[2], page.evaluate(DRAWN)
    dashboard = visit(f"explore?{there}")
    expect(dashboard.locator(".st-key-chips")).to_contain_text("ε = 7")
    dashboard.wait_for_function(SEEN, arg=drawn)
    other = visit(compared(PRIVATE.replace(epsilon=0.3, seeds=4), PRIVATE.baseline().replace(seeds=4)))
    other.context.grant_permissions(["clipboard-read", "clipboard-write"])
    other.get_by_role("button", name="Share").click()
    other.get_by_role("button", name="Copy link", exact=True).click()
    expect(other.get_by_text("Link copied")).to_be_visible()
    copied = other.evaluate("navigator.clipboard.readText()")
    with opened(browser, file, f"#{copied.partition('?')[2]}") as page:
        expect(page.locator("#said")).to_be_empty()
        expect(page.locator("#ends")).to_contain_text("ε = 0.3")
        other.wait_for_function(SEEN, arg=page.evaluate(DRAWN))


@pytest.mark.thorough
def test_what_cannot_be_played_is_said_and_keeps_its_chart_with_stops(visit: Visits) -> None:
    page = visit(compared(PRIVATE.replace(mechanism="gaussian-toeplitz")))
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("its noise is made by an FFT before the run")).to_be_visible()
    expect(page.get_by_role("button", name="Prepare the page")).to_have_count(0)


@pytest.mark.thorough
def test_hostile_fragments_are_followed_or_refused_in_one_sentence(
    visit: Visits, browser: Browser, file: Path
) -> None:
    """A thousand of them: nothing is executed, and the page goes on."""
    taken(visit, file)
    rng = np.random.default_rng(0)
    link = compared(PRIVATE, PRIVATE.baseline()).removeprefix("explore?")
    words = ("__proto__", "%00", "constructor", "<img src=x onerror=hit()>", "1e999", "NaN")
    signs = [*"~.=&%#<>'\"\\{}[]\0\u202e9eE-+", *words]
    with opened(browser, file) as page:
        page.evaluate("() => { window.hit = () => { window.hits = 1; }; }")
        for number in range(1000):
            at, until = np.sort(rng.integers(0, len(link), 2))
            put = "".join(rng.choice(signs, int(rng.integers(0, 6))))
            kept = link[until:] if number % 3 else link[at:until]
            said = page.evaluate(FOLLOWED, link[:at] + put + kept)
            assert said == "" or REFUSED.fullmatch(said)
        page.evaluate("player.play()")
        page.get_by_label("Average over").press("Home")
        expect(page.locator("#ends tbody tr").first.locator("td").last).to_have_text("1")
        assert page.evaluate("[window.hits ?? 0, ({}).eps ?? 0]") == [0, 0]
