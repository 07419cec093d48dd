"""A download answers for as long as its button is seen, whatever its page or another visitor's does meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager, MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

import dprl
from dprl import OfflineSpec, RunSpec, bundle
from dprl.bundle import compare
from dprl.curves import RunCurves
from dprl.jobs.store import RunStatus, Store
from dprl.simulation import AttackSpec
from pages.attack import link as attack_link
from pages.attack.link import AttackView
from pages.free import link as free_link
from pages.free.link import FreeView
from pages.linear.record import LINEAR
from pages.linear.view import LinearView
from pages.offline.record import OFFLINE
from pages.offline.view import OfflineView
from pages.shared.results import again
from pages.shared.results.runs import Runs
from pages.shared.streamlit_internals import LastingFiles
from tests.pages.conftest import Visit, Work, grouped, press, words
from tests.problems import first


class Visitors:
    """A server whose visitors draw and press one button each."""

    def __init__(self, manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch) -> None:
        self.manager = manager
        self.now = "someone"
        monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: self.now)
        monkeypatch.setattr("pages.shared.streamlit_internals._get_session_id", lambda: self.now)

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
    return Visitors(LastingFiles(MemoryMediaFileStorage("/media")), monkeypatch)


def test_a_press_by_what_an_earlier_redraw_sent_gives_the_latest_file(visitors: Visitors) -> None:
    first = visitors.draw("someone", "1")
    visitors.end()
    visitors.draw("someone", "2")
    visitors.draw("someone", "3", place="0.2")  # and it has moved
    visitors.end()
    assert visitors.fetched(visitors.press(first)) == "3"


def test_visitors_get_their_own_files(visitors: Visitors) -> None:
    mine, yours = visitors.draw("me", "mine"), visitors.draw("you", "yours")
    assert mine != yours
    assert visitors.fetched(visitors.press(mine)) == "mine"
    assert visitors.fetched(visitors.press(yours)) == "yours"


def test_a_file_waits_for_its_browser_while_others_look(visitors: Visitors) -> None:
    url = visitors.press(visitors.draw("me", "mine"))
    for _ in "123":
        visitors.draw("you", "yours")
        visitors.draw("me", "later")
        visitors.end()
    assert visitors.fetched(url) == "mine"


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
        ("tradeoffs", {"b": "envp.S.3~envp.H.3~K.1000~seeds.1", "m": "none", "show": "table"}),
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
    assert before.items() <= after.items()  # the bundle comes with the last run


NOTHING = "Nothing has been computed yet."
ALWAYS = {"Citations (BibTeX)"}
BUNDLE = "Download replication bundle"
NUMBERS = {"CSV", "Parquet", "Download interactive chart"}
MIXTURE = RunSpec(environment="linear-mixture", algorithm="ucrl-vtr", episodes=100, seeds=1)
DATA = OfflineSpec(environment_params={"S": 3, "H": 3}, n=1000, seeds=1)
RUNS = {  # two on each page where numbers are downloaded
    "explore": [("c", "envp.S.3~envp.H.3~K.1000~seeds.1~eps.3"), ("c", "priv.none")],
    "linear": LINEAR.encode([MIXTURE, MIXTURE.twin()], LinearView()),
    "offline": OFFLINE.encode([DATA, DATA.twin()], OfflineView()),
}


@pytest.mark.parametrize("page", RUNS)
def test_before_anything_is_computed_that_is_said_and_files_are_offered_with_the_first_results(
    page: str, visit: Visit, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: dict[str, Callable[[], str | bytes]] = {}
    monkeypatch.setattr(again, "save", lambda name, label, mime, make: offered.__setitem__(label, make))
    app = visit(page, **{**grouped(RUNS[page]), "tab": "data"})
    assert NOTHING in words(app)
    assert set(offered) == ALWAYS
    assert app.dataframe.len == 0
    work(1)  # one of two runs
    app.run()
    assert NOTHING not in words(app)
    numbers = (
        NUMBERS - {"Download interactive chart"} if page == "explore" else NUMBERS
    )  # *Share* has a live page
    assert set(offered) == {*ALWAYS, *numbers}
    for label in numbers:
        content = offered[label]()
        assert len(content) > 200, label
    assert app.dataframe.len == 1


ATTACKED = RunSpec(
    environment="random", environment_params={"S": 2, "A": 2, "H": 2}, episodes=100, privacy="local"
)
LONG = free_link.BASE.replace(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=1)
BUNDLED = {  # of several runs or seeds
    **RUNS,
    "attack": attack_link.encode(AttackSpec(run=ATTACKED), AttackView()),
    "free": free_link.encode(LONG, FreeView()),
}
WITHOUT_TAB = {"attack", "free"}


@pytest.mark.parametrize("page", first(BUNDLED))
def test_the_bundle_of_a_page_is_that_of_the_package_and_comes_when_every_run_has_ended(
    page: str, visit: Visit, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: dict[str, Callable[[], str | bytes]] = {}
    monkeypatch.setattr(again, "save", lambda name, label, mime, make: offered.__setitem__(label, make))
    app = visit(page, **{**grouped(BUNDLED[page]), **({} if page in WITHOUT_TAB else {"tab": "data"})})
    work(1)  # one of two runs, or of the parts of one
    app.run()
    assert BUNDLE not in offered
    assert "The replication bundle comes when each run has ended." in words(app)
    work()
    app.run()
    content = offered[BUNDLE]()
    (tmp_path / "page.zip").write_bytes(content)  # type: ignore[arg-type]
    specs = compare.runs_in(bundle.files_in(tmp_path / "page.zip"))[0]
    own = dprl.compare({name: dprl.run(spec) for name, spec in specs.items()}).bundle(tmp_path / "own.zip")
    assert own.read_bytes() == content


def test_a_run_that_lacks_one_of_its_seeds_has_no_bundle_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(again, "save", lambda name, *_: made.append(name))
    monkeypatch.setattr(again.st, "caption", made.append)
    monkeypatch.setattr(again.data, "ends", lambda spec: np.array([3.0, np.nan]))
    monkeypatch.setattr(again.data, "status", lambda *_: RunStatus(state="running", seeds=2))
    again.offer_bundle({"a run": DATA.replace(seeds=2)}, "me")
    assert made == ["The replication bundle comes when each run has ended."]


@pytest.mark.parametrize("page", ["linear", "tradeoffs"])
def test_runs_that_come_with_the_program_are_computed_for_a_bundle(
    page: str, visit: Visit, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are kept with six digits, and of some the ends alone."""
    kept = RunCurves(np.array([100]), np.array([[2.0]]))
    monkeypatch.setattr(Runs, "bundled", lambda self, spec: kept)
    link = LINEAR.encode([MIXTURE], LinearView()) if page == "linear" else []
    small = {"b": "envp.S.3~envp.H.3~K.100~seeds.1", "m": "none", "at": "1", "show": "table"}
    app = visit(page, **(grouped(link) | {"tab": "data"} if page == "linear" else small))
    assert "A replication bundle needs 1 run computed in full" in words(app)
    press(app, "compute_bundle")
    assert "The replication bundle comes when each run has ended." in words(app)
    assert work() == 1
    app.run()
    assert BUNDLE in [button.proto.label for button in app.get("download_button")]


