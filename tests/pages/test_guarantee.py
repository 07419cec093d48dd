"""Cards of the tab Guarantee say in words what the numbers say."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dprl.jobs.store import Store
from dprl.privacy import Guarantee
from dprl.simulation import RunSpec, run, start
from pages.explore.guarantee import ladder, readings, verdict
from tests.pages.conftest import charts, words

Visit = Callable[..., AppTest]
Work = Callable[..., int]


@cache
def card(privacy: str, calibration: str) -> Guarantee:
    return run(
        RunSpec(
            environment_params={"S": 3, "H": 3},
            privacy=privacy,
            calibration=calibration,
            episodes=1000,
            seeds=1,
        )
    ).guarantee


@pytest.mark.parametrize(
    ("privacy", "calibration", "said"),
    [
        ("central", "tight", "It proves what it claims"),
        ("local", "tight", "It proves what it claims"),
        ("shuffle", "tight", "It proves what it claims"),
        ("central", "paper", "It proves less than it claims"),
        ("local", "paper", "It proves less than it claims"),
        ("shuffle", "paper", "It proves more than it claims"),
    ],
)
def test_claimed_against_proved_in_words(privacy: str, calibration: str, said: str) -> None:
    icon, sentence = verdict(card(privacy, calibration))
    assert said in sentence
    assert (icon == "warning") == ("less" in said)
    pure = calibration == "paper" and privacy != "shuffle"
    assert ("holds when a user is added or removed" in sentence) == pure
    assert ("At δ = 10⁻⁶ the same noise proves" in sentence) == pure


def test_a_claim_that_nothing_proves_is_said() -> None:
    unproved = replace(card("central", "tight"), proved_epsilon=None, proved_delta=None)
    assert "nobody has proved" in verdict(unproved)[1]


def test_readings_name_both_notions_of_neighbours_and_whose_proof_it_is() -> None:
    table = readings(card("shuffle", "paper").readings)
    assert "replaced by another" in table
    assert "added or removed" in table
    assert "B25" in table
    assert table.count("\n") == 1 + len(card("shuffle", "paper").readings)


@pytest.mark.parametrize(
    "change", [{}, {"calibration": "paper"}, {"mechanism": "laplace-tree"}, {"mechanism": "gaussian-tree"}]
)
def test_the_runs_own_noise_stands_on_the_ladder(change: dict[str, Any]) -> None:
    spec = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=1, **change)
    g = run(spec).guarantee
    table = ladder(g, False).table
    (own,) = table[table["this run"]]["std of one counter"]
    assert own == pytest.approx(g.noise_std, rel=0.005)
    assert len(table) in (len(g.ladder), len(g.ladder) + 1)


def test_the_ladder_is_shown_for_central_only(visit: Visit, work: Work) -> None:
    small = "envp.S.3~envp.H.3~K.1000~seeds.1"
    curves = [f"{small}~priv.none", "priv.local", "priv.shuffle"]
    visit("pages/explore/page.py", c=[*curves, "priv.central"])
    work()
    app = visit("pages/explore/page.py", c=[*curves, "priv.central"], tab="guarantee")
    assert len(charts(app)) == 1
    assert words(app).count("It proves what it claims") == 3
    assert words(app).count("Scale of one draw") == 2  # bits have none
    assert "1e-06" not in words(app).replace("\\", "")
    assert charts(visit("pages/explore/page.py", c=curves, tab="guarantee")) == []


def test_a_card_is_read_off_whichever_seed_there_is(visit: Visit, store: Store) -> None:
    link = {"c": ["envp.S.3~envp.H.3~K.1000~seeds.5~priv.central"], "tab": "guarantee"}
    visit("pages/explore/page.py", **link)
    store.enlist("test", os.getpid(), warm=True)
    while unit := store.claim("test"):
        if unit.seed < 4:
            store.fail(unit, "It broke.")
            continue
        last = start(unit.spec, unit.seed)
        while not last.advance():
            pass
        store.report(unit, 1.0, *last.curve()[2:])
        store.finish(unit, last.trace().to_bytes())
    assert "It proves what it claims" in words(visit("pages/explore/page.py", **link))
