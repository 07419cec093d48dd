"""The site that needs no server, as files without a network: followed, moved and read without barriers."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from dprl.__main__ import main
from dprl.messages import messages
from dprl.sitemap import PAGES
from pages.home.state import ORDER
from tests.browser.conftest import DESK, PHONE
from tests.browser.seen import alone, barriers

pytestmark = pytest.mark.thorough  # the site is written first; tests/test_website.py reads it always


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    assert main(["web", "--out", str(out)]) == 0
    return out


def drawn(page: Page, number: int = 0) -> None:
    page.locator(f"#plot-{number}").scroll_into_view_if_needed()
    expect(page.locator(f"#plot-{number} .main-svg").first).to_be_visible()


def test_home_moves_with_its_slider_and_leads_on(browser: Browser, site: Path) -> None:
    with alone(browser, site / "index.html") as page:
        drawn(page)
        row = page.locator("#table-0 tbody tr").filter(has_text="Central")
        before = row.inner_text()
        page.get_by_label("Privacy budget").press("ArrowLeft")
        expect(page.locator("figcaption").first).to_contain_text("ε = 0.5")
        assert row.inner_text() != before
        page.get_by_role("link", name="Papers", exact=True).click()
        drawn(page)


def test_a_prediction_is_drawn_and_compared_when_the_answer_opens(browser: Browser, site: Path) -> None:
    with alone(browser, site / "lesson-1.html") as page:
        verdict, fold = page.locator(".verdict"), page.get_by_text("Show the answer")
        slider = page.get_by_label("Your prediction").first
        slider.press("ArrowRight")
        said = page.locator("#guess-0 output").inner_text()
        expect(verdict.first).to_be_hidden()
        drawn(page, 1)
        stop = page.evaluate("document.querySelector('#plot-1 .plot').layout.shapes.at(-1).x0")
        assert said.startswith(f"{stop} ")
        fold.first.click()
        expect(verdict.first).to_contain_text(f"You predicted {said}, which is ")
        expect(slider).to_be_disabled()
        fold.first.click()
        expect(slider).to_be_enabled()
        page.get_by_label("Your prediction").nth(1).select_option(label="like √K")
        fold.nth(1).click()
        expect(verdict.nth(1)).to_contain_text("You chose “like √K”")
        page.get_by_label("Curve 1", exact=True).select_option(label="ε = 1")
        page.get_by_label("Curve 2", exact=True).select_option(label="ε = 1")
        expect(page.get_by_label("Curve 1", exact=True)).to_have_value("0")
        for curve, name in ((1, "No privacy"), (3, "ε = 0.1"), (4, "ε = 10")):
            page.get_by_label(f"Curve {curve}", exact=True).select_option(label=name)
        fold.nth(2).click()
        expect(verdict.nth(2)).to_contain_text("You named 1 of 4 curves correctly.")


def test_the_story_is_told_first_and_keys_lead_through_it_to_the_chart(browser: Browser, site: Path) -> None:
    with alone(browser, site / "index.html", width=390) as page:
        told, home = page.locator("#story .where"), page.locator("#home")
        expect(page.locator("#story section")).to_have_count(len(ORDER))
        for place in range(1, len(ORDER) + 1):
            expect(told).to_have_text(f"{place} of {len(ORDER) + 1}")
            page.keyboard.press("ArrowRight")
        expect(home.get_by_role("heading", name=messages("start")["home"]["title"])).to_be_focused()
        drawn(page)
        page.get_by_role("link", name=PAGES["lessons"].name).click()
        page.get_by_role("link", name=PAGES[""].name).click()
        expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
        expect(page.locator("#story section")).to_have_count(0)
        page.get_by_role("link", name=messages("start")["home"]["again"]).click()
        expect(page.locator("#story section").first).to_be_in_viewport()


def test_a_page_that_plays_runs_stands_within_another_one(
    browser: Browser, site: Path, tmp_path: Path
) -> None:
    shutil.copy(site / "live-1.html", tmp_path)
    frame = '<iframe src="live-1.html" width="800" height="900" title="within"></iframe>'
    (tmp_path / "own.html").write_text(
        f'<!DOCTYPE html><html lang="en"><title>own</title>{frame}', encoding="utf-8"
    )
    with alone(browser, tmp_path / "own.html") as page:
        within = page.frame_locator("iframe")
        expect(within.locator("#played")).to_contain_text("Your browser has played", timeout=60_000)
        expect(within.locator("nav")).to_be_hidden()
        expect(within.locator("#cards")).to_be_hidden()


def linked(page: Page, file: Path) -> list[Path]:
    """The files that a page of the site links to."""
    links = page.eval_on_selector_all("a[href]", "links => links.map(one => one.href)")
    here = [urlsplit(link) for link in links if link.startswith("file:")]
    return [Path(unquote(link.path)) for link in here if Path(unquote(link.path)) != file]


def test_every_page_of_the_site_stands_alone_and_leads_to_pages_that_are_there(
    browser: Browser, site: Path
) -> None:
    """Wide by night and narrow by day, with all answers open."""
    files = sorted(site.glob("*.html"))
    assert site / "index.html" in files
    reached = {site / "index.html"}
    for file, (width, scheme) in product(files, (DESK, PHONE)):
        with alone(browser, file, width=width, scheme=scheme) as page:
            if file.name.startswith("live-"):
                expect(page.locator("#played")).to_contain_text("Your browser has played", timeout=60_000)
                expect(page.locator("#policy .main-svg").first).to_be_visible()
            elif page.locator("[id^=plot-]:visible").count():
                page.locator("[id^=plot-]:visible").first.scroll_into_view_if_needed()
                expect(page.locator("[id^=plot-]:visible .main-svg").first).to_be_visible()
            page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, file.name
            assert barriers(page) == [], file.name
            to = linked(page, file)
            assert [one.name for one in to if not one.is_file()] == [], file.name
            reached.update(to)
    assert set(files) == reached
