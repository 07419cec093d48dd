"""The site that needs no server, as files without a network: followed, moved and read without barriers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from dprl.__main__ import main
from dprl.lessons import LESSONS
from dprl.messages import messages
from dprl.sitemap import PAGES
from pages.home.story import ORDER, story_content
from pages.shared.lessons.known import evidence
from tests.browser.barriers import barriers
from website import start

pytestmark = pytest.mark.thorough  # the site is written first; tests/test_website.py reads it always


@contextmanager
def opened(
    browser: Browser, file: Path, width: int = 1280, scheme: str = "light", *, still: bool = True
) -> Iterator[Page]:
    """A file from disk, without a network; nothing goes wrong and nothing is asked for elsewhere."""
    context = browser.new_context(
        offline=True,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce" if still else "no-preference",
    )
    page, asked, wrong = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(file.as_uri())
    yield page
    assert [url for url in asked if not url.startswith((file.parent.as_uri(), "data:", "blob:"))] == []
    assert wrong == []
    context.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of it, but nothing in the pages that play runs: tests/browser/test_one_page.py opens one."""
    out = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(start, "replays", lambda *_: {})
        patch.setattr(start, "page_of", lambda *_: "")
        for name, text in start.files():
            (out / name).write_text(text, encoding="utf-8")
    return out


def drawn(page: Page, number: int = 0) -> None:
    page.locator(f"#plot-{number}").scroll_into_view_if_needed()
    expect(page.locator(f"#plot-{number} .main-svg").first).to_be_visible()


def test_home_moves_with_its_slider_and_leads_on(browser: Browser, site: Path) -> None:
    with opened(browser, site / "index.html") as page:
        drawn(page)
        row = page.locator("#table-0 tbody tr").filter(has_text="Central")
        before = row.inner_text()
        page.get_by_label("Privacy budget").press("ArrowLeft")
        expect(page.locator("figcaption").first).to_contain_text("ε = 0.5")
        assert row.inner_text() != before
        page.get_by_role("link", name="Users needed").click()
        drawn(page)
        page.get_by_label("Environment").select_option(index=1)
        page.get_by_label("Your users K").press("End")
        expect(page.locator("#table-0 tbody")).to_contain_text("✓ Enough")
        lines = page.evaluate(
            "document.querySelector('#plot-0 .plot').layout.shapes.slice(-2).map(one => one.y0)"
        )
        assert lines == [0, 10**15]


def test_an_answer_is_behind_its_fold_and_its_chart_is_drawn_when_it_opens(
    browser: Browser, site: Path
) -> None:
    with opened(browser, site / "lessons.html") as page:
        page.get_by_role("link", name="Lesson 0").click()
        why = page.get_by_text(next(iter(LESSONS.values())).steps[0].why(evidence()))
        expect(why).to_be_hidden()
        page.get_by_text("Show the answer").first.click()
        expect(why).to_be_visible()
        expect(page.locator("details").first.locator(".main-svg").first).to_be_visible()


def test_a_prediction_is_drawn_and_compared_when_the_answer_opens(browser: Browser, site: Path) -> None:
    with opened(browser, site / "lesson-1.html") as page:
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
        expect(verdict.nth(2)).to_contain_text("1 of 4 names are correct.")


def test_the_story_is_told_first_and_keys_lead_through_it_to_the_chart(browser: Browser, site: Path) -> None:
    with opened(browser, site / "index.html", 390) as page:
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


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_every_scene_of_the_story_fits_and_stands_still_where_that_is_asked_for(
    browser: Browser, site: Path, size: tuple[int, int]
) -> None:
    with opened(browser, site / "index.html", size[0], "dark") as page:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        sections, bar = page.locator("#story section"), page.locator("#story .bar").bounding_box()
        assert bar is not None
        first = sections.first.locator(".told").bounding_box()
        assert first is not None
        assert first["y"] + first["height"] <= bar["y"]
        for section in sections.all():
            box = section.bounding_box()
            assert box is not None
            assert box["height"] <= size[1] - bar["height"]
        said = story_content()["learn"]["now"][-1]
        expect(sections.nth(ORDER.index("learn")).locator(".told")).to_have_text(said)
        slider = sections.nth(ORDER.index("noise")).get_by_role("slider")
        slider.press("Home")
        assert slider.get_attribute("aria-valuetext") == story_content()["noise"]["slider"]["spoken"][0]
        page.get_by_role("button", name="Skip to the chart").click()
        drawn(page)
        assert barriers(page) == []


@pytest.mark.parametrize("name", ["users.html", "lesson-3.html", "index.html", "papers.html", "lessons.html"])
def test_each_page_is_used_without_barriers(
    browser: Browser, site: Path, name: str, screen: tuple[int, str]
) -> None:
    width, scheme = screen
    with opened(browser, site / name, width, scheme) as page:
        if page.locator("figure").count():
            drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert barriers(page) == []


def test_the_command_writes_pages_that_play_their_runs(browser: Browser, tmp_path: Path) -> None:
    assert main(["web", "--out", str(tmp_path)]) == 0
    files = sorted(tmp_path.glob("live-*.html"))
    assert len(files) == len(start.played())
    for file in files:
        with opened(browser, file) as page:
            expect(page.locator("#played")).to_contain_text("Your browser has played", timeout=60_000)
            page.get_by_label("Average over").press("Home")
            expect(page.locator("#ends tbody tr").first.locator("td").last).to_have_text("1")
            page.get_by_role("link", name="Home").click()
            drawn(page)
    frame = '<iframe src="live-1.html" width="800" height="900" title="within"></iframe>'
    (tmp_path / "own.html").write_text(
        f'<!DOCTYPE html><html lang="en"><title>own</title>{frame}', encoding="utf-8"
    )
    with opened(browser, tmp_path / "own.html") as page:
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
    browser: Browser, tmp_path: Path
) -> None:
    """All that the command writes, wide and narrow, by day and by night: nothing is asked for, goes wrong, is wider
    than its window or is a barrier, with all answers open."""
    assert main(["web", "--out", str(tmp_path)]) == 0
    files = sorted(tmp_path.glob("*.html"))
    assert tmp_path / "index.html" in files
    reached = {tmp_path / "index.html"}
    for file in files:
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                with opened(browser, file, width, scheme) as page:
                    if file.name.startswith("live-"):
                        expect(page.locator("#played")).to_contain_text(
                            "Your browser has played", timeout=60_000
                        )
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
