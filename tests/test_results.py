"""Results are data: one run of many, tables of means, and sentences without marks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t

import dprl
from dprl.metrics.curves import RunCurves
from tests.problems import refused

SPEC = dprl.RunSpec("riverswim", environment_params={"S": 3, "H": 2}, episodes=100, seeds=3)


@pytest.fixture(scope="module")
def result() -> dprl.SweepResult[dprl.RunSpec]:
    sweep = dprl.Sweep(SPEC, {"epsilon": [0.3, 1], "privacy": ["none", "central"]})
    traces = {spec: dprl.run(spec) for spec in sweep.specs}
    return dprl.SweepResult(sweep, {spec: RunCurves(one.at, one.values) for spec, one in traces.items()})


def test_one_run_is_selected_by_its_values(result: dprl.SweepResult[dprl.RunSpec]) -> None:
    trace = result.select(epsilon="0.3", privacy="central")
    assert trace.spec == SPEC.replace(epsilon=0.3)
    assert np.array_equal(trace.values, result.curves[trace.spec].values)
    assert trace.seeds[0].policy.shape[1:] == (2, 3)
    assert result.select(privacy="none").spec == SPEC.baseline()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"epsilon": 0.3},
            "axis: 2 runs have these values; give the values of one: epsilon 0.3, 1.0; privacy none",
        ),
        ({"epsilon": 2}, "axis: 0 runs have these values"),
        (
            {"privac": "none"},
            "axis: privac is not an axis of this sweep (did you mean privacy?); give one of epsilon",
        ),
        ({"epsilon": "x"}, "epsilon: x is not"),
        ({}, "axis: 3 runs have these values"),
    ],
)
def test_what_selects_no_single_run_gets_a_sentence(
    result: dprl.SweepResult[dprl.RunSpec], values: dict[str, Any], sentence: str
) -> None:
    with refused(sentence):
        result.select(**values)


def test_a_summary_has_means_with_intervals(result: dprl.SweepResult[dprl.RunSpec]) -> None:
    table = result.summary()
    assert list(table.columns[:5]) == ["epsilon", "privacy", "regret_mean", "regret_low", "regret_high"]
    assert len(table) == 4
    row = table[(table["epsilon"] == 0.3) & (table["privacy"] == "central")].iloc[0]
    ends = result.curves[SPEC.replace(epsilon=0.3)].ends
    half = t.ppf(0.975, 2) * ends.std(ddof=1) / np.sqrt(3)
    assert row["regret_mean"] == pytest.approx(ends.mean())
    assert row["regret_low"] == pytest.approx(max(ends.mean() - half, 0))
    assert row["regret_high"] == pytest.approx(ends.mean() + half)
    assert (table[table["privacy"] == "none"]["extra_regret_mean"] == 0).all()


def test_an_interval_of_regret_begins_at_zero(result: dprl.SweepResult[dprl.RunSpec]) -> None:
    far = RunCurves(np.array([100]), np.array([[0.0], [0.0], [30.0]]))
    table = dprl.SweepResult(result.sweep, dict.fromkeys(result.sweep.specs, far)).summary()
    assert (table["regret_low"] == 0).all()
    seeds = list(dprl.run(SPEC).seeds)
    for seed, value in zip(seeds, (0.0, 0.0, 30.0), strict=True):
        object.__setattr__(seed, "curve", seed.curve._replace(at=np.array([100]), values=np.array([value])))
    trace = dprl.Trace(SPEC, tuple(seeds))
    assert trace.summary()["final_regret_low"] == 0
    assert dprl.compare({"a": trace}).summary()["final_regret_low"][0] == 0


def test_every_frame_has_the_whole_curve_or_its_end(result: dprl.SweepResult[dprl.RunSpec]) -> None:
    trace = dprl.run(SPEC)
    compared = dprl.compare({"one": trace})
    for shown, rows in ((trace, SPEC.seeds), (compared, SPEC.seeds), (result, 4 * SPEC.seeds)):
        end, whole = shown.frame(whole=False), shown.frame(whole=True)
        assert len(end) == rows
        assert len(whole) == rows * len(trace.at)
        assert set(end.columns) == set(whole.columns)
        assert (end["episode"] == SPEC.episodes).all()
