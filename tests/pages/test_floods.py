"""What a link may start by itself, what a tab leases, what Runs lists of it, and what is public."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

from dprl.links import encode_spec
from dprl.runs.store import Store
from dprl.simulation import OfflineSpec, RunSpec
from dprl.sitemap import PAGES, Page
from dprl.words import plural
from pages.offline.record import OfflineView
from pages.shared.visitor import links, presence, state
from pages.shared.visitor.links import Curve, View
from pages.shared.visitor.presence import Presence
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView
from tests.pages.conftest import Visit, go, grouped, press, words
from tests.problems import first

# Eight curves of a hundred seeds, some minutes each.
HEAVY = RunSpec(
    environment_params={"S": 20, "H": 50}, episodes=10**6, schedule="episodic", seeds=100, privacy="none"
)
LIGHT = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=2)
NEXT, LAST = LIGHT.replace(root_seed=1), LIGHT.replace(root_seed=2)


def explore(*specs: RunSpec) -> dict[str, list[str]]:
    return grouped(links.encode([Curve(spec) for spec in specs], View()))


def waiting(store: Store) -> int:
    return store.activity().seeds_queued


def set_up(monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    """What the server shares is made again under these settings."""
    for name, value in settings.items():
        monkeypatch.setenv(f"DPRL_{name}", value)
    st.cache_resource.clear()


def test_a_link_that_would_take_days_starts_nothing_and_says_what_it_costs(
    visit: Visit, store: Store
) -> None:
    app = visit("explore", **explore(*(HEAVY.replace(root_seed=i) for i in range(8))))
    assert waiting(store) == 0
    assert "not computed: 800 seeds, about 1" in words(app)
    assert " h on one core." in words(app)
    press(app, "begin")
    assert waiting(store) == 800  # the visitor's machine, the visitor's choice


SMALLEST = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 2}, episodes=1000, seeds=2)
OFFLINE = OfflineSpec(environment_params={"S": 3, "H": 3}, n=10**4, seeds=2)
SWEEP = SweepView(SMALLEST, ("none", "central"), "epsilon", (1.0, 10.0, 100.0))
OTHERS: dict[str, dict[str, list[str]]] = {
    "tradeoffs": grouped(studies.encode(SWEEP)),
    "tradeoffs users": grouped(studies.encode(replace(SWEEP, show="users"))),
    "offline": grouped(links.encode_specs([OFFLINE], OfflineView())),
    "offline policy": grouped(links.encode_specs([OFFLINE], OfflineView(tab="policy"))),
    "attack": {"b": [encode_spec(SMALLEST)]},
}


@pytest.mark.parametrize("name", first(OTHERS, lambda name: " " in name))
def test_no_page_starts_more_than_a_link_may(
    visit: Visit, store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    page = name.split()[0]
    monkeypatch.setenv("DPRL_LINK_SECONDS", "0")
    app = visit(page, **OTHERS[name])
    assert waiting(store) == 0
    assert "on one core" in words(app)
    assert "in a moment" not in words(app)
    monkeypatch.delenv("DPRL_LINK_SECONDS")
    set_up(monkeypatch)
    visit(page, **OTHERS[name])
    assert waiting(store) > 0


def test_what_a_link_has_started_counts_against_what_it_starts_later(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search for a crossing, or a close look, asks for one run after another."""
    own = state.Session()
    monkeypatch.setattr(state, "session", lambda: own)
    monkeypatch.setattr(state.store(), "link_seconds", 1.5 * store.cost([NEXT])[1])
    assert [state.begin([spec], own.visitor) for spec in (NEXT, LAST)] == [True, False]
    assert waiting(store) == 2


def test_loaded_anew_a_page_goes_on_waiting_for_what_its_link_may_not_start(
    visit: Visit, store: Store
) -> None:
    app = visit("explore", **explore(HEAVY))
    app.button(key="begin").click().run()
    assert waiting(store) == 100
    visit("explore", **explore(HEAVY))
    store.cancel(HEAVY, app.session_state["session"].visitor)
    assert waiting(store) == 100