# Views whose runs all come with the program: runs of a bundle, and what the page says above its charts meanwhile.
WITH_THE_PROGRAM = {
    "free": (4, "By 10¹⁵ users the privacy cost grows no more"),
    "claims?claim=mistakes": (22, "1. "),
    "landscape?problem=random-tiny&K=1e3": (13, "needs the fewest users"),
    "home?eps=0.3": (4, "of V*. At **ε\u00a0=\u00a00.3** it takes"),
    "lessons?lesson=price&step=2&shown=yes": (3, "question 2 of 3"),
}


@pytest.mark.parametrize("address", first(WITH_THE_PROGRAM))
def test_a_view_of_many_runs_computes_them_for_a_bundle_and_goes_on_to_say_what_it_said(
    address: str, visit: Visit, store: Store
) -> None:
    page, _, query = address.partition("?")
    app = visit(page, **dict(parse_qsl(query)))
    runs, said = WITH_THE_PROGRAM[address]
    assert store.status.activity().runs_waiting == 0
    assert said in words(app)
    assert f"A replication bundle needs {runs} runs computed in full" in words(app)
    press(app, "compute_bundle")
    assert store.status.activity().runs_waiting == runs
    assert "The replication bundle comes when each run has ended." in words(app)
    assert said in words(app)
    press(app, "cancel")
    assert store.status.activity().runs_waiting == 0
    assert f"A replication bundle needs {runs} runs computed in full" in words(app)


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "link"), [("landscape", {"problem": "random-tiny", "K": "1e3"})])
def test_the_bundle_of_such_a_view_has_its_runs(
    page: str, link: dict[str, Any], visit: Visit, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: dict[str, Callable[[], str | bytes]] = {}
    monkeypatch.setattr(again, "save", lambda name, label, mime, make: offered.__setitem__(label, make))
    app = visit(page, **link)
    press(app, "compute_bundle")
    work()
    app.run()
    (tmp_path / "page.zip").write_bytes(offered[BUNDLE]())  # type: ignore[arg-type]
    specs = compare.runs_in(bundle.files_in(tmp_path / "page.zip"))[0]
    assert len(specs) == 13
    assert {spec.size for spec in specs.values()} == {1000}


# Of views without a tab Data: an algorithm that is on it, and a mechanism or privacy model.
CITED = {
    "home": ("DP-UCBVI", "One-hot questions"),
    "landscape": ("LDP-OBI", "Shuffle"),
    "users": ("DP-UCBVI", "One-hot questions"),
    "free": ("DP-UCBVI", "One-hot questions"),
    "attack": ("DP-UCBVI", "Central"),
    "lessons?lesson=trust": ("DP-UCBVI", "Local"),
    "claims?claim=jdp-additive": ("DP-UCBVI", "Central"),
}


@pytest.mark.parametrize("page", CITED)
def test_a_view_of_many_runs_says_what_to_cite_for_them(
    page: str, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: dict[str, Callable[[], str | bytes]] = {}
    monkeypatch.setattr(again, "save", lambda name, label, mime, make: offered.__setitem__(label, make))
    path, _, query = page.partition("?")
    visit(path, **dict(parse_qsl(query)))
    text = str(offered["Citations (BibTeX)"]())
    said = [line for line in text.splitlines() if line.startswith("% ")]
    for name in CITED[page]:
        assert any(line.startswith(f"% {name}") for line in said), (name, said)
    assert text.count("\n@") >= 3
