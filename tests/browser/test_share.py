"""Handing on what is seen: a short link with its picture, pressed and opened as two people would."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, Visits, idle
from tests.browser.runs import SHORT, compared
from tests.figures.eyes import contrast


@pytest.mark.thorough
def test_a_short_link_is_made_and_opened(visit: Visits) -> None:
    page = visit(f"{compared(SHORT)}&tab=guarantee", width=390)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Make a short link").click()
    picture = page.get_by_alt_text("QR code of the short link")
    expect(picture).to_be_visible()
    (letters,) = re.findall(r"/explore\?s=([B-Z]{8})$", str(picture.get_attribute("alt")))
    other = visit(f"?s={letters}")  # typed by hand, without the page
    expect(other).to_have_url(re.compile(f"/explore\\?s={letters}$"))
    expect(other.get_by_role("tab", name="Guarantee")).to_have_attribute("aria-selected", "true")
    expect(other.locator(".st-key-chips")).to_contain_text("50")


@pytest.mark.thorough
def test_the_focus_is_seen_in_the_navigation_and_a_short_link_is_copied_without_scrolling(
    visit: Visits,
) -> None:
    page = visit("tradeoffs")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.keyboard.press("Tab")  # from here on the focus is a keyboard's
    entry = page.get_by_test_id("stTopNavLink").first
    entry.focus()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        line, color, ground = entry.evaluate(
            """entry => [getComputedStyle(entry).outline, getComputedStyle(entry).outlineColor,
              getComputedStyle(document.querySelector(".stApp")).backgroundColor]"""
        )
        assert "solid 2px" in line
        assert contrast(hexed(color), hexed(ground)) >= 3, (scheme, color, ground)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Make a short link").click()
    expect(page.get_by_alt_text("QR code of the short link")).to_be_visible()
    button = page.get_by_role("button", name="Copy short link").bounding_box()
    behind = page.get_by_test_id("stPopoverBody").bounding_box()
    assert button is not None
    assert behind is not None
    assert behind["y"] <= button["y"]
    assert button["y"] + button["height"] <= min(behind["y"] + behind["height"], 800)


# The scripts of components come when `free` is called, as on a busy machine.
HELD_SCRIPTS = """
window.held = new Promise((then) => { window.free = then; });
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => make.call(URL, blob.type === "text/javascript"
  ? new Blob(["await window.held;", blob], { type: blob.type }) : blob);
"""


@pytest.mark.thorough
def test_a_button_is_shown_when_it_can_be_pressed(visit: Visits) -> None:
    page = visit.window()
    page.add_init_script(HELD_SCRIPTS)
    page.goto(f"{visit.app.url}/users")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    button = page.get_by_text("Copy link", exact=True)
    expect(button).to_be_attached()
    assert not button.is_visible()
    assert not page.evaluate("dprlTest.rest(500)")
    page.evaluate("window.free()")
    idle(page)
    assert button.is_visible()


def hexed(color: str) -> str:
    """rgb(1, 2, 3) as #RRGGBB."""
    return "#" + "".join(f"{int(part):02X}" for part in re.findall(r"\d+", color)[:3])


@pytest.mark.thorough
def test_tab_leads_from_a_button_to_what_it_opens_and_on(visit: Visits) -> None:
    page = visit("tradeoffs")
    button, keys = page.get_by_role("button", name="Share"), page.keyboard
    button.focus()
    keys.press("Enter")
    behind = page.get_by_test_id("stPopoverBody")
    expect(behind).to_be_visible()
    keys.press("Tab")
    expect(behind.get_by_role("switch", name="Lock the settings")).to_be_focused()
    keys.press("Tab")
    expect(page.get_by_text("Whoever opens the link sees them")).to_be_visible()
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


@pytest.mark.thorough
def test_a_locked_link_shows_its_settings_and_opens_them_elsewhere(visit: Visits) -> None:
    page = visit(f"{compared(SHORT)}&lock=all,-epsilon")
    slider = page.get_by_role("slider")
    expect(slider.first).to_be_enabled()
    expect(page.get_by_label("Episodes K, exact value")).to_be_disabled()
    expect(page.get_by_role("combobox", name="Environment")).to_be_disabled()
    way = page.get_by_role("link", name="Open it without the lock")
    other = visit(f"explore{way.get_attribute('href')}")
    expect(other.get_by_label("Episodes K, exact value")).to_be_enabled()
    expect(other.get_by_text("Whoever made this link has locked")).to_have_count(0)


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1280, 390])
def test_a_sentence_is_typed_where_a_link_is_shared_and_read_above_the_view(
    visit: Visits, width: int
) -> None:
    page = visit("?eps=0.5", width=width)
    page.get_by_role("button", name="Share").click()
    field = page.get_by_label("A sentence for those who open the link")
    field.fill("Nobody is trusted here, and nothing is learned.")
    field.press("Enter")
    said = page.get_by_text("A message with this link: Nobody is trusted here, and nothing is learned.")
    expect(said).to_have_count(1)
    other = visit(page.url.split("/")[-1], width=width)
    read = other.get_by_text("A message with this link: Nobody is trusted here, and nothing is learned.")
    expect(read).to_be_in_viewport()
    other.get_by_role("button", name="Hide it").click()
    expect(read).to_have_count(0)
    expect(other).to_have_url(re.compile(r"\?(?!.*say=)"))


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
