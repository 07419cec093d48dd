"""The pages in a real browser: links, live runs, Back, a telephone, day and night, terms, and their scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from dprl.assets import WEB, classic
from dprl.figures.style import DARK, LIGHT, Theme
from dprl.messages.glossary import listed_terms
from dprl.sitemap import PAGES
from tests.browser.conftest import PHONE, Visits
from tests.browser.seen import CURVE, barriers, box_of, copied, finished, fits, idle, turn_to, uncovered
from tests.problems import first

QUICK = "envp.S.3~envp.H.3~K.100000~seeds.2"
LINK = f"explore?v=1&c={QUICK}~eps.50&c=priv.none&m=per-episode"
TABS = ("Regret", "Counts", "Policy", "Guarantee", "Data")
DATA = "offline?v=1&c=env.riverswim~envp.S.3~envp.H.3~alg.apvi~n.1e6~seeds.2&c=alg.dp-apvi~rho.1"
TABS_OF_DATA = ("Suboptimality", "Pessimism", "Policy", "Coverage", "Guarantee", "Data")


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
    assert page.url.endswith(link)  # the address follows the view
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
    expect(page.get_by_role("button", name="Remove", exact=True)).to_have_count(0)  # the next menu is closed
    page.get_by_text("Cumulative", exact=True).click()
    page.wait_for_url(lambda url: "m=" not in url)  # the first measure is in no link
    page.go_back()
    expect(page.locator("[class*=st-key-chip_]")).to_have_count(2)
    expect(page.get_by_text("Average regret per episode so far")).to_be_visible()
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
    """And nothing on it keeps anybody from reading or using it."""
    for path in PAGES:
        assert fits(finished(visit(path, *screen))), path
    for link, tabs in ((LINK, TABS), (DATA, TABS_OF_DATA)):
        page = finished(visit(link, *screen))
        for tab in tabs:
            page.get_by_role("tab", name=tab, exact=True).click()
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


def test_a_press_on_a_cell_opens_its_row_at_its_beginning(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit("papers", *screen)
    idle(page)
    assert fits(page)
    expect(page.get_by_text("hold here")).to_be_in_viewport()
    cell = box_of(page.locator(".js-plotly-plot .bars .point path").first)
    page.mouse.click(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
    expect(page.get_by_text("Holds here.").first).to_be_visible()
    idle(page)
    assert "item=online" in page.url
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0


def test_a_term_tells_what_it_means_to_mouse_keyboard_and_finger(visit: Visits) -> None:
    page, meanings = visit("", 390), listed_terms("online")
    meaning = page.locator("#dprl-meaning")
    term = page.get_by_role("link", name="trusted curator").first
    expect(meaning).to_be_hidden()
    term.hover()
    expect(meaning).to_have_text(meanings["Central model (JDP)"])
    expect(term).to_have_accessible_description(meanings["Central model (JDP)"])
    box = box_of(meaning)
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert barriers(page) == []
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
    before = page.url
    term.click()
    expect(meaning).to_have_text(meanings["Central model (JDP)"])
    assert page.url == before
    page.get_by_role("heading", level=1).click()
    expect(meaning).to_be_hidden()
    term.focus()
    page.keyboard.press("Tab")
    expect(meaning).to_have_text(meanings["Shuffle model (SDP)"])


@pytest.mark.thorough
def test_tab_leads_from_a_button_to_what_it_opens_and_on(visit: Visits) -> None:
    page = visit("tradeoffs")
    button, keys = page.get_by_role("button", name="Share"), page.keyboard
    button.focus()
    keys.press("Enter")
    behind = page.get_by_test_id("stPopoverBody")
    locks = behind.get_by_role("switch", name="Lock the settings")
    expect(locks).to_be_visible()
    keys.press("Tab")
    expect(locks).to_be_focused()
    keys.press("Tab")
    expect(page.get_by_text("Whoever opens the link sees the settings")).to_be_visible()
    keys.press("Shift+Tab")
    keys.press("Shift+Tab")
    expect(button).to_be_focused()
    within = "body => body.contains(document.activeElement)"
    keys.press("Tab")
    passed = 0
    while behind.evaluate(within):
        passed += 1
        keys.press("Tab")
    assert passed >= 4
    assert page.evaluate(
        "() => { const at = dprlTest.active().getBoundingClientRect(); return 0 < at.y && at.y < 400 }"
    )


def test_within_another_page_there_is_one_chart_with_its_sentence(
    visit: Visits, screen: tuple[int, str]
) -> None:
    page = visit("tradeoffs?show=regret&say=Look%20here.&embed=true", *screen)
    main = page.get_by_test_id("stMain")
    expect(main.locator(".js-plotly-plot:visible")).to_have_count(1)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_role("button", name="Share")).to_have_count(0)
    expect(page.get_by_role("heading")).to_have_count(0)
    expect(main.locator(".st-key-alone_words")).to_contain_text("halving ε multiplies")
    expect(page.get_by_text("Look here.")).to_be_visible()
    expect(main.locator(".st-key-alone_chart [data-testid=stCaptionContainer]")).to_contain_text("RiverSwim")
    expect(page).to_have_title("Trade-offs · Privacy in reinforcement learning")
    way = page.get_by_role("link", name="Open the whole page").get_attribute("href")
    assert way is not None
    assert "embed" not in way
    if screen != PHONE:
        return
    other = visit(f"tradeoffs{way}")
    expect(other.get_by_role("button", name="Copy link")).to_be_visible()
    assert "embed" not in other.url


def test_home_within_another_page_has_its_slider(visit: Visits) -> None:
    page = visit("?embed=true")
    expect(page.locator(".dprl-cards")).to_be_hidden()
    page.get_by_role("slider", name="Privacy budget").press("ArrowRight")
    expect(page.locator(".gtitle")).to_contain_text("at ε = 2")
    expect(page.get_by_role("link", name="Open the whole page")).to_have_attribute("href", "?v=1&eps=2")


def titles(page: Page) -> set[str]:
    """The colours of the charts' titles, as the browser says them."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.js-plotly-plot .gtitle')].map(e => getComputedStyle(e).fill)"
    )
    return set(found)


