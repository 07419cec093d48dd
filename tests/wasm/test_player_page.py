"""A page that plays its runs draws what the page it came from draws; one that is too large says what it leaves out."""

from __future__ import annotations

import json

import pytest

from dprl.figures.looks import CurveStyle
from dprl.player import PlayedCurve, Shown, page, player_page, sizes_of
from dprl.player.content import worlds
from dprl.simulation import RunSpec
from dprl.simulation.replay import replayed

SPEC = RunSpec(environment_params={"S": 3, "H": 3}, privacy="none", episodes=10**6, seeds=1)


def test_a_page_that_would_be_too_large_has_its_own_numbers_of_users_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {size: replayed(SPEC.replace(episodes=size)) for size in sizes_of(SPEC)}
    assert len(found) == 3
    curve = PlayedCurve(SPEC, "No privacy", "No privacy", CurveStyle("none"), found)
    whole = player_page("Runs", "RiverSwim", [curve], Shown(), footer="")
    assert page.ALONE not in whole
    monkeypatch.setattr(page, "MOST_BYTES", len(whole) - 1)
    small = player_page("Runs", "RiverSwim", [curve], Shown(), footer="")
    assert f"RiverSwim · {page.ALONE}" in small
    assert len(small) < len(whole)


def test_each_environment_has_its_picture_once_by_day_and_by_night() -> None:
    grid = RunSpec(environment="gridworld")
    river, other = worlds([SPEC, SPEC.replace(epsilon=None, episodes=10), grid])
    assert river["says"].startswith(
        "RiverSwim, with 3 states, 2 actions and 3 steps. Drawing of the environment"
    )
    assert other["says"].startswith("Gridworld, with 11 states, 4 actions and 12 steps. Drawing of a grid")
    for world in (river, other):
        assert world["light"]["data"]
        assert world["light"] != world["dark"]
        assert len(json.dumps(world)) < 30_000
