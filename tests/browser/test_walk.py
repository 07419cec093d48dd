"""Every control of a page is found, used by mouse and by keyboard, and does what it is there for without an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Visits
from tests.browser.controls import CannotUse, controls
from tests.browser.hands import Hand, Keyboard, Mouse
from tests.browser.server import App
from tests.browser.walk import Walk

UNKNOWN = """
import streamlit as st

st.title("A page")
st.html("<select><option>no test knows how to use it</option></select>", unsafe_allow_javascript=True)
"""
DEAD = """
import streamlit as st

st.title("A page")
st.html("<button onclick='' type='button'>A button that does nothing</button>", unsafe_allow_javascript=True)
if st.button("A button that fails"):
    raise RuntimeError("planted")
"""


def walked(visit: Visits, hand: type[Hand], path: str) -> Walk:
    """A walk over one page of the app, in which links out of it lead nowhere."""
    page = visit.window()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.context.route(lambda url: not url.startswith((visit.app.url, "data:", "blob:")), answer)
    walk = Walk(page, hand(page), visit.problems, visit.app.log)
    walk.over(lambda: page.goto(f"{visit.app.url}/{path}"))
    return walk


def answer(route: object) -> None:
    """In place of a page elsewhere."""
    route.fulfill(status=200, body="elsewhere")  # type: ignore[attr-defined]


@pytest.mark.parametrize("hand", [Mouse, Keyboard], ids=["by-mouse", "by-keyboard"])
def test_everything_on_the_home_page_works(visit: Visits, hand: type[Hand]) -> None:
    walk = walked(visit, hand, "")
    assert walk.faults == {}
    used = {(control.kind, control.name) for control in walk.used}
    assert used >= {
        ("slider", "Privacy budget"),
        ("button", "Copy link"),
        ("download", "Download plot as a PNG"),
        ("download", "Download as CSV"),
        ("expander", "The numbers drawn"),
        ("link", "Open this chart in Explore"),
        ("link", "Runs"),
    }


def test_a_widget_of_no_known_kind_is_an_error(
    app_on: Callable[[str], App], visits_of: Callable[[App], Visits]
) -> None:
    visit = visits_of(app_on(UNKNOWN))
    page: Page = visit()
    with pytest.raises(CannotUse, match="of no known kind"):
        controls(page)
    visit.end()


def test_what_does_nothing_or_fails_is_a_fault(
    app_on: Callable[[str], App], visits_of: Callable[[App], Visits]
) -> None:
    visit = visits_of(app_on(DEAD))
    walk = walked(visit, Mouse, "")
    visit.end()
    faults = "; ".join(f"{control}: {fault}" for control, fault in walk.faults.items())
    assert "'A button that does nothing': nothing happens" in faults
    assert "'A button that fails'" in faults
    assert "planted" in faults
