"""When privacy is free, drawn: means and their band, stars, exponents with intervals, dotted bounds with letters."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dprl import metrics
from dprl.figures import looks, style
from dprl.figures.growth import Decades
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.proved import Proved
from tests.figures.captioned import beside, growth, over_episodes

EPISODES = np.unique(np.geomspace(1e3, 1e15, 150).astype(np.int64))


def curve(label: str = "Trusted curator", model: str = "central", power: float = 0.5, **other: Any) -> Series:
    rows = np.array([[0.9], [1.0], [1.1]]) * EPISODES.astype(float) ** power
    given: dict[str, Any] = {
        "x": EPISODES,
        "rows": rows,
        "center": rows[1],
        "low": rows[0],
        "high": rows[2],
        "v_star": 3.4,
    }
    given |= other
    return Series(label, CurveStyle(model), **given, median=metrics.median_band(given["rows"])[0])


def decades(label: str = "Trusted curator", model: str = "central", **other: Any) -> Decades:
    from_k = np.array([1e3, 1e4, 1e5])
    given: dict[str, Any] = {
        "mean": np.array([1.0, 0.5, 0.02]),
        "low": np.array([0.9, 0.4, -0.01]),
        "high": np.array([1.1, 0.6, 0.05]),
        "seeds": np.array([20, 20, 18]),
        "of": 20,
    }
    return Decades(label, CurveStyle(model), from_k, 10 * from_k, **(given | other))


def legend(figure: go.Figure) -> list[str]:
    return [trace.name for trace in figure.data if trace.showlegend is not False]


def test_what_to_see_has_the_numbers() -> None:
    see = over_episodes([curve(), curve("No trusted party", "local", 0.9)], view="regret").see
    # 10^7.5 and 10^13.5 of 3.4 * 10^15
    assert "After 10¹⁵ users the regret is 31.6 million (less than 0.01%) with **Trusted curator**" in see
    assert "31.6 trillion (0.93%) with **No trusted party**" in see
    assert "Percentages are shares of K·V*, all there is to lose." in see


def test_all_there_is_to_lose_is_dotted_and_in_sight() -> None:
    figure = over_episodes([curve()], view="regret").figure
    (most,) = [trace for trace in figure.data if "K·V*" in trace.name]
    assert most.line.dash == style.BOUND_DASH
    assert most.y[-1] == pytest.approx(3.4e15)
    assert figure.layout.yaxis.range[1] > np.log10(3.4e15)
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")


def test_a_star_stands_on_the_curve_where_it_becomes_flat() -> None:
    flat = curve(power=0.0)
    picture = over_episodes([flat, curve("No trusted party", "local")], view="price", flat=[1e6, None])
    (star,) = [trace for trace in picture.figure.data if trace.name == "flat from here on"]
    assert list(star.x) == [1e6]
    assert list(star.y) == [1.0]
    assert "Flat (★) is **Trusted curator** from 1 million" in picture.see
    none = over_episodes([flat], view="price", flat=[None])
    assert "★" not in none.see
    assert "flat from here on" not in legend(none.figure)


def test_the_words_at_a_star_keep_away_from_other_curves() -> None:
    """The agent's line lies closely below the shuffler's star, and nothing below the agent's."""
    runs = [
        curve("Trusted curator", "central", 0.02),
        curve("Trusted shuffler", "shuffle", 0.03),
        curve("No trusted party", "local", 0.9),
    ]
    figure = over_episodes(runs, view="price", flat=[1e6, 1e7, None]).figure
    stars = [trace for trace in figure.data if trace.name == "flat from here on"]
    assert [star.textposition for star in stars] == ["bottom right", "top right"]


def test_the_table_has_the_median_beside_the_mean() -> None:
    rows = np.array([[1.0], [1.0], [100.0]]) * np.ones(len(EPISODES))
    table = over_episodes([curve(rows=rows, center=rows.mean(axis=0))], view="price").table
    assert table["median"].iloc[-1] == 1.0
    assert table["mean"].iloc[-1] == 34.0
    assert table["seeds"].iloc[-1] == 3


def test_nothing_known_is_said() -> None:
    nothing = curve(
        x=np.zeros(0, np.int64),
        rows=np.zeros((0, 0)),
        center=np.zeros(0),
        low=np.zeros(0),
        high=np.zeros(0),
    )
    assert over_episodes([nothing], view="price").see == "There is nothing to draw yet."


