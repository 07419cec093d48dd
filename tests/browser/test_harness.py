"""The harness itself, on small scripts: if it missed what goes wrong, no other browser test could fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.browser.conftest import Visits
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
    page.evaluate("fetch('/no-such-thing.json', {method: 'POST'})")
    page.evaluate("fetch('http://127.0.0.1:9/').catch(() => null)")
    problems = " ".join(visit.end())
    assert "console: planted" in problems
    assert "/no-such-thing.json" in problems
    assert "asks for an outside address: http://127.0.0.1:9/" in problems
