"""Pages compute nothing but read the store and what workers say; each takes little of the server, and all in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.elements.lib.mutable_popover_container import PopoverContainer
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.runtime import Runtime
from streamlit.testing.v1.element_tree import Block

from dprl import streamlit_patches
from dprl.figures.picture import Picture
from dprl.links import encode_spec
from dprl.mdp import planning
from dprl.privacy import PRIVATIZERS
from dprl.research.series import place_of
from dprl.runs.store import Store
from dprl.simulation import OfflineSpec, RunSpec, loops, online
from dprl.sitemap import PAGES
from pages.shared import streamlit_internals
from pages.shared.controls.widgets import FOLD
from pages.shared.layout import chart, frame
from pages.shared.layout.frame import AT_ONCE, line, turn
from pages.shared.results import data
from pages.shared.results.data import SizedCache
from pages.shared.visitor.state import Session
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView
from tests.pages.conftest import ASKED, FOLDS, Visit, Work, always, grouped, words
from tests.runs import slots

LINK = "envp.S.3~envp.H.3~K.1000~seeds.2~priv.central"
TABS = ("regret", "counts", "policy", "guarantee", "data")


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and everything raises that plans, calibrates or simulates."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a page computes")

    def forbid() -> None:
        for module, name in (
            (planning, "optimum"),
            (planning, "occupancy"),
            (planning, "start_value"),
            (online, "guarantee_of"),
            (loops.SeedRun, "__init__"),
            (loops.EliminationRun, "__init__"),
        ):
            monkeypatch.setattr(module, name, refuse)
        for key, privatizer in PRIVATIZERS.items():
            monkeypatch.setitem(PRIVATIZERS, key, replace(privatizer, prepare=refuse))

    return forbid


@pytest.fixture
def silent(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store, whose workers answer nothing by themselves."""
    monkeypatch.setattr(Store, "answer", ASK)
    return store


ASK = Store.answer


def test_no_page_computes(visit: Visit, work: Work, silent: Store, forbidden: Callable[[], None]) -> None:
    visit("explore", c=[LINK])
    work()
    forbidden()
    for page in PAGES.values():
        visit(page.folder)
    for tab in TABS:
        visit("explore", c=[LINK], tab=tab)


def test_no_link_to_shuffled_episodes_is_calibrated_in_the_pages_process(
    visit: Visit, silent: Store, forbidden: Callable[[], None]
) -> None:
    """Each such K took a minute of the pages' process once."""
    run = RunSpec(schedule="episodic", episodes=999_997, privacy="shuffle")
    text = encode_spec(run)
    forbidden()
    study = SweepView(run, ("shuffle", "shuffle:binomial-tree:calibrated"), "episodes", (999_979, 999_983))
    for tab in TABS:
        visit("explore", c=[text], tab=tab)
    for show in ("price", "share", "users"):
        visit("tradeoffs", **grouped(studies.encode(replace(study, show=show))))
    visit("attack", b=text)


def test_a_page_is_drawn_again_until_the_answer_is_there(visit: Visit, silent: Store) -> None:
    app = visit("explore", c=[LINK], tab="guarantee")
    session = app.session_state["session"]
    assert "Computing the guarantee of this noise" in words(app)
    assert session.polling == {"results"}
    slots.work(silent, ASKED)
    app.run()
    assert "Proved as claimed" in words(app)
    assert "Computing the guarantee" not in words(app)
    assert session.polling == set()


MOST = {"explore": 105, "offline": 105}  # elements, each of which is made, hashed and sent at every use


def elements(block: Block) -> int:
    """All that is below a part of a page."""
    return sum(1 + (elements(one) if isinstance(one, Block) else 0) for one in block.children.values())


