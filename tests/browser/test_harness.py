"""The harness itself, on small scripts: if it missed what goes wrong, no other browser test could fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import LEFT, Visits
from tests.browser.controls import CannotUse, controls
from tests.browser.going import Stop, walked
from tests.browser.hands import Mouse
from tests.browser.server import App

FINE = """
import time
import plotly.graph_objects as go
import streamlit as st

st.title("A fine page")
slow = st.slider("slow", 0, 10, 0)
if slow:
    time.sleep(1)
st.plotly_chart(go.Figure(go.Scatter(x=[0, 1], y=[0, slow])))
st.write(f"slow is {slow}")
"""

BROKEN = """
import streamlit as st

st.title("A broken page")
raise RuntimeError("planted")
"""

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


def test_a_fine_page_is_loaded_drawn_and_without_problems(
    app_on: Callable[[str], App], visits_of: Callable[[App], Visits], idle: Callable[[Any], None]
) -> None:
    visit = visits_of(app_on(FINE))
    page = visit()
    assert page.locator(".js-plotly-plot .main-svg").count() > 0
    page.get_by_role("slider").press("ArrowRight")
    page.wait_for_function(
        "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'running'"
    )
    idle(page)
    assert page.get_by_text("slow is 1", exact=True).is_visible()
    assert visit.end() == []


def test_the_theme_follows_the_scheme_and_the_window_has_the_width(
    app_on: Callable[[str], App], visits_of: Callable[[App], Visits]
) -> None:
    visit = visits_of(app_on(FINE))
    seen = set()
    for width, scheme in ((1280, "light"), (390, "dark")):
        page = visit("", width, scheme)
        background = page.evaluate(
            "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
        )
        seen.add((page.evaluate("innerWidth"), background))
    assert seen == {(1280, "rgb(255, 255, 255)"), (390, "rgb(14, 17, 23)")}
    assert visit.end() == []


def test_an_exception_on_a_page_is_a_problem(
    app_on: Callable[[str], App], visits_of: Callable[[App], Visits]
) -> None:
    visit = visits_of(app_on(BROKEN))
    visit()
    problems = " ".join(visit.end())
    assert "error shown" in problems
    assert "traceback in the app's log" in problems


def test_console_errors_and_outside_addresses_are_problems(
    app_on: Callable[[str], App], visits_of: Callable[[App], Visits]
) -> None:
    visit = visits_of(app_on(FINE))
    page = visit()
    page.evaluate("console.error('planted')")
    page.evaluate("text => console.error(text)", f"{LEFT}.")
    page.evaluate("fetch('/no-such-thing.json', {method: 'POST'})")
    page.evaluate("fetch('http://127.0.0.1:9/').catch(() => null)")
    problems = " ".join(visit.end())
    assert "console: planted" in problems
    assert LEFT not in problems
    assert "/no-such-thing.json" in problems
    assert "asks for an outside address: http://127.0.0.1:9/" in problems


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
