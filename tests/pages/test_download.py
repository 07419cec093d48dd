"""A download answers for as long as its button is seen, whatever its page or another visitor's does meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager, MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dprl import OfflineSpec
from pages.offline.record import OfflineView
from pages.shared import streamlit_internals
from pages.shared.layout import chart
from pages.shared.streamlit_internals import LastingFiles
from pages.shared.visitor.links import encode_specs
from tests.pages.conftest import Visit, Work, grouped, words


class Visitors:
    """A server whose visitors draw and press one button each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.manager = LastingFiles(MemoryMediaFileStorage("/media"))
        self.now = "someone"
        for module in (media_file_manager, streamlit_internals):
            monkeypatch.setattr(module, "_get_session_id", lambda: self.now)

    def begin(self, visitor: str) -> None:
        """A visitor's script begins to run."""
        self.now = visitor
        self.manager.clear_session_refs()

    def draw(self, visitor: str, content: str, place: str = "0.1") -> str:
        """A button is drawn; returns the id by which its browser will ask."""
        self.now = visitor
        return self.manager.add_deferred(
            lambda: content, "text/csv", place, "regret.csv", element_id="save_regret.csv"
        )

    def end(self) -> None:
        """Somebody's script, or a part of a page that redraws itself, has ended."""
        self.manager.remove_orphaned_files()

    def press(self, id: str) -> str:
        """The address of the file."""
        return self.manager.execute_deferred(id)

    def fetched(self, url: str) -> str | None:
        file = self.manager.read_file(PurePosixPath(url).name)
        return file.content.decode() if file else None


@pytest.fixture
def visitors(monkeypatch: pytest.MonkeyPatch) -> Visitors:
    return Visitors(monkeypatch)


def test_a_press_by_what_an_earlier_redraw_sent_gives_the_latest_file(visitors: Visitors) -> None:
    first = visitors.draw("someone", "1")
    visitors.end()
    visitors.draw("someone", "2")
    visitors.draw("someone", "3", place="0.2")  # and it has moved
    visitors.end()
    assert visitors.fetched(visitors.press(first)) == "3"


def test_visitors_get_their_own_files_which_wait_for_their_browsers(visitors: Visitors) -> None:
    urls = [visitors.press(visitors.draw(who, f"{who}r own")) for who in ("me", "you")]
    for _ in "123":
        visitors.draw("you", "yours")
        visitors.draw("me", "later")
        visitors.end()
    assert [visitors.fetched(url) for url in urls] == ["mer own", "your own"]


def test_a_press_while_the_page_is_drawn_again_is_answered_though_another_visitor_s_is_done(
    visitors: Visitors,
) -> None:
    id = visitors.draw("me", "mine")
    visitors.begin("me")
    visitors.end()
    assert visitors.fetched(visitors.press(id)) == "mine"
    assert visitors.draw("me", "later") == id


def test_nothing_is_left_of_a_visitor_who_left_or_of_a_file_that_came(visitors: Visitors) -> None:
    id = visitors.draw("me", "mine")
    url = visitors.press(id)
    visitors.begin("me")
    visitors.draw("me", "later")
    visitors.end()
    visitors.end()
    assert visitors.fetched(url) is None
    url = visitors.press(id)
    visitors.manager.clear_session_refs("me")
    visitors.end()
    visitors.end()
    assert visitors.fetched(url) is None
    with pytest.raises(MediaFileStorageError, match="not found"):
        visitors.press(id)


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("explore", {"c": ["envp.S.3~envp.H.3~K.1000~seeds.2"], "tab": "data"}),
        ("tradeoffs", {"b": "envp.S.3~envp.H.3~K.1000~seeds.1", "m": "none", "show": "regret"}),
    ],
    ids=["explore", "tradeoffs"],
)
def test_what_a_page_redraws_is_kept_that_way(
    visit: Visit, work: Work, page: str, link: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """AppTest has another server for every run: here it keeps one."""
    kept = MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr("streamlit.testing.v1.app_test.MediaFileManager", lambda storage: kept)
    app = visit(page, **link)
    if page != "explore":
        app.button(key="run").click().run()
    work(1)
    app.run()
    before = {button.proto.label: button.proto.deferred_file_id for button in app.get("download_button")}
    assert all(before.values())
    assert len(before) >= 2
    work()
    app.run()
    app.run()
    after = {button.proto.label: button.proto.deferred_file_id for button in app.get("download_button")}
    assert before.items() <= after.items()


NOTHING = "Nothing has been computed yet."
ALWAYS = {"Citations (BibTeX)", "spec.json"}
NUMBERS = {"CSV", "Parquet", "Download interactive chart"}
DATA = OfflineSpec(environment_params={"S": 3, "H": 3}, n=1000, seeds=1)
RUNS = {  # two on each page where numbers are downloaded
    "explore": [("c", "envp.S.3~envp.H.3~K.1000~seeds.1~eps.3"), ("c", "priv.none")],
    "offline": encode_specs([DATA, DATA.baseline()], OfflineView()),
}


Offered = dict[str, Callable[[], str | bytes]]


@pytest.fixture
def offered(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> Offered:
    """What makes each file that pages offer, by its label."""
    found: Offered = {}
    visit("runs")  # a process draws Home before its first page
    monkeypatch.setattr(chart, "save", lambda name, label, make: found.__setitem__(label, make))
    return found


@pytest.mark.parametrize("page", RUNS)
def test_before_anything_is_computed_that_is_said_and_files_are_offered_with_the_first_results(
    page: str, visit: Visit, work: Work, offered: Offered
) -> None:
    app = visit(page, **{**grouped(RUNS[page]), "tab": "data"})
    assert NOTHING in words(app)
    assert set(offered) == ALWAYS
    assert app.dataframe.len == 0
    work(1)  # one of two runs
    app.run()
    assert NOTHING not in words(app)
    numbers = NUMBERS - ({"Download interactive chart"} if page == "explore" else set())  # it is in *Share*
    assert set(offered) == {*ALWAYS, *numbers}
    for label in numbers:
        content = offered[label]()
        assert len(content) > 150, label
    assert app.dataframe.len == 1


CITED = "home users tradeoffs attack lessons?lesson=trust&shown=yes papers?item=online/theorem-5-2"


@pytest.mark.parametrize("page", CITED.split())
def test_a_view_of_many_runs_says_what_to_cite_for_them(page: str, visit: Visit, offered: Offered) -> None:
    path, _, query = page.partition("?")
    visit(path, **dict(parse_qsl(query)))
    text = str(offered["Citations (BibTeX)"]())
    assert "% DP-UCBVI" in text
    assert text.count("\n@") >= 3
