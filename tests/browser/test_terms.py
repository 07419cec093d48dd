"""What a term means is told to a mouse, a keyboard and a finger, and gets out of the way."""

from __future__ import annotations

from playwright.sync_api import expect

from dprl.messages.glossary import listed_terms
from tests.browser.barriers import barriers
from tests.browser.conftest import Visits
from tests.browser.seen import box_of

WORDS = listed_terms("online")


def test_a_term_tells_what_it_means_to_mouse_keyboard_and_finger(visit: Visits) -> None:
    page = visit("", 390)
    meaning = page.locator("#dprl-meaning")
    term = page.get_by_role("link", name="trusted curator").first
    expect(meaning).to_be_hidden()
    term.hover()
    expect(meaning).to_have_text(WORDS["Central model (JDP)"])
    expect(term).to_have_accessible_description(WORDS["Central model (JDP)"])
    box = box_of(meaning)
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert barriers(page) == []
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
    before = page.url
    term.click()
    expect(meaning).to_have_text(WORDS["Central model (JDP)"])
    assert page.url == before
    page.get_by_role("heading", level=1).click()
    expect(meaning).to_be_hidden()
    term.focus()
    page.keyboard.press("Tab")
    expect(meaning).to_have_text(WORDS["Shuffle model (SDP)"])
