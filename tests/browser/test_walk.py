"""Every control of a page is found, used by mouse and by keyboard, and does what it is there for without an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Visits
from tests.browser.controls import CannotUse, controls
from tests.browser.going import SHORT_WALKS, STOPS, Stop, walked
from tests.browser.hands import Hand, Keyboard, Mouse
from tests.browser.server import App

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


@pytest.mark.parametrize("hand", [Mouse, Keyboard], ids=["by-mouse", "by-keyboard"])
@pytest.mark.parametrize("page", SHORT_WALKS)
def test_everything_on_a_page_works(visit: Visits, page: str, hand: type[Hand]) -> None:
    walk = walked(visit, hand, STOPS[page])
    assert walk.faults == {}
    assert STOPS[page].used - walk.kinds_and_names == set()


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
    walk = walked(visit, Mouse, Stop(""))
    visit.end()
    faults = "; ".join(f"{control}: {fault}" for control, fault in walk.faults.items())
    assert "'A button that does nothing': nothing happens" in faults
    assert "'A button that fails'" in faults
    assert "planted" in faults