@pytest.mark.parametrize("page", MOST)
def test_a_use_sends_few_elements_and_makes_few_specs(
    visit: Visit, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit(page)
    for name in FOLDS:
        app.session_state[f"{FOLD}{name}"] = False
    monkeypatch.setattr(PopoverContainer, "open", always(False))
    made: list[Any] = []
    for kind in (RunSpec, OfflineSpec):

        def counted(spec: Any, check: Callable[[Any], None] = kind.__post_init__) -> None:
            made.append(spec)
            check(spec)

        monkeypatch.setattr(kind, "__post_init__", counted)
    app.run()
    assert 0 < elements(app._tree) <= MOST[page]
    assert 0 < len(made) <= 5


def test_what_is_kept_twice_takes_room_once_and_the_least_recently_used_goes() -> None:
    kept = SizedCache(100)
    kept.put("a", None, "first", 40)
    for _ in range(5):
        kept.put("b", "1", "second", 40)
    assert kept.get("a") == (None, "first")
    kept.put("c", None, "third", 40)
    assert [kept.get(key) is not None for key in "abc"] == [True, False, True]
    kept.put("d", None, "larger than all that may be kept", 400)
    assert [kept.get(key) is not None for key in "acd"] == [False, False, True]


def test_charts_with_much_in_them_are_kept_in_smaller_numbers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, points = 10**6, 40_000
    small = SizedCache(most)
    monkeypatch.setattr(chart, "cache_of_all", lambda: small)

    def draw(_: bool) -> Picture:
        figure = go.Figure({"type": "scattergl", "y": np.random.default_rng().random(points)})
        return Picture(figure, "a chart", "See.", pd.DataFrame())

    for place in range(12):
        chart.kept(("test", place), draw)
    kept = [place for place in range(12) if small.get(("picture", "test", place, False)) is not None]
    assert most / 2 < 8 * points * len(kept) < 1.1 * most
    assert kept[-1] == 11


def test_large_environments_are_kept_in_small_numbers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 8 * 2**20
    small = SizedCache(most)
    monkeypatch.setattr(data, "cache_of_all", lambda: small)
    spec = RunSpec(environment="random", environment_params={"S": 40, "A": 5, "H": 20})
    one = data.environment(spec).P.nbytes
    assert data.environment(spec) is data.environment(spec)
    others = [spec.replace(environment_params={**spec.environment_params, "seed": i}) for i in range(1, 12)]
    for other in others:
        data.environment(other)
    kept = sum(small.get(("environment", place_of(s))) is not None for s in [spec, *others])
    assert 1 <= kept <= most / one < 10


class Rerun(BaseException):
    """The whole page is run again."""


class Server:
    """A page with one part, on a server where drawing it takes so many seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.takes = 0.0
        self.pace: float | None = None
        self.part: Callable[[], None] = lambda: None
        self.session = Session()

        def fragment(part: Callable[[], None], run_every: float | None) -> Callable[[], None]:
            self.part, self.pace = part, run_every
            return part

        def rerun() -> None:
            raise Rerun

        monkeypatch.setattr(frame, "session", lambda: self.session)
        monkeypatch.setattr(frame.st, "fragment", fragment)
        monkeypatch.setattr(frame.st, "rerun", rerun)
        monkeypatch.setattr(frame.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(frame.time, "thread_time", lambda: self.now)
        monkeypatch.setattr(frame, "crowd", frame.Crowd())

    def draw(self, live: bool) -> None:
        self.now += self.takes

    def watched(self, seconds: float) -> tuple[int, int]:
        """How often the part, and the page, were drawn again in this time."""
        until, parts, pages = self.now + seconds, 0, 0
        frame.redrawn(self.draw, 0.4)
        while self.now < until:
            assert self.pace is not None
            self.now += self.pace
            try:
                self.part()
            except Rerun:
                pages += 1
                frame.redrawn(self.draw, 0.4)
            parts += 1
        return parts, pages


def test_what_takes_long_is_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    for takes, seconds, most, least in (
        (0.02, 40.0, (98, 0), (94, 0)),
        (0.5, 60.0, (39, 3), (1, 1)),  # of a large comparison; 67 at the pace of before
        (0.02, 60.0, (150, 5), (71, 1)),
    ):
        server.takes = takes
        parts, pages = server.watched(seconds)
        assert least[0] <= parts <= most[0]
        assert least[1] <= pages <= most[1]


def test_many_visitors_share_the_time_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    server.takes = 0.03
    sessions = [Session() for _ in range(40)]

    def whole_page() -> float | None:
        frame.redrawn(server.draw, 0.4)
        return server.pace

    for _ in range(5):  # until their cost is known
        for server.session in sessions:
            whole_page()
            server.part()
            with suppress(Rerun):
                server.part()
    assert whole_page() == pytest.approx(40 * 0.03 / frame.SHARE, rel=0.15)
    server.now += 60.0  # their runs have ended, or they have gone without a word
    assert whole_page() == 0.4


def test_a_browser_that_lags_behind_gets_no_parts_of_the_last_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else Streamlit answers it with that page again."""
    storage, here = MemoryFragmentStorage(), Session()
    run = SimpleNamespace(fragment_storage=storage)
    monkeypatch.setattr(streamlit_internals, "current_run", lambda: run)
    monkeypatch.setattr(frame, "session", lambda: here)
    monkeypatch.setattr(frame, "store", lambda: SimpleNamespace(notice="", going=len))
    for name in ("unseen", "dark", "wide"):
        monkeypatch.setattr(frame, name, lambda *_: None)
    there: list[bool] = []
    for name in ("runs", "runs", "explore"):
        page: Any = SimpleNamespace(url_path=name, run=lambda: there.append(storage.contains("part")))
        assert frame.show_page(page)
        storage.register("part", lambda: None)
    assert there == [False, True, False]


def test_pages_are_drawn_in_the_order_of_their_visitors() -> None:
    drawn: list[int] = []
    ends = [threading.Event() for _ in range(AT_ONCE)]

    def draw(visitor: int) -> None:
        with turn():
            drawn.append(visitor)
            if visitor < AT_ONCE:
                ends[visitor].wait()

    threads = [threading.Thread(target=draw, args=(visitor,)) for visitor in range(8)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        while len(line) < number:
            time.sleep(0.001)
    ends[0].set()  # the other turn stays taken
    for thread in threads[AT_ONCE:]:
        thread.join()
    assert drawn == list(range(8))
    ends[1].set()
    threads[1].join()
    assert not line


def test_a_page_that_has_a_turn_waits_for_no_other() -> None:
    with turn(), turn(), turn():
        pass


def test_a_sender_that_is_awake_is_not_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[object] = []
    monkeypatch.setattr(Runtime, "_enqueued_some_message", woken.append)
    streamlit_patches.wake_sender_once()
    mark = threading.Event()
    runtime: Any = SimpleNamespace(_get_async_objs=lambda: SimpleNamespace(need_send_data=mark))
    for _ in range(3):
        Runtime._enqueued_some_message(runtime)
        mark.set()
    assert woken == [runtime]