def ink(theme: Theme) -> str:
    """A theme's ink, as a browser says it."""
    return f"rgb({', '.join(str(int(theme.ink[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.mark.thorough
def test_chips_have_signs_and_charts_follow_day_and_night_on_every_page(visit: Visits) -> None:
    page = visit(LINK)
    for chip in page.locator(".st-key-chips [class*=st-key-chip_] button").all():
        sign = chip.evaluate("e => getComputedStyle(e, '::before').backgroundImage")
        assert sign.startswith('url("data:image/svg')
    now, after = ("light", LIGHT), ("dark", DARK)
    for path in ("explore", "tradeoffs", ""):
        turn_to(page, path)
        page.wait_for_selector(".js-plotly-plot .gtitle")
        idle(page)
        assert titles(page) == {ink(now[1])}
        now, after = after, now
        page.emulate_media(color_scheme=now[0])  # type: ignore[arg-type]
        page.wait_for_function(
            "ink => [...document.querySelectorAll('.js-plotly-plot .gtitle')].every("
            "e => getComputedStyle(e).fill === ink)",
            arg=ink(now[1]),
        )


@pytest.mark.parametrize(
    "path", first(["", "explore?embed=true", "users", "offline", "lessons?lesson=trust&step=1"])
)
def test_on_a_telephone_no_tool_of_a_chart_lies_over_its_title(visit: Visits, path: str) -> None:
    page = visit(path, 390)
    charts = page.locator("[data-testid=stMain] .js-plotly-plot:has(.gtitle)")
    charts.first.wait_for()
    for chart in charts.all():
        chart.hover()
        title, tools = box_of(chart.locator(".gtitle")), box_of(chart.locator(".modebar"))
        assert tools["height"] > 10
        assert title["y"] >= tools["y"] + tools["height"]
        drawn = box_of(chart)
        assert title["x"] >= drawn["x"]
        assert title["x"] + title["width"] <= drawn["x"] + drawn["width"]
        tool = chart.locator(".modebar-btn").first
        assert uncovered(tool)


def test_a_telephone_has_a_menu_that_says_so_and_help_for_fingers(visit: Visits) -> None:
    page = visit("explore", 390)
    opener = page.get_by_test_id("stExpandSidebarButton")
    assert opener.evaluate("e => getComputedStyle(e, '::after').content") == '"Menu"'
    box = box_of(opener)
    assert min(box["width"], box["height"]) >= 40
    opener.click()
    expect(page.get_by_test_id("stSidebar")).to_be_in_viewport(ratio=0.9)  # it has slid in
    idle(page)
    buttons = page.get_by_test_id("stTooltipIcon").get_by_role("button")
    sizes = buttons.evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).filter(r => r.width > 0).map(r => [r.width, r.height])"
    )
    assert len(sizes) >= 5
    assert min(min(size) for size in sizes) >= 40
    assert buttons.first.evaluate(  # nothing lies over it
        "e => { const r = e.getBoundingClientRect(); return [1, 39].every(x => [1, 39].every(y => "
        "e.contains(document.elementFromPoint(r.left + x, r.top + y)))); }"
    )
    menu, environment = page.get_by_test_id("stSidebarNav"), page.get_by_role("combobox", name="Environment")
    expect(menu).to_be_visible()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    page.get_by_role("button", name="Settings", exact=True).click()  # apart from the menu
    expect(environment).to_be_in_viewport()
    expect(menu).to_be_hidden()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    opener.click()
    expect(menu).to_be_visible()


SCRIPTS = sorted(path.name for path in WEB.glob("*.js"))
# A browser says of a text whether it is a program without running it.
READ = "text => { try { new Function(text); return ''; } catch (error) { return String(error); } }"


def test_every_script_is_a_program(browser: Browser) -> None:
    page = browser.new_page()
    texts = {name: f"\n{classic(name)}".replace("\nfunction (", "\nfunction named(") for name in SCRIPTS}
    wrong = {name: page.evaluate(READ, text) for name, text in texts.items()}
    assert {name: said for name, said in wrong.items() if said} == {}
    assert page.evaluate(READ, "function (") != ""
    page.close()


KEYS = """source => {
  document.body.innerHTML =
    '<div class="st-key-present_bar"><div class="st-key-present_next"><button></button></div></div>';
  let presses = 0;
  document.querySelector("button").onclick = () => { presses += 1; };
  const make = new Function(`${source}; return made;`)();
  const key = { key: "ArrowRight", bubbles: true };
  const press = () => { document.body.dispatchEvent(new KeyboardEvent("keydown", key)); };
  const first = make();
  press();
  first();
  press();  // put away, and not back yet
  const second = make();
  press();
  second();
  return new Promise((resolve) => setTimeout(() => { press(); resolve(presses); }, 2500));
}"""


def test_a_key_that_is_pressed_while_the_page_is_drawn_anew_is_not_lost(browser: Browser) -> None:
    page = browser.new_page()
    assert page.evaluate(KEYS, classic("present_keys.js").replace("\nfunction (", "\nfunction made(")) == 3
    page.close()
