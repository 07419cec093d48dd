"""The page Offline: what a visitor sees at first, runs, presses, copies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dprl.jobs.store import Store
from dprl.simulation import OfflineSpec
from pages.offline import link as offline_link
from pages.offline.examples import DEFAULT, EXAMPLES
from pages.offline.link import TABS, OfflineView
from tests.pages.conftest import charts, sent, tabs, unbroken, words

Visit = Callable[..., AppTest]
Work = Callable[..., int]

PAGE = "pages/offline/page.py"
SMALL = OfflineSpec(environment="riverswim", environment_params={"S": 3, "H": 3}, n=10**6, seeds=2)
SPECS = (SMALL.twin(), SMALL, SMALL.replace(rho=0.1))


def query(*specs: OfflineSpec, **view: Any) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for key, value in offline_link.encode(specs, OfflineView(**view)):
        found.setdefault(key, []).append(value)
    return found


def drawn(app: AppTest) -> dict[str, Any]:
    (chart,) = charts(app)
    found: dict[str, Any] = json.loads(chart.spec)
    return found


def test_the_first_view_is_finished_and_asks_for_no_run(visit: Visit, store: Store) -> None:
    app = visit(PAGE)
    assert store.activity().seeds_queued == 0
    assert app.get("progress") == []
    said = words(app)
    assert "To come within 1% of v\\*" in said or "To come within 1% of v*" in said
    names = [trace.get("name", "") for trace in drawn(app)["data"]]
    for name in ("APVI, no privacy", "DP-APVI, ρ = 0.01", "DP-APVI, ρ = 0.1", "DP-APVI, ρ = 1"):
        assert name in names


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_of_a_finished_comparison(visit: Visit, work: Work, tab: str) -> None:
    visit(PAGE, **query(*SPECS))
    work()
    app = visit(PAGE, **query(*SPECS, tab=tab))
    print(words(app))
    print([c.alt for c in charts(app)])
