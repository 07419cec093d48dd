"""Pages compute nothing: they read the store, and what workers say of a run without running it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dprl.links import encode_spec
from dprl.mdp import planning
from dprl.privacy import PRIVATIZERS
from dprl.runs.store import Store
from dprl.simulation import RunSpec, loops, online
from dprl.sitemap import PAGES
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView
from tests.pages.conftest import ASKED, Visit, Work, grouped, words
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
