"""Hostile links on every page: each is answered by a page, and none costs the pages' process much."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from dprl.jobs.questions import Questions
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec
from pages.attack import link as attack_link
from pages.attack.link import AttackView
from pages.free import link as free_link
from pages.free.link import FreeView
from pages.landscape import state as landscape
from pages.linear.examples import EXAMPLES
from pages.linear.record import LINEAR
from pages.linear.view import LinearView
from pages.offline.record import OFFLINE
from pages.offline.view import OfflineView
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import Study
from tests.pages.conftest import Visit, unbroken, words
from tests.pages.hostile import hostile
from tests.pages.test_computing import ASK
from tests.pages.test_links import COMPARISONS
from tests.problems import first

RUN = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 2}, episodes=1000, seeds=2)
DATA = OfflineSpec(environment_params={"S": 3, "H": 3}, n=10**4, seeds=2)
SHUFFLED = RUN.replace(privacy="shuffle", schedule="episodic", episodes=997)
# Good links to each page, of which hostile ones are made.
GOOD: dict[str, list[list[tuple[str, str]]]] = {
    "home": [[("v", "2"), ("eps", "0.3")]],
    "explore": COMPARISONS,
    "tradeoffs": [
        studies.encode(Study(RUN, ("none", "central", "local"), "epsilon", (1.0, 10.0), show))
        for show in ("price", "users", "table")
    ],
    "free": [
        free_link.encode(run, FreeView(show=show))
        for run in (RUN, SHUFFLED)
        for show in ("price", "calculator")
    ],
    "offline": [
        OFFLINE.encode([DATA, DATA.replace(rho=0.1)], OfflineView(tab=tab)) for tab in ("gap", "policy")
    ],
    "linear": [LINEAR.encode(example.specs, LinearView()) for example in EXAMPLES],
    "landscape": [landscape.encode(landscape.Seen(sort="year", of="dp-ucbvi:local"))],
    "room": [[("room", "BCDFGH")], [("room", "BCDFGH"), ("key", "0" * 32)]],
    "lessons": [
        [("lesson", "trust"), ("step", "2"), ("guess", "1e9"), ("shown", "yes")],
        [("lesson", "price"), ("guess", "0.5"), ("present", "on")],
        [("lesson", "users"), ("step", "1")],
    ],
    "attack": [attack_link.encode(AttackSpec(run=RUN), AttackView(show=show)) for show in attack_link.SHOWN],
}


def follow(app: AppTest, page: str, seed: int) -> None:
    """Opens a hostile link in a page that is open."""
    query = parse_qs(hostile(seed, *GOOD[page]), keep_blank_values=True)
    app.query_params.clear()
    for key, values in query.items():
        app.query_params[key] = [value.encode("utf-8", "replace").decode() for value in values]
    app.run()
    unbroken(app)
    assert "Traceback" not in words(app)


@pytest.mark.parametrize("page", first(GOOD))
def test_hostile_links_to_every_page(visit: Visit, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setattr(Questions, "ask", ASK)  # nobody answers
    app = visit(page)
    for seed in range(5000, 5012):
        follow(app, page, seed)
