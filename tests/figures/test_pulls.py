"""Pulls of bad arms: the numbers drawn, and the dotted bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl.figures import style
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.figures.pulls import PullCurve
from tests.figures.captioned import pulls

EPISODES = np.array([1, 10, 100, 1000])
ONE_SEED = np.array([[0, 0], [4, 0], [30, 10], [300, 100]], float)  # [D, arms]
USUAL = np.stack([ONE_SEED, ONE_SEED, 2 * ONE_SEED])


def curve(label: str = "run", pulls: Any = None, **changes: Any) -> PullCurve:
    """Three seeds of a run with two bad arms, of which the third pulls twice as often; pulls: [seeds, D, arms]."""
    found = USUAL if pulls is None else pulls
    mean, each = found.mean(axis=(0, 2)), found.mean(axis=0)
    x = EPISODES[: len(mean)]
    drawn = Series(label, CurveStyle("central", 1.0), x, found.mean(axis=2), mean, 0.5 * mean, 1.5 * mean)
    arms = ("start 0, arm 1", "start 0, arm <2>")
    known: dict[str, Any] = {"arms": arms, "gap": 0.2, "bound": 5.0, "bound_at": "ε = 1"}
    return PullCurve(drawn, each=np.stack([each, 0.5 * each, 1.5 * each]), **(known | changes))


def dotted(picture: Picture) -> list[Any]:
    return [t for t in picture.figure.data if t.line.dash == style.BOUND_DASH]


def test_the_mean_is_drawn_from_the_first_pull_on_with_a_thin_line_for_each_arm() -> None:
    figure = pulls([curve()]).figure
    (line,) = [t for t in figure.data if t.name == "run" and t.mode == "lines"]
    np.testing.assert_array_equal(line.x, EPISODES[1:])
    np.testing.assert_allclose(line.y, [8 / 3, 80 / 3, 800 / 3])
    thin = [t for t in figure.data if t.name.startswith("run: start")]
    assert [t.name for t in thin] == ["run: start 0, arm 1", "run: start 0, arm &lt;2&gt;"]
    np.testing.assert_allclose(thin[0].y[1:], [16 / 3, 40.0, 400.0])
    many = curve(pulls=np.ones((3, 4, 20)), arms=tuple(f"arm {i}" for i in range(20)))
    assert not [t for t in pulls([many]).figure.data if t.name.startswith("run: arm")]


def test_each_bound_is_dotted_once_and_within_the_axis() -> None:
    picture = pulls([curve("a"), curve("b"), curve("c", bound=0.001), curve("d", bound=None)])
    lines = dotted(picture)
    assert [set(line.y) for line in lines] == [{5.0}, {0.001}]
    assert {line.line.color for line in lines} == {style.LIGHT.roles["bound"]}
    low, high = picture.figure.layout.yaxis.range
    assert low < -3
    assert high > np.log10(800 / 3)
    assert dotted(pulls([curve(bound=None)])) == []


@pytest.mark.parametrize("curves", [[], [curve(pulls=0 * USUAL)], [curve(pulls=USUAL[:, :1])]], ids=len)
def test_little_or_nothing_to_draw(curves: list[PullCurve]) -> None:
    picture = pulls(curves)
    assert picture.see
    assert picture.alt == pulls([curve()]).alt
