"""Explore while something moves: Run in sight, what plays, one user's steps, and what is typed last."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.seen import SHORT, barriers, box_of, compared, uncovered


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_run_is_in_sight_wherever_the_settings_are_scrolled_to(
    visit: Visits, width: int, height: int
) -> None:
    page = visit("explore", width)
    page.set_viewport_size({"width": width, "height": height})
    if width < 768:
        page.get_by_role("button", name="Settings").click()
    run, settings = page.locator(".st-key-run button"), page.get_by_test_id("stSidebarContent")
    expect(settings).to_be_in_viewport(ratio=0.9)  # it has slid in
    page.get_by_text("Expert settings").click()
    page.get_by_role("textbox", name="Root seed").wait_for()
    page.wait_for_function(
        "() => (e => e.scrollHeight - e.clientHeight > 300)(document.querySelector('[data-testid=stSidebarContent]'))"
    )
    longer = settings.evaluate("e => e.scrollHeight - e.clientHeight")
    for share in (0, 0.5, 1):
        settings.evaluate("(e, top) => e.scrollTo(0, top)", share * longer)
        box = box_of(run)
        assert box["x"] >= 0
        assert 0 <= box["y"] <= height - box["height"]
        assert uncovered(run)


@pytest.mark.thorough
def test_the_page_stays_where_it_was_scrolled_to_when_a_run_ends(visit: Visits) -> None:
    page = visit("explore?v=1&c=env.gridworld~priv.local~K.1e15~seeds.3&c=priv.none")
    page.locator(".st-key-status_going").wait_for(state="detached")
    page.get_by_role("textbox", name="Privacy budget ε, exact value").fill("0.21")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="keep it").wait_for()
    page.keyboard.press("Control+Enter")
    page.locator(".st-key-status_going").wait_for()
    page.evaluate("""() => { window.heights = []; const main = document.querySelector("[data-testid=stMain]");
      const look = () => { window.heights.push(main.scrollHeight); requestAnimationFrame(look); }; look(); }""")
    page.locator(".st-key-status_going").wait_for(state="detached")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("() => Math.min(...window.heights) - innerHeight") >= 150


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1280, 390])
def test_a_user_walks_while_counts_fill(visit: Visits, width: int) -> None:
    page = visit(compared(SHORT), width=width)
    page.emulate_media(reduced_motion="no-preference")  # which other tests have
    page.reload()
    page.get_by_text("One user, step by step").click()
    box = page.locator(".one-user")
    box.scroll_into_view_if_needed()
    users, told, lost = box.locator("output"), box.locator(".told"), box.locator(".lost")
    slider = box.get_by_label("Users so far")
    slider.fill("0")
    first, early = users.inner_text(), box.locator(".content").last.get_attribute("height")
    slider.fill(str(slider.get_attribute("max")))
    expect(users).not_to_have_text(first)
    late = box.locator(".content").last.get_attribute("height")
    assert float(str(late)) > float(str(early))
    said = lost.inner_text()
    box.get_by_role("radio", name="Best policy").check()
    expect(lost).to_have_text("The best policy loses no reward.")
    box.get_by_role("radio", name="Learned policy").check()
    expect(lost).to_have_text(said)
    button = box.locator(".play")
    if button.inner_text() == "Pause":
        button.click()
    slider.fill("0")
    button.click()
    expect(button).to_have_text("Pause")
    expect(told).to_contain_text("Step 2 of 3")
    button.click()
    expect(button).to_have_text("Play")
    standing = told.inner_text()
    page.wait_for_timeout(600)
    assert told.inner_text() == standing
    picture = box.get_by_role("img")
    assert "One user passes through these states" in str(picture.get_attribute("aria-label"))


@pytest.mark.thorough
def test_nothing_moves_by_itself_where_no_motion_is_asked_for(visit: Visits) -> None:
    page = visit(compared(SHORT))
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    page.get_by_text("One user, step by step").click()
    box = page.locator(".one-user")
    box.scroll_into_view_if_needed()
    expect(box.locator(".play")).to_be_hidden()
    told = box.locator(".told")
    expect(told).to_contain_text("Step 3 of 3")
    page.wait_for_timeout(600)
    expect(told).to_contain_text("Step 3 of 3")


@pytest.mark.thorough
def test_it_and_a_shared_sentence_are_used_without_barriers(visit: Visits, screen: tuple[int, str]) -> None:
    page = visit(f"{compared(SHORT, SHORT.baseline())}&say=See+what+this+costs.", *screen)
    page.get_by_text("One user, step by step").click()
    expect(page.locator(".one-user .lost")).not_to_be_empty()
    assert barriers(page) == []
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_label("A sentence for those who open the link")).to_have_value("See what this costs.")
    assert barriers(page) == []
    page.keyboard.press("Escape")
    lesson = visit("lessons?lesson=trust", *screen)
    lesson.get_by_text("About RiverSwim").click()
    expect(lesson.locator(".one-user .lost")).not_to_be_empty()
    assert barriers(lesson) == []
