"""What a page that plays its runs draws and says of them is what the dashboard draws and says."""

from __future__ import annotations

import json
from typing import Any, get_args

import numpy as np
import pytest
from playwright.sync_api import Page

from dprl.assets import classic
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.trust import LEARNED
from dprl.metrics.search import stays_below
from dprl.player import PlayedCurve, PlayedMeasure, Shown, page, player_page, sizes_of
from dprl.player.content import said, worlds
from dprl.sentences.regret import about_regret
from dprl.simulation import RunSpec
from dprl.simulation.replay import replayed
from dprl.words import percent

SAYS = """([source, curves, measure, seeds, said]) =>
  new Function(`${source}; return sentence`)()(curves, measure, seeds, said)"""
PERCENT = (
    "([source, shares, tiny]) => shares.map((one) => new Function(`${source}; return percent`)()(one, tiny))"
)
SOURCE = classic("parts.js", "player_words.js", "player_sentence.js")
V_STAR = 3.3


def curve(name: str, last: float, falls: float, measure: str, place: str = "") -> Series:
    """Regret that an average episode has lost all of at first, and then less and less."""
    x = np.geomspace(1, last, 40)
    share = np.minimum(1.0, falls / x)
    center = {"share": share, "per-episode": share * V_STAR, "cumulative": share * V_STAR * x}[measure]
    needed = stays_below(x, center, LEARNED * (1.0 if measure == "share" else V_STAR))
    rows = np.tile(center, (3, 1))
    look = CurveStyle("none")
    return Series(name, look, x, rows, center, center, center, v_star=V_STAR, needed=needed, place=place)


@pytest.mark.parametrize("measure", get_args(PlayedMeasure))
@pytest.mark.parametrize(
    "made",
    [
        [("A", 1e9, 1e3), ("B", 1e9, 5e4), ("C", 1e9, 1e5)],
        [("A", 1e6, 1e5), ("B", 1e6, 1e3)],
        [("A", 1e6, 1e5), ("B", 1e5, 1e3), ("C", 1e7, 1e3)],
        [("A", 1e6, 1e5), ("B", 1e6, 1e5)],
        [("A", 1e6, 1e5), ("B", 1e6, 1e3), ("C", 1e6, 1e4), ("D", 1e6, 1e2)],
        [
            ("A", 1e6, 1e5, "here"),
            ("B", 1e7, 1e3, "there"),
            ("C", 1e6, 1e3, "here"),
            ("D", 1e5, 1e2, "there"),
        ],
        [("A", 1e9, 1e3, "here"), ("B", 1e9, 1e5, "there"), ("C", 1e9, 1e5, "here")],
    ],
)
def test_a_page_says_what_the_dashboard_says(
    engine: Page, measure: PlayedMeasure, made: list[tuple[Any, ...]]
) -> None:
    curves = [curve(name, last, falls, measure, *place) for name, last, falls, *place in made]
    drawn = [
        {"title": c.label, "best": V_STAR, "best_text": f"{V_STAR:#.3g}", "episodes": c.x.tolist()}
        | {"center": c.center.tolist(), "place": c.place}
        for c in curves
    ]
    here = engine.evaluate(SAYS, [SOURCE, drawn, measure, 3, said()])
    there = about_regret(curves, measure)
    assert here.replace("“", "**").replace("”", "**").replace("Means over 3 seeds.", "") == there.replace(
        "Numbers are means over seeds.", ""
    )


def test_percentages_are_read_alike(engine: Page) -> None:
    shares = [0.0, 0.5, 1.0, *np.geomspace(1e-9, 1.23, 60), *(1 - np.geomspace(1e-6, 0.02, 20))]
    found = engine.evaluate(PERCENT, [SOURCE, shares, said()["tiny"]])
    assert found == [percent(share) for share in shares]


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
