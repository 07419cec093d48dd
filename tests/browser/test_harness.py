"""The harness itself, on small scripts: if it missed what goes wrong, no other browser test could fail."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.conftest import LEFT, Visits
from tests.browser.controls import CannotUse, controls
from tests.browser.going import Stop, walked
from tests.browser.hands import Mouse
from tests.browser.seen import idle
from tests.browser.server import ROOT, App, start

pytestmark = pytest.mark.thorough  # of what the tests are made of, not of the app

# One page each, by what its address names.
SCRIPT = """
import time
import plotly.graph_objects as go
import streamlit as st

kind = st.query_params.get("kind", "fine")
st.title(f"A {kind} page")
if kind == "fine":
    slow = st.slider("slow", 0, 10, 0)
    if slow:
        time.sleep(1)
    st.plotly_chart(go.Figure(go.Scatter(x=[0, 1], y=[0, slow])))
    st.write(f"slow is {slow}")
elif kind == "broken":
    raise RuntimeError("planted")
elif kind == "unknown":
    st.html("<select><option>no test knows how to use it</option></select>", unsafe_allow_javascript=True)
elif kind == "dead":
    st.html("<button onclick='' type='button'>A button that does nothing</button>", unsafe_allow_javascript=True)
    if st.button("A button that fails"):
        raise RuntimeError("planted")
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The script, served as the app is."""
    file = tmp_path_factory.mktemp("small") / "app.py"
    file.write_text(SCRIPT)
    command = [sys.executable, "-m", "streamlit", "run", str(file), "--server.address", "127.0.0.1"]
    running = start(lambda port: [*command, "--server.port", str(port)], ROOT, file.parent / "home")
    yield running
    assert running.end() == []


@pytest.fixture
def visit(windows: BrowserContext, small: App) -> Visits:
    """As everywhere, but each test ends its visits itself, to see what they met."""
    return Visits(windows, small)


def test_a_fine_page_is_loaded_drawn_and_without_problems(visit: Visits) -> None:
    page = visit()
    assert page.locator(".js-plotly-plot .main-svg").count() > 0
    page.get_by_role("slider").press("ArrowRight")
    page.wait_for_function(
        "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'running'"
    )
    idle(page)
    assert page.get_by_text("slow is 1", exact=True).is_visible()
    assert visit.end() == []


def test_the_theme_follows_the_scheme_and_the_window_has_the_width(visit: Visits) -> None:
    seen = set()
    for width, scheme in ((1280, "light"), (390, "dark")):
        page = visit("", width, scheme)
        background = page.evaluate(
            "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
        )
        seen.add((page.evaluate("innerWidth"), background))
    assert seen == {(1280, "rgb(255, 255, 255)"), (390, "rgb(14, 17, 23)")}
    assert visit.end() == []


def test_an_exception_on_a_page_is_a_problem(visit: Visits) -> None:
    visit("?kind=broken")
    problems = " ".join(visit.end())
    assert "error shown" in problems
    assert "traceback in the app's log" in problems


def test_console_errors_and_outside_addresses_are_problems(visit: Visits) -> None:
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


def test_a_widget_of_no_known_kind_is_an_error(visit: Visits) -> None:
    page: Page = visit("?kind=unknown")
    with pytest.raises(CannotUse, match="of no known kind"):
        controls(page)
    visit.end()


def test_what_does_nothing_or_fails_is_a_fault(visit: Visits) -> None:
    walk = walked(visit, Mouse, Stop("?kind=dead", everywhere=True))
    visit.end()
    faults = "; ".join(f"{control}: {fault}" for control, fault in walk.faults.items())
    assert "'A button that does nothing': nothing happens" in faults
    assert "'A button that fails'" in faults
    assert "planted" in faults
