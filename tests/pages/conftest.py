"""The pages, run by Streamlit's AppTest on a store of their own; seeds are computed here, not by workers."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.elements.lib.mutable_popover_container import PopoverContainer
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from dprl.engine import kernels, source_digest
from dprl.runs.store import Store
from dprl.runs.turn import Order, Report, play
from dprl.simulation import RunSpec
from dprl.uploads import readings
from pages.explore.look import identity
from pages.shared.controls import panel
from pages.shared.controls.widgets import FOLD
from pages.shared.layout.terms import TERM
from pages.shared.results import data
from pages.shared.visitor import presence
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.state import ExploreState, PageState, Session
from tests.runs import disk as disks
from tests.runs import slots

ROOT = Path(__file__).parents[2]
LEVELS = {"title": 1, "header": 2, "subheader": 3}
FOLDS = ("environment", "more")  # of the settings
ABOUT = ("frontier", "attack_scores", "users_chart")  # charts whose folds are open

_begin = PagesManager.__init__


def _after_the_first_visitor(self: PagesManager, *args: Any, **kwargs: Any) -> None:
    """AppTest forgets before each run what a server learns from its first one: that app.py names the pages."""
    PagesManager.uses_pages_directory = False
    _begin(self, *args, **kwargs)


class Page(AppTest):
    """A visitor's page, which is looked at after every run. fails: whether a fault is planted in it."""

    fails = False

    def _run(self, *args: Any, **kwargs: Any) -> AppTest:
        found = super()._run(*args, **kwargs)
        if not self.fails:
            unbroken(self)
        return found


Part = TypeVar("Part", bound=PageState)
Visit = Callable[..., Page]  # of the fixture `visit`
Work = Callable[..., int]  # of the fixture `work`


def _ended(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for a script as AppTest does, but without looking a thousand times a second, which takes its time away."""
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    if thread.is_alive():
        runner.request_stop()
        runner.join()
        raise RuntimeError(f"AppTest script run timed out after {timeout}(s)")


class Looked:
    """The state of a page by the keys of its widgets: to look up one, Streamlit puts together all of it."""

    def __init__(self, state: SafeSessionState) -> None:
        self.state = state

    def __contains__(self, key: object) -> bool:
        return key in self.state._state

    def __getitem__(self, key: str) -> Any:
        return self.state._state[key]


def always(value: bool) -> property:
    return property(lambda self: value, lambda self, other: None)


@pytest.fixture(scope="session", autouse=True)
def _prepared_once() -> Iterator[None]:
    """Leave out what AppTest does at each visit or run, and what is drawn from the program alone."""
    scripts = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", list)
        patch.setattr(local_script_runner, "require_widgets_deltas", _ended)
        patch.setattr(SafeSessionState, "filtered_state", property(Looked))
        patch.setattr(PopoverContainer, "open", always(True))  # AppTest cannot press the button of a menu
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: scripts)
        patch.setattr(panel, "environment_picture", cache(panel.environment_picture))
        yield


_reports: dict[tuple[str, str], Report] = {}  # of what any test had computed: it follows from its key


def _computed(order: Order) -> Report:
    """What a worker reports at the end of a seed, or of a question, worked out once."""
    known = order.what, order.key
    if known not in _reports:
        _reports[known] = play(order, turn=1e9)
    return _reports[known]


ASKED = slots.Hand(_computed, plays="here")
SEEDS = slots.Hand(_computed, "away")


@cache
def _registered() -> dict[Any, Any]:
    """The pages that app.py names, by which AppTest finds them."""
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()._registered_pages


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> disks.Disk:
    """The disk of stores; ask for it before `store`."""
    return disks.install(monkeypatch)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The pages' store, empty, without workers; what pages ask is answered here, at once."""
    if "NUMBA_CACHE_DIR" not in os.environ:  # compiled kernels are the same wherever the store is
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(kernels(source_digest())))
    monkeypatch.setenv("DPRL_HOME", str(tmp_path))
    monkeypatch.setattr(presence, "network_address", lambda: "")  # AppTest has none
    monkeypatch.setattr(PagesManager, "__init__", _after_the_first_visitor)
    monkeypatch.setattr(readings, "by_process", lambda given, file: readings.read(file, given.asked))
    monkeypatch.setattr(readings, "in_thread", lambda work: work())
    st.cache_resource.clear()
    st.cache_data.clear()
    found = Store()
    answer = Store.answer

    def at_once(self: Store, question: str, spec: Any) -> str | None:
        text = answer(self, question, spec)
        if text is None:
            slots.work(self, ASKED)
            text = answer(self, question, spec)
        return text

    def opened_again() -> Store:
        """The same store, under the settings of now: a test may clear what the server shares to have others."""
        fresh = Store()
        for name in ("grace", "public", "link_seconds", "_caps"):
            setattr(found, name, getattr(fresh, name))
        found.rooms.allowed = fresh.rooms.allowed
        fresh.close()
        return found

    monkeypatch.setattr(Store, "answer", at_once)
    monkeypatch.setattr(Store, "begin", lambda self, *_, **__: self)
    monkeypatch.setattr(data, "opened", opened_again)
    yield found
    found.close()
    st.cache_resource.clear()