def test_exponents_have_their_intervals_and_stand_in_the_middle_of_their_tenfold() -> None:
    picture = growth([decades()])
    points = picture.figure.data[0]
    np.testing.assert_allclose(points.x, [10**3.5, 10**4.5, 10**5.5])
    np.testing.assert_allclose(points.error_y.array, [0.1, 0.1, 0.03])
    np.testing.assert_allclose(points.error_y.arrayminus, [0.1, 0.1, 0.03])
    assert "18 of 20 seeds" in points.customdata[-1]
    assert picture.see == "In the last decade the exponent is 0.02 with **Trusted curator**."
    assert list(picture.table["exponent"]) == [1.0, 0.5, 0.02]
    lines = {
        trace.name.partition(":")[0]: trace for trace in picture.figure.data if trace.hoverinfo == "skip"
    }
    assert set(lines) == {"1", "0.5", "0.1"}
    assert lines["0.5"].line.dash == style.BOUND_DASH  # theory
    assert lines["1"].line.dash == lines["0.1"].line.dash == "solid"


def test_tenfolds_without_an_exponent_are_left_out_and_said() -> None:
    nan = np.array([np.nan, 0.5, 0.02])
    picture = growth([decades(mean=nan), decades("No trusted party", "local")])
    assert len(picture.figure.data[0].x) == 2
    assert "1 decade is left out" in picture.see
    assert len(picture.table) == 6
    unknown = np.full(3, np.nan)
    assert growth([decades(mean=unknown)]).see.startswith("Nothing can be said yet.")


def test_intervals_end_within_the_axis() -> None:
    wide = growth([decades(low=np.array([0.9, 0.4, -0.6]), high=np.array([1.0, 0.6, 1.7]))])
    bottom, top = wide.figure.layout.yaxis.range
    assert bottom < -0.6
    assert top > 1.7


def test_models_stand_beside_each_other_in_a_tenfold() -> None:
    first, second = growth([decades(), decades("No trusted party", "local")]).figure.data[:2]
    assert (np.asarray(first.x) < np.asarray(second.x)).all()
    assert (np.asarray(second.x) < 10 * np.asarray(first.x)).all()


def proved(label: str = "DP-UCBVI", model: str = "central", power: float = 0.5) -> Proved:
    at = np.geomspace(1e3, 1e15, 50)
    return Proved(label, "Qiao, Wang 2023, Theorem 5.2", model, 1.0, at, 1e5 * at**power)


@pytest.mark.parametrize("dark", [False, True])
def test_bounds_are_dotted_lettered_and_never_like_a_measurement(dark: bool) -> None:
    bounds = [proved(), proved("PUCB"), proved("DP-UCBVI", "local", 0.75)]
    picture = beside([curve()], bounds, dark=dark)
    drawn = [trace for trace in picture.figure.data if trace.mode == "lines" and "Qiao" in str(trace.name)]
    assert [trace.name[:2] for trace in drawn] == ["A:", "B:", "C:"]
    assert {trace.line.dash for trace in drawn} == {style.BOUND_DASH}
    assert all(trace.fill is None for trace in drawn)
    models = ("central", "central", "local")  # colours say no more; letters tell bounds apart
    assert [trace.line.color for trace in drawn] == [looks.color(model, 1.0, dark) for model in models]
    (measured,) = [
        trace for trace in picture.figure.data if trace.name == "Trusted curator" and trace.mode == "lines"
    ]
    assert measured.line.dash != style.BOUND_DASH
    letters = [trace.text[0] for trace in picture.figure.data if trace.mode == "text"]
    assert letters == ["<b>A</b>", "<b>B</b>", "<b>C</b>"]
    low, high = picture.figure.layout.yaxis.range
    assert 10**low < 1e5
    assert 10**high > 1e5 * 1e15**0.75


def test_the_slopes_of_bounds_are_said_and_their_heights_are_not() -> None:
    picture = beside([curve()], [proved(), proved("DP-UCBVI", "local", 0.75)])
    assert "A grows like K^0.50 and B grows like K^0.75" in picture.see
    assert "constants are set to 1" in picture.see
    assert picture.table["bound"].notna().sum() == 100
    assert beside([curve()], []).see.startswith("No bound is chosen.")
