"""What a page that plays its runs says of them is what the dashboard says."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from playwright.sync_api import Page

from dprl.assets import classic
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.trust import LEARNED
from dprl.metrics.search import stays_below
from dprl.player import PlayedMeasure
from dprl.player.content import said
from dprl.sentences.regret import about_regret
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