@pytest.fixture
def work(store: Store) -> Work:
    """work(most=...) computes seeds that wait, as a worker would; returns how many."""

    def compute(most: int = 1000) -> int:
        done = slots.work(store, SEEDS, most)
        store.results.write()
        return done

    return compute


@pytest.fixture
def visit(store: Store) -> Visit:
    """visit("explore", c=[...], tab="policy"): a new visitor on that page, with its folds open. visit("bare"): on
    Online without any curve, and with the default settings."""

    def open_page(page: str = "home", **query: Any) -> Page:
        app = Page(ROOT / "app.py", default_timeout=60)
        app._registered_pages = _registered()
        if page == "bare":
            page, session = "explore", Session()
            session.parts[ExploreState] = ExploreState(curves=[])
            session.drafts["explore"] = draft_of(RunSpec())
            app.session_state["session"] = session
        app.switch_page(path(page))
        for key, value in query.items():
            app.query_params[key] = value
        for name in FOLDS:
            app.session_state[f"{FOLD}{name}"] = True
        for name in ABOUT:
            app.session_state[f"{name}:about"] = True
        app.run()
        return app

    return open_page


@pytest.fixture
def finished(visit: Visit, work: Work) -> Visit:
    """finished("explore", c=[...]): who comes with this link when all that it starts has been computed."""

    def open_page(page: str, **query: Any) -> Page:
        visit(page, **query)
        work()
        return visit(page, **query)

    return open_page


