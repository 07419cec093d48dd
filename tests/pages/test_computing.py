"""Pages compute nothing: they read the store and what workers say; and one use of a page takes little of the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.elements.lib.mutable_popover_container import PopoverContainer
from streamlit.testing.v1.element_tree import Block

from dprl.figures.picture import Picture
from dprl.links import encode_spec
from dprl.mdp import planning
from dprl.privacy import PRIVATIZERS
from dprl.research.series import place_of
from dprl.runs.store import Store
from dprl.simulation import OfflineSpec, RunSpec, loops, online
from dprl.sitemap import PAGES
from pages.shared.controls.widgets import FOLD
from pages.shared.layout import chart
from pages.shared.results import data
from pages.shared.results.data import SizedCache
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