def close_tabs(store: Store) -> int:
    """All tabs have been gone for longer than the grace; how many there were."""
    store._queue.tabs = {tab: seen - 46 for tab, seen in store._queue.tabs.items()}
    return store._queue.withdraw(store.grace)


def test_what_a_link_started_ends_with_its_tab(visit: Visit, store: Store) -> None:
    app = visit("explore", **explore(LIGHT))
    assert close_tabs(store) == 1
    assert waiting(store) == 0
    app.run()
    assert "Cancelled" in words(app)
    app.button(key="begin").click().run()
    assert waiting(store) == 2


def test_what_was_pressed_lasts_on_ones_own_machine_and_ends_with_the_tab_in_public(
    visit: Visit, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for public in (0, 1):
        set_up(monkeypatch, PUBLIC=str(public))
        app = visit("bare")
        app.session_state["session"].draft.root_seed = public + 1
        app.button(key="run").click().run()
        close_tabs(store)
        assert waiting(store) == 10  # with its baseline


def test_in_public_a_cap_is_said_with_what_would_fit(
    visit: Visit, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(monkeypatch, PUBLIC="1", TAB_SEEDS="3")
    app = visit("explore", c=["seeds.2"])
    app.session_state["session"].draft.epsilon = 0.7
    app.session_state["session"].draft.seeds = 5
    app.run()
    assert app.session_state["session"].explore.drafts == []  # it is too much for a draft, which is no fault
    app.button(key="run").click().run()
    [toast] = app.toast
    assert toast.value.replace("\\", "") == (
        "Not started: at most 3 seeds may wait for one tab, and 2 already do. "
        "Of 5 seeds requested, 1 seed would fit now."
    )


def test_the_store_is_told_who_is_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[str]] = []

    def present(self: Store, tabs: Any) -> set[str]:
        told.append(sorted(tabs))
        return {"ann"}

    monkeypatch.setattr(Store, "present", present)
    watched, connected = Presence(), {"1", "2"}
    watched.tabs |= {"1": "ann", "2": "bob"}
    watched.look(connected.__contains__)
    watched.look(connected.__contains__)  # of bob the store knows nothing any more
    connected.remove("1")
    watched.look(connected.__contains__)
    assert told == [["ann", "bob"], ["ann"], []]


def test_an_address_is_kept_as_a_digest_that_nobody_can_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(st.context), "ip_address", "198.51.100.7")
    found = presence.network_address()
    assert len(found) == 16
    assert found != hashlib.blake2b(b"198.51.100.7", digest_size=8).hexdigest()
    monkeypatch.setattr(type(st.context), "ip_address", "198.51.100.8")
    assert presence.network_address() != found
    monkeypatch.setattr(type(st.context), "ip_address", None)
    assert presence.network_address() == ""


# What a page asks for by its link, in each of its names; in the others it asks when something is pressed.
ASKED = {"sweep": OTHERS["tradeoffs"], "offline": OTHERS["offline"], "attack": OTHERS["attack"]}


@pytest.mark.parametrize(
    ("page", "group"),
    [pytest.param(page, group, id=group) for page in PAGES.values() for group in page.groups],
)
def test_runs_in_every_name_are_listed_cancelled_and_cleared(
    visit: Visit, store: Store, page: Page, group: str
) -> None:
    app = visit(page.folder, **ASKED.get(group, {}))
    name = f"{app.session_state['session'].visitor}:{group}"
    if group not in ASKED:
        store.ask(LIGHT, name, None)
    waiting = store.activity().runs_waiting
    assert waiting >= 1
    go(app, "runs")
    assert f"**{page.groups[group]}**: {plural(waiting, 'run')}" in words(app)
    assert "Citations (BibTeX)" in [button.proto.label for button in app.get("download_button")]
    assert f"Go to {page.name}" in [link.proto.label for link in app.get("page_link")]
    press(app, f"cancel_{group}")
    assert store.activity().seeds_queued == 0
    press(app, "clear")
    assert f"**{page.groups[group]}**" not in words(app)
    assert store.runs(name) == []