@pytest.fixture
def reading(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Links are read, and start nothing: see opened.py."""
    monkeypatch.setattr(Store, "cost", lambda *_: (0.0, math.inf))  # more than a link may start
    yield
    if "session" in st.session_state:
        del st.session_state["session"]


def path(page: str) -> str:
    """The script of a page, as Streamlit names it."""
    return f"pages/{page}/page.py"


def go(app: AppTest, page: str) -> None:
    """To another page, or back to one, whose address says nothing then."""
    app.query_params.clear()
    app.switch_page(path(page)).run()


def kept(app: AppTest, kind: type[Part]) -> Part:
    """What the session keeps of a page."""
    found: Part = app.session_state["session"].part(kind)
    return found


def press(app: AppTest, key: str) -> None:
    app.button(key=key).click().run()


def follow(app: AppTest, query: dict[str, list[str]]) -> None:
    """A link, as a browser sends its text, into a page that is open."""
    app.query_params.clear()
    for key, values in query.items():
        app.query_params[key] = [value.encode("utf-8", "replace").decode() for value in values]
    app.run()


def widget(app: AppTest, kind: str, label: str) -> Any:
    """The only control of this kind with this label."""
    (found,) = [one for one in app.get(kind) if getattr(one, "label", "") == label]
    return found


def keyed(app: AppTest, kind: str, part: str) -> Any:
    """The only control of this kind with this in its key."""
    (found,) = [one for one in app.get(kind) if part in str(one.key)]
    return found


def choice(app: AppTest, option: str) -> Any:
    """The only row of buttons that offers this."""
    (found,) = [one for one in app.segmented_control if option in one.options]
    return found


def unbroken(app: AppTest) -> None:
    """Asserts that the page has no exception, no crash and no heading with a link to itself."""
    assert [e.value for e in app.exception] == []
    assert [e.value for e in app.error] == []
    assert [e.value for e in app.markdown if e.value.startswith("#") and not e.proto.hide_anchors] == []
    levels = [level for level in map(level_of, elements(app.main)) if level]
    assert [level for level in levels if level == 1] in ([], [1])  # none where the page could not be drawn
    assert [(a, b) for a, b in pairwise([0, *levels]) if b > a + 1] == []  # read aloud, a page has no gaps


def elements(node: Any) -> Iterator[Any]:
    """What stands in a part of a page, from top to bottom."""
    for child in getattr(node, "children", {}).values():
        yield from elements(child) if hasattr(child, "children") else (child,)


def level_of(element: Any) -> int:
    """Of a heading; 0 of all else."""
    if element.type in LEVELS:
        return LEVELS[element.type]
    found = re.match("(#+) ", element.value) if element.type == "markdown" else None
    return len(found[1]) if found else 0


def words(app: AppTest) -> str:
    """Everything the page says, as it is read."""
    return marked(app).replace("\\", "")


def marked(app: AppTest) -> str:
    """Everything the page says, as it was handed to Streamlit, without what its terms mean."""
    kinds = ("title", "markdown", "caption", "info", "warning", "error", "header")
    said = [plain(str(getattr(element, "value", ""))) for kind in kinds for element in app.get(kind)]
    return "\n".join([*said, *(element.proto.text for element in app.get("progress"))])


def warned(app: AppTest) -> str:
    return " ".join(str(warning.value) for warning in app.warning).replace("\\", "")


def plain(text: str) -> str:
    """A text without the meanings of its terms."""
    return re.sub(rf'\[([^\]]*)\]\({TERM} "[^"]*"\)', r"\1", text)


def sent(app: AppTest, widget: str, **value: Any) -> AppTest:
    """The page after a browser sent a value for a widget, by its id, whether or not it is still on the page."""
    states = app._tree.get_widget_states()
    states.widgets.add(id=widget, **value)
    return app._run(states)


def grouped(items: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Query parameters as a browser gives them, each key with all its values."""
    found: dict[str, list[str]] = {}
    for key, value in items:
        found.setdefault(key, []).append(value)
    return found


def tabs(app: AppTest) -> str:
    """The id of the tabs, as a browser knows it."""
    (found,) = app.get("tab_container")
    return str(found.proto.tab_container.id)


def charts(app: AppTest) -> list[Any]:
    """The charts of the page itself, as sent to the browser, without the drawing among the controls."""
    return [e.proto for e in app.main.get("plotly_chart")]


def traces(app: AppTest) -> list[dict[str, Any]]:
    """What is drawn in the first chart."""
    found: list[dict[str, Any]] = json.loads(charts(app)[0].spec)["data"]
    return found


def legend(app: AppTest) -> dict[str, dict[str, Any]]:
    """What stands in the legend of the first chart, by its name in one row."""
    shown = [trace for trace in traces(app) if trace.get("showlegend") is not False]
    return {trace.get("name", "").replace("<br>", " "): trace for trace in shown}


def names(app: AppTest) -> list[str]:
    return [trace.get("name", "") for trace in traces(app)]


def chip(app: AppTest, label: str, place: int) -> Any:
    """A button of the chip of the curve at a place of the comparison."""
    curves = app.session_state["session"].explore.curves
    return app.button(key=f"{label}:{identity(curves, place)}")
