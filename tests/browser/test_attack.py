"""Attack in a real browser: every control once, live histograms, and a link for others."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESK, PHONE, Visits
from tests.browser.seen import CURVE, TITLE, fits, idle

LINK = "attack?v=1&b=env.random~envp.S.2~envp.A.2~envp.H.2~K.1000~priv.local~mech.gaussian"


@pytest.mark.thorough
def test_each_control_of_attack_is_used_and_its_link_shows_it_to_others(visit: Visits) -> None:
    page = visit(LINK, *DESK)
    title = page.locator(TITLE)
    expect(title.filter(has_text="3,000 simulated releases")).to_be_visible(timeout=90_000)
    expect(page.get_by_text("Consistent with the proof")).to_be_visible()
    idle(page)
    assert fits(page)
    expect(title.filter(has_text="How well any test")).to_be_visible()
    page.get_by_text("One reward differs", exact=True).click()
    expect(page.get_by_text("nearer to each other than the guarantee")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="The two episodes").click()
    page.get_by_label("Second episode").fill("0/0/1 0/1/1")
    page.keyboard.press("Enter")
    idle(page)
    page.keyboard.press("Escape")
    idle(page)  # else a redraw may close the fold again
    page.get_by_text("About this chart").first.click()
    expect(page.get_by_text("6 counters in which")).to_be_attached(timeout=60_000)  # in a tab of the fold
    page.get_by_text("Farthest apart", exact=True).click()
    idle(page)
    page.get_by_text("Noise half as large").first.click()
    expect(page.get_by_text("Caught.")).to_be_visible(timeout=60_000)
    idle(page)
    assert "noise=half" in page.url
    assert fits(page)
    other = visit("attack" + page.url.partition("/attack")[2], *PHONE)
    expect(other.get_by_text("Caught.")).to_be_visible()
    other.get_by_role("button", name="The first user").click()
    expect(other.get_by_text("guesses right at most")).to_be_visible()
    idle(other)
    assert fits(other)
    other.close()
    for step, seen in (
        ("2. Two users subtract", "6 of 6 users are read without any error"),
        ("3. A tree", "0 of 6 users are read exactly"),
        ("1. The same noise for all", "differs by the same noise"),
    ):
        page.get_by_text(step, exact=True).click()
        expect(page.get_by_text(seen)).to_be_visible()
    idle(page)
    assert fits(page)
    page.wait_for_selector(CURVE)
    slider = page.get_by_role("slider", name="Believed before")
    slider.press("ArrowRight")
    expect(page.get_by_text("A belief of 51%")).to_be_visible()
    idle(page)
    assert "prior=51" in page.url
    assert fits(page)
