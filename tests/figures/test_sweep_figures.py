"""Figures of sweeps of several algorithms and environments, as a paper prints them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import dprl
from dprl.metrics.curves import RunCurves
from dprl.simulation import answer, answered

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
