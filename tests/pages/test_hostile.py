"""Hostile links on every page: each is answered by a page, and none costs the pages' process much."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from dprl.links import VERSION
from dprl.runs.store import Store
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec
from dprl.users import Asked
from pages.attack import link as attack_link
from pages.offline.record import OfflineView
from pages.shared.visitor import links, state
from pages.shared.visitor.address import query_of
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView
from pages.users import link as users
from tests.pages.conftest import Visit, follow, words
from tests.pages.hostile import hostile
from tests.pages.opened import opened, specs_of
from tests.pages.test_computing import ASK
from tests.pages.test_links import COMPARISONS
from tests.problems import few, first

RUN = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 2}, episodes=1000, seeds=2)
DATA = OfflineSpec(environment_params={"S": 3, "H": 3}, n=10**4, seeds=2)
SHUFFLED = RUN.replace(privacy="shuffle", schedule="episodic", episodes=997)
# Good links to each page, of which hostile ones are made.
GOOD: dict[str, list[list[tuple[str, str]]]] = {
    "home": [[("v", VERSION), ("eps", "0.3")]],
    "explore": COMPARISONS,
    "tradeoffs": [
        studies.encode(study)
        for study in (
            studies.DEFAULT,
            SweepView(RUN, ("local:laplace:paper", "none"), "episodes", (10, 10**15), "users", share=12.5),
            SweepView(RUN.replace(environment="chain"), ("central",), "S", (3, 4), "share", "on"),
            SweepView(RunSpec(algorithm="ucbvi"), ("none",), "H", (3,), "regret", statistic="median"),
            SweepView(SHUFFLED, ("none", "shuffle"), "episodes", (997, 1000), bounds="on"),
        )
    ],
    "offline": [
        links.encode_specs([DATA, DATA.replace(rho=0.1)], OfflineView(tab=tab)) for tab in ("gap", "policy")
    ],
    "room": [[("room", "BCDFGH")], [("room", "BCDFGH"), ("key", "0" * 32)]],
    "lessons": [
        [("lesson", "trust"), ("step", "2"), ("guess", "1e9"), ("shown", "yes")],
        [("lesson", "price"), ("guess", "0.5")],
        [("lesson", "users"), ("before", "1,open,0")],
    ],
    "papers": [[("item", "pac/one-draw"), ("at", "1")], [("paper", "linear"), ("problem", "chain")]],
    "users": [
        users.encode(Asked(10**9, 6, 2, 20, 17.0, 0.5, 1e-8, 5.0)),
        [("problem", "riverswim"), ("K", "1e8")],
    ],
    "attack": [attack_link.encode(AttackSpec(run=RUN), step) for step in attack_link.STEPS],
}


QUICK = ("explore", "home", "offline")  # the others thoroughly


@pytest.mark.parametrize("page", GOOD)
@pytest.mark.usefixtures("reading")
def test_a_link_of_each_page_carries_what_is_seen(page: str) -> None:
    for link in GOOD[page]:
        part = opened(page, query_of(link))
        own = [item for item in link if item[0] not in ("v", "key")]  # a teacher's key leaves the address
        assert [item for item in part.items if item[0] != "v"] == own
        again = opened(page, part.query)
        assert (again.items, again.problems) == (part.items, ())
        assert specs_of(page, again) == specs_of(page, part)


@pytest.mark.parametrize("page", GOOD)
@pytest.mark.usefixtures("reading")
def test_hostile_links_are_read_as_what_they_say(page: str) -> None:
    """What is wrong is a short sentence; what is left is allowed: it is written and read again as it is."""
    links, wrong = few(200), 0
    for seed in range(links):
        part = opened(page, hostile(seed, *GOOD[page]))
        for problem in part.problems:
            assert problem.isprintable()
            assert problem.endswith(".")
            assert len(problem) < 500
            assert "Traceback" not in problem
        wrong += bool(part.problems)
        again = opened(page, part.query)
        assert (again.items, again.problems) == (part.items, ())
        assert specs_of(page, again) == specs_of(page, part)
    assert wrong > links / 2 or page in (
        "home",
        "room",
    )  # else these were not hostile; those read one value, or two


@pytest.mark.parametrize("page", first(GOOD, lambda page: page if page in QUICK else "home"))
def test_hostile_links_to_every_page(visit: Visit, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """Each is answered by a page, with a sentence where something was wrong."""
    monkeypatch.setattr(Store, "answer", ASK)  # nobody answers
    monkeypatch.setattr(state, "went_back", lambda: True)  # else one that was there before is no link
    app = visit(page)
    for seed in range(5000, 5006 if page in QUICK else 5024):
        query = parse_qs(hostile(seed, *GOOD[page]), keep_blank_values=True)
        follow(app, query)
        assert "Traceback" not in words(app)
        wrong = any(part.problems for part in app.session_state["session"].parts.values())
        said = any(page == "home" or "this link" in warning.value for warning in app.warning)
        assert said == wrong
