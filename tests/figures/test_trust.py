"""The chart of the home page: who is trusted, and how many users that costs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dprl.figures import style
from dprl.figures.trust import BAND, LEARNED, NAMES, Cost, chart

V_STAR = 3.4
EPISODES = np.unique(np.geomspace(1, 10**15, 100).astype(np.int64))


def cost(model: str, needed: float) -> Cost:
    """Falls from V* like needed / K once that many users came."""
    mean = V_STAR * np.minimum(1.0, LEARNED * needed / EPISODES)
    return Cost(model, EPISODES, mean, 0.9 * mean, 1.1 * mean, needed)


def costs(scale: float = 1.0) -> list[Cost]:
    return [
        cost("none", 500.0),
        cost("central", 1e6 * scale),
        cost("shuffle", 1e7 * scale),
        cost("local", 1e11 * scale),
    ]


def picture(scale: float = 1.0, epsilon: float = 1.0, dark: bool = False) -> Any:
    return chart(costs(scale), epsilon=epsilon, v_star=V_STAR, dark=dark)


@pytest.mark.parametrize("dark", [False, True])
def test_every_model_is_in_the_legend_in_its_colour_with_its_marker(dark: bool) -> None:
    figure = picture(dark=dark).figure
    entries = {trace.name: trace for trace in figure.data if trace.showlegend is not False}
    assert set(entries) == {*NAMES.values(), BAND, "V* = 3.400, all an episode can lose"}
    for model, name in NAMES.items():
        assert entries[name].line.color == style.look(model, 0, dark).color
        assert entries[name].marker.symbol == style.SYMBOLS[model]
    dotted = [trace.name for trace in figure.data if trace.line.dash == style.BOUND_DASH]
    assert dotted == ["V* = 3.400, all an episode can lose"]


def test_only_the_curves_move_with_epsilon() -> None:
    one, other = picture(1.0, 1.0), picture(30.0, 0.03)
    assert one.alt == other.alt
    before, after = json.loads(one.figure.to_json()), json.loads(other.figure.to_json())
    assert before["data"] != after["data"]
    for figure, epsilon in ((before, "1"), (after, "0.03")):
        assert (
            figure["layout"]["title"].pop("text")
            == f"Reward lost by an average episode so far, at ε = {epsilon}"
        )
    assert before["layout"] == after["layout"]  # axes, height, and what keeps the zoom
    assert before["layout"]["xaxis"]["range"] == [1.0, 15.0]


def test_curves_are_shares_of_the_best_value_and_are_marked_where_they_come_down() -> None:
    figure = picture().figure
    for one in costs():
        curve, mark = [trace for trace in figure.data if trace.name == one.name]
        assert np.allclose(curve.y, 100 * one.mean / V_STAR)
        assert len(curve.x) <= style.MOST_POINTS
        assert (mark.x[0], mark.y[0]) == (one.needed, 10.0)
        assert "95%" not in curve.hovertemplate
    (band,) = [trace for trace in figure.data if trace.name == BAND]
    assert np.count_nonzero(np.isnan(np.asarray(band.x, float))) == 4  # a gap after each model's
    assert np.nanmax(band.y) == pytest.approx(110)


def test_the_sentence_says_the_numbers_of_this_epsilon() -> None:
    said = picture(2.0, 0.5).see
    assert said == (
        "Without privacy it takes 500 users until an average episode loses less than 10%; hiding each of them at "
        "**ε = 0.5** takes **4,000 times** if they trust the agent, **40,000 times** if they trust only a shuffler "
        "and **400 million times** if they trust nobody."
    )


def test_a_curve_that_never_comes_down_is_said_to_need_more_than_there_are() -> None:
    found = chart([cost("none", 500.0), cost("local", float("nan"))], epsilon=0.01, v_star=V_STAR, dark=False)
    assert found.see.endswith("**ε = 0.01** takes more than 10¹⁵ users if they trust nobody.")


def test_the_table_has_the_numbers_drawn() -> None:
    table = picture().table
    assert list(table["curve"].unique()) == list(NAMES.values())
    assert len(table) == 4 * len(EPISODES)
    last = table[table["curve"] == NAMES["local"]].iloc[-1]
    assert last["users"] == 10**15
    assert last["regret per episode"] == pytest.approx(V_STAR * LEARNED * 1e11 / 1e15)
