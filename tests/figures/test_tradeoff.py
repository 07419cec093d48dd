"""The frontier, the users needed, the chart of the home page, and sweeps as a paper prints them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dprl
from dprl.figures import looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.figures.tradeoff import Frontier, ProvedLine
from dprl.figures.trust import BAND, LEARNED, Cost
from dprl.figures.users import UsersRow, users_needed
from dprl.metrics.curves import RunCurves
from dprl.privacy import PRIVATIZERS
from dprl.simulation import answer, answered
from tests.figures import captioned

X = np.array([0.1, 1.0, 10.0])


def curve(model: str = "central", **changes: Any) -> Frontier:
    mean = 1e5 / X
    given = Frontier(
        label=model,
        style=CurveStyle(model),
        epsilon=(0.1, 1.0, 10.0),
        x=X,
        center=mean,
        low=mean * 0.9,
        high=mean * 1.1,
        seeds=np.array([5, 5, 5]),
        whole=np.ones(3, bool),
        worst=np.full(3, 2e6),
        share=mean / 2e6,
        slope=(-1.0, -1.1, -0.9),
        fitted=(0.1, 10.0),
        theory=-1.0,
    )
    changed = replace(given, **changes)
    return replace(changed, share=changed.center / np.where(changed.worst > 0, changed.worst, np.nan))


def drawn(*curves: Frontier, **how: Any) -> Picture:
    settings: dict[str, Any] = {"measure": "price", "axis": "Privacy budget ε", "symbol": "ε"}
    return captioned.frontier(curves, **(settings | how))


def named(picture: Picture, begins: str) -> list[Any]:
    return [trace for trace in picture.figure.data if (trace.name or "").startswith(begins)]


@pytest.mark.parametrize("dark", [False, True])
def test_a_marker_for_each_run_with_its_place(dark: bool) -> None:
    picture = drawn(curve(), curve("local", theory=None), dark=dark)
    central, local = named(picture, "central")[-1], named(picture, "local")[-1]
    assert [words[0] for words in central.customdata] == ["0.1", "1", "10"]
    assert len(local.customdata) == 3
    assert central.line.color == looks.color("central", None, dark)
    assert list(central.marker.color) == [looks.color("central", e, dark) for e in (0.1, 1.0, 10.0)]
    assert set(central.marker.symbol) == {"square"}
    assert picture.figure.layout.xaxis.type == picture.figure.layout.yaxis.type == "log"
    assert picture.figure.layout.xaxis.title.text == "Privacy budget ε"
    assert "reward lost" in picture.figure.layout.yaxis.title.text


def test_the_sentence_begins_with_levels_at_a_point_that_all_curves_have() -> None:
    other = curve("local", center=np.array([4e5, 3e5, np.nan]), slope=(np.nan,) * 3)
    said = drawn(curve(), other).see
    cost = "At ε = 1, the privacy cost is"
    assert said.startswith(f"{cost} 100,000 for **central** (5% of K V*)")
    assert "300,000 for **local** (15% of K V*)" in said
    assert drawn(curve(), measure="share").see.startswith("At ε = 1, the loss is 5% of V* for **central**")
    assert drawn(curve(), other, symbol="K").see.startswith("At K = 1, ")
    assert drawn(curve(), symbol="K").see.startswith("At K = 10, the privacy cost is 10,000 ")
    assert drawn(curve(), measure="gap price").see.startswith(f"{cost} 100,000 for **central** (5% of v*).")
    for less in (curve(center=-X), curve(worst=np.zeros(3))):  # noise helped, or nothing can be lost
        assert re.match(rf"{cost} [^ ]+ for \*\*central\*\*\. ", drawn(less).see)


@pytest.mark.parametrize(
    ("share", "where"),
    [
        ([0.5, 0.005, 0.001], "for **central** if ε is at least 1"),
        ([0.001, 0.005, 0.5], "for **central** at ε = 0.1 and 1"),
        ([0.001, 0.001, 0.001], "at every point for **central**"),
        ([0.5, 0.5, 0.5], "at none of these points for **central**"),
    ],
)
def test_the_sentence_on_suboptimality_says_where_it_is_small(share: list[float], where: str) -> None:
    said = drawn(curve(center=100 * np.array(share), worst=np.full(3, 100.0)), measure="gap").see
    assert said.startswith(f"The learned policy comes within 1% of the best policy's reward {where}.")


@pytest.mark.parametrize("dark", [False, True])
def test_bounds_are_dotted_and_never_like_a_measurement(dark: bool) -> None:
    bounds = [
        ProvedLine("PUCB, Central", "central", None, X, 1e3 / X),
        ProvedLine("Local", "local", 1.0, X, 1e9 / X),
    ]
    picture = drawn(curve(), bounds=bounds, dark=dark)
    lines_ = named(picture, "proved: ")
    assert [line.line.dash for line in lines_] == 2 * [style.BOUND_DASH]
    assert [line.line.color for line in lines_] == [
        looks.color("central", None, dark), looks.color("local", 1.0, dark),
    ]  # fmt: skip
    assert all(line.fill is None and line.mode == "lines" for line in lines_)
    assert named(picture, "reference slope") == []
    low, high = picture.figure.layout.yaxis.range
    assert 10**low < 1e2
    assert 10**high > 1e10
    assert picture.table["bound"].notna().sum() == 6


def test_unfinished_points_are_hollow_and_missing_ones_absent() -> None:
    mean = np.array([1e6, np.nan, 1e4])
    picture = drawn(
        curve(center=mean, low=mean, high=mean, whole=np.array([False, False, True]), slope=(np.nan,) * 3)
    )
    (trace,) = [t for t in named(picture, "central") if t.mode == "lines+markers"]
    assert list(trace.marker.symbol) == ["square-open", "square"]
    assert [words[0] for words in trace.customdata] == ["0.1", "10"]
    assert named(picture, "not all seeds yet")


def test_prices_at_or_below_zero_stand_on_the_edge() -> None:
    mean = np.array([1e5, 100.0, -20.0])
    picture = drawn(curve(center=mean, low=mean - 1, high=mean + 1, slope=(np.nan,) * 3))
    (trace,) = [t for t in named(picture, "central") if t.mode == "lines+markers"]
    assert trace.marker.symbol[-1] == "triangle-down-open"
    assert (np.asarray(trace.y) > 0).all()
    assert trace.customdata[2][1] == "−20 (−21 to −19)"
    assert named(picture, "zero or less")


def test_users_needed_with_intervals_and_what_is_not_found() -> None:
    needs = [
        UsersRow("Central, Toeplitz", CurveStyle("central", 1.0), 1e7, 9e6, 1.1e7),
        UsersRow("Local, <b>Laplace</b>", CurveStyle("local", 1.0), np.nan, np.nan, np.nan, "more than 10¹⁵"),
    ]
    picture = users_needed(needs, title="Users", most=1e15, see="See.", dark=True)
    found, missing = picture.figure.data
    assert (found.x, found.text, missing.text) == ((1e7,), ("10 million",), ("more than 10¹⁵",))
    np.testing.assert_allclose([found.error_x.array[0], found.error_x.arrayminus[0]], [1e6, 1e6])
    assert "<b>Laplace" not in "".join(picture.figure.layout.yaxis.ticktext)
    assert len(picture.table) == 2
    searching = users_needed(needs[1:], title="Users", most=1e15, see="See.")
    assert searching.figure.layout.xaxis.range == (0, 15)


V_STAR, MOST = 3.4, "V* = 3.40, the most an episode can lose"
EPISODES = np.unique(np.geomspace(1, 10**15, 100).astype(np.int64))


def cost(model: str, needed: float) -> Cost:
    """Falls from V* like needed / K once that many users came."""
    mean = V_STAR * np.minimum(1.0, LEARNED * needed / EPISODES)
    known = PRIVATIZERS[model]
    return Cost(model, known.title, known.words.given, EPISODES, mean, 0.9 * mean, 1.1 * mean, needed)


def costs(scale: float = 1.0) -> list[Cost]:
    needed = {"central": 1e6, "shuffle": 1e7, "local": 1e11}
    return [cost("none", 500.0), *(cost(model, users * scale) for model, users in needed.items())]


def home(scale: float = 1.0, epsilon: float = 1.0, dark: bool = False) -> Any:
    return captioned.trust(
        {epsilon: costs(scale), 100.0: costs(0.01)}, epsilon=epsilon, v_star=V_STAR, dark=dark
    )


@pytest.mark.parametrize("dark", [False, True])
def test_every_model_is_in_the_legend_in_its_colour_with_its_marker(dark: bool) -> None:
    figure = home(dark=dark).figure
    entries = {trace.name: trace for trace in figure.data if trace.showlegend is not False}
    assert set(entries) == {*(p.title for p in PRIVATIZERS.values()), BAND, MOST}
    for model, privatizer in PRIVATIZERS.items():
        entry = entries[privatizer.title]
        assert entry.line.color == looks.color(model, 1.0, dark)
        assert entry.marker.symbol == style.SYMBOLS[model][0]
    assert [trace.name for trace in figure.data if trace.line.dash == style.BOUND_DASH] == [MOST]


def test_a_button_for_each_epsilon_brings_what_the_figure_of_that_epsilon_has() -> None:
    by_epsilon = {e: costs(1 / e) for e in (0.1, 1.0, 10.0)}
    figures = {
        e: captioned.trust(by_epsilon, epsilon=e, v_star=V_STAR, dark=False).figure for e in by_epsilon
    }
    buttons = [button for menu in figures[1.0].layout.updatemenus for button in menu.buttons]
    for button, figure in zip(buttons, figures.values(), strict=True):
        assert button.method == "update"
        traces, layout, which = button.args
        assert layout == {"title.text": figure.layout.title.text}
        for i, x, y, color in zip(which, traces["x"], traces["y"], traces["line.color"], strict=True):
            trace = figure.data[i]
            assert (list(trace.x), list(trace.y)) == (x, y)
            assert trace.fill == "toself" or trace.line.color == color
        still = set(range(len(figure.data))) - set(which)
        assert {figure.data[i].name for i in still} == {MOST}


def test_curves_are_shares_of_the_best_value_and_are_marked_where_they_come_down() -> None:
    figure = home().figure
    for one in costs():
        curve, mark = [trace for trace in figure.data if trace.name == one.name]
        shown = slice(np.flatnonzero(EPISODES < 10)[-1], None)  # the axis begins at 10
        np.testing.assert_allclose(curve.x, EPISODES[shown], rtol=1e-3)
        np.testing.assert_allclose(curve.y, 100 * one.mean[shown] / V_STAR, rtol=1e-3)
        assert (mark.x[0], mark.y[0]) == (one.needed, 10.0)


BASE = dprl.RunSpec("riverswim", episodes=10**8, seeds=3)
WORLDS, ALGORITHMS = ["riverswim", "gridworld", "chain"], ["dp-ucbvi", "private-ucb-vi"]
PLACES = [dprl.ENVIRONMENTS[world].title for world in WORLDS]
TITLES = [dprl.ALGORITHMS[key].title for key in ALGORITHMS]
BUDGETS = [0.1, 0.3, 1, 3, 10]


def result_of(axes: dict[str, list[Any]]) -> dprl.SweepResult[dprl.RunSpec]:
    sweep, rng = dprl.Sweep(BASE, axes), np.random.default_rng(0)
    curves = {}
    for spec in sweep.specs:
        ends = 1e6 * (1 + 2 / (spec.epsilon or 100)) * rng.uniform(0.8, 1.2, 3)
        curves[spec] = RunCurves(np.array([spec.episodes]), ends[:, None])
    return dprl.SweepResult(sweep, curves)


def lines_of(figure: Any, axis: str = "x") -> list[Any]:
    """The measured lines of a panel."""
    return [trace for trace in figure.data if trace.customdata is not None and trace.xaxis in (axis, None)]


def most(world: str) -> float:
    """K V* of an environment."""
    return BASE.episodes * float(answered(answer("v_star", BASE.replace(environment=world))))


@pytest.mark.parametrize("dark", [False, True])
def test_a_third_axis_is_a_panel_and_a_second_has_dashes_and_markers(dark: bool) -> None:
    result = result_of({"algorithm": ALGORITHMS, "environment": WORLDS, "epsilon": BUDGETS})
    picture = result.plot("regret", dark=dark)
    figure = picture.figure
    assert [note.text for note in figure.layout.annotations] == PLACES
    for number, world in zip(("", "2", "3"), WORLDS, strict=True):
        drawn = lines_of(figure, f"x{number}")
        assert [trace.name for trace in drawn] == TITLES
        assert (
            len({trace.line.dash for trace in drawn}) == len({trace.marker.symbol[0] for trace in drawn}) == 2
        )
        bound = next(t for t in figure.data if t.xaxis == f"x{number}" and "K·V*" in (t.name or ""))
        assert bound.y[0] == pytest.approx(most(world))
        assert figure.layout[f"yaxis{number}"].range == figure.layout.yaxis.range
    legend = [trace.name for trace in figure.data if trace.name and trace.showlegend is not False]
    assert len(legend) == len(set(legend))
    rows = picture.table[picture.table["environment"] == PLACES[2]]
    assert rows["curve"].unique().tolist() == TITLES
    assert "RiverSwim: At ε = 1, the loss is" in picture.see
    assert "For DP-UCBVI, halving ε multiplies regret by" in picture.see


@pytest.mark.parametrize("measure", ["regret", "privacy cost"])
def test_environments_in_one_panel_have_their_own_bounds_and_looks(measure: Any) -> None:
    figure = result_of({"environment": WORLDS, "epsilon": BUDGETS}).plot(measure).figure
    drawn = lines_of(figure)
    assert [trace.name for trace in drawn] == PLACES
    assert len({trace.line.dash for trace in drawn}) == len({trace.marker.symbol[0] for trace in drawn}) == 3
    bounds = [trace for trace in figure.data if "the most that can be lost" in (trace.name or "")]
    assert [bound.y[0] for bound in bounds] == pytest.approx([most(world) for world in WORLDS])
    assert [bound.line.dash for bound in bounds] == [trace.line.dash for trace in drawn]


def test_legends_have_no_fitted_numbers_and_call_regret_regret() -> None:
    result = result_of({"algorithm": ALGORITHMS, "epsilon": BUDGETS})
    for measure in ("regret", "privacy cost", "share"):
        picture = result.plot(measure)
        for trace in lines_of(picture.figure):
            assert trace.name in TITLES
            assert not re.search(r"[0-9]", trace.name)
    assert "the cost" not in result.plot("regret").see
    assert "multiplies the cost" in result.plot("privacy cost").see
