"""The chart of the home page: who is trusted, and how many users that costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl.figures import looks, style
from dprl.figures.trust import BAND, LEARNED, Cost
from dprl.privacy import PRIVATIZERS
from tests.figures import captioned

V_STAR = 3.4
EPISODES = np.unique(np.geomspace(1, 10**15, 100).astype(np.int64))


def cost(model: str, needed: float) -> Cost:
    """Falls from V* like needed / K once that many users came."""
    mean = V_STAR * np.minimum(1.0, LEARNED * needed / EPISODES)
    known = PRIVATIZERS[model]
    return Cost(model, known.title, known.words.given, EPISODES, mean, 0.9 * mean, 1.1 * mean, needed)


def costs(scale: float = 1.0) -> list[Cost]:
    return [
        cost("none", 500.0),
        cost("central", 1e6 * scale),
        cost("shuffle", 1e7 * scale),
        cost("local", 1e11 * scale),
    ]


def picture(scale: float = 1.0, epsilon: float = 1.0, dark: bool = False) -> Any:
    return captioned.trust(
        {epsilon: costs(scale), 100.0: costs(0.01)}, epsilon=epsilon, v_star=V_STAR, dark=dark
    )


@pytest.mark.parametrize("dark", [False, True])
def test_every_model_is_in_the_legend_in_its_colour_with_its_marker(dark: bool) -> None:
    figure = picture(dark=dark).figure
    entries = {trace.name: trace for trace in figure.data if trace.showlegend is not False}
    assert set(entries) == {
        *(p.title for p in PRIVATIZERS.values()),
        BAND,
        "V* = 3.40, the most an episode can lose",
    }
    for model, privatizer in PRIVATIZERS.items():
        name = privatizer.title
        assert entries[name].line.color == looks.color(model, 1.0, dark)
        assert entries[name].marker.symbol == style.SYMBOLS[model][0]
    dotted = [trace.name for trace in figure.data if trace.line.dash == style.BOUND_DASH]
    assert dotted == ["V* = 3.40, the most an episode can lose"]


def test_a_button_for_each_epsilon_brings_what_the_figure_of_that_epsilon_has() -> None:
    by_epsilon = {e: costs(1 / e) for e in (0.1, 1.0, 10.0)}
    figures = {
        e: captioned.trust(by_epsilon, epsilon=e, v_star=V_STAR, dark=False).figure for e in by_epsilon
    }
    buttons = [button for menu in figures[1.0].layout.updatemenus for button in menu.buttons]
    assert len(buttons) == 3
    for button, figure in zip(buttons, figures.values(), strict=True):
        assert button.method == "update"
        traces, layout, which = button.args
        assert layout == {"title.text": figure.layout.title.text}
        for i, x, y in zip(which, traces["x"], traces["y"], strict=True):
            assert list(figure.data[i].x) == x
            assert list(figure.data[i].y) == y
        for trace, color in zip((figure.data[i] for i in which), traces["line.color"], strict=True):
            assert trace.fill == "toself" or trace.line.color == color
        still = set(range(len(figure.data))) - set(which)
        assert {figure.data[i].name for i in still} == {"V* = 3.40, the most an episode can lose"}


def test_curves_are_shares_of_the_best_value_and_are_marked_where_they_come_down() -> None:
    figure = picture().figure
    for one in costs():
        curve, mark = [trace for trace in figure.data if trace.name == one.name]
        shown = slice(np.flatnonzero(EPISODES < 10)[-1], None)  # the axis begins at 10
        assert np.allclose(curve.x, EPISODES[shown], rtol=1e-3)
        assert np.allclose(curve.y, 100 * one.mean[shown] / V_STAR, rtol=1e-3)
        assert (mark.x[0], mark.y[0]) == (one.needed, 10.0)
