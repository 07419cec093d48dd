"""A sweep: its points, its runs, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dprl.fields import SpecError
from dprl.metrics.curves import RunCurves
from dprl.research.sweeps import MAX_POINTS, Sweep, SweepResult
from dprl.simulation import FIELDS, OfflineSpec, RunSpec, SeedRun
from dprl.simulation.axes import OWNERS, PrivacyChoice, axis_fields
from tests.problems import refused

BASE = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=2)


def test_points_are_the_product_and_runs_are_computed_once() -> None:
    sweep = Sweep(BASE, {"epsilon": [0.1, "1", 10], "privacy": ["none", "central"]})
    assert [point.values for point in sweep.points] == [
        (0.1, "none"), (0.1, "central"), (1.0, "none"), (1.0, "central"), (10.0, "none"), (10.0, "central"),
    ]  # fmt: skip
    baseline = BASE.baseline()
    assert {p.spec for p in sweep.points if p.values[1] == "none"} == {baseline}
    assert sweep.specs[0] == baseline
    assert len(sweep.specs) == 4
    assert set(sweep.specs) == {p.spec for p in sweep.points}
    sweep = Sweep(BASE, {"H": [2, 3, 4], "privacy": ["local"]})
    for point in sweep.points:
        assert point.spec is not None
        assert point.spec.environment_params["H"] == point.values[0]
        assert {point.spec, point.spec.baseline()} <= set(sweep.specs)


def test_models_name_mechanism_and_noise() -> None:
    words = ["central", *(f"central:laplace-tree{more}" for more in ("", ":paper", ":scaled")), "local"]
    specs = [p.spec for p in Sweep(BASE.replace(delta=1e-5), {"privacy": words}).points]
    found = [(s.mechanism, s.calibration, s.epsilon, s.delta) for s in specs if s is not None]
    assert found == [
        ("gaussian-optimal", "calibrated", 1.0, 1e-5),
        ("laplace-tree", "calibrated", 1.0, 1e-5),
        ("laplace-tree", "paper", 1.0, 0.0),
        ("laplace-tree", "paper", 0.5, 0.0),
        ("unary", "calibrated", 1.0, 0.0),
    ]


def test_a_model_says_whether_rows_count_only_who_played_them() -> None:
    unary = "local:unary:calibrated"
    words = [unary, f"{unary}:played", "shuffle:binomial-sum:calibrated:played"]
    specs = [p.spec for p in Sweep(BASE, {"privacy": words}).points]
    assert [spec.reports for spec in specs if spec] == ["all", "played", "played"]
    assert [PrivacyChoice.parse(text).text for text in words] == words
    title = "local, One-hot questions, only reports from users told to take the action"
    assert PrivacyChoice.parse(words[1]).title == title
    (refused,) = Sweep(BASE, {"privacy": ["central:gaussian-tree:calibrated:played"]}).points
    assert refused.refusal.startswith("reports: played applies to reports that users send")
    for text in ("local:unary:played", "local:::played", "local:unary:calibrated:all"):
        with pytest.raises(SpecError, match="local:unary:calibrated:played"):
            PrivacyChoice.parse(text)


@pytest.mark.parametrize("text", ["central:laplace-tree:scaled", "local:laplace:scaled"])
def test_scaled_noise_proves_what_was_asked(text: str) -> None:
    (point,) = Sweep(BASE, {"privacy": [text], "epsilon": [1.0]}).points
    assert point.spec is not None
    card = SeedRun(point.spec, 0).noise.guarantee()
    assert card.proved_delta == 0
    assert card.proved_epsilon == pytest.approx(1.0, rel=1e-9)


def test_a_point_that_cannot_be_run_says_why_and_the_others_stay() -> None:
    sweep = Sweep(BASE, {"S": [3, 300]})
    good, bad = sweep.points
    assert good.spec is not None
    assert bad.spec is None
    assert "counters" in bad.refusal
    assert len(sweep.specs) == 2  # the good one and its baseline


@pytest.mark.parametrize(
    ("axes", "names"),
    [
        ({}, "axis"),
        ({"nonsense": [1]}, "axis"),
        ({"seeds": [1, 2]}, "axis"),
        ({"epsilon": []}, "axis"),
        ({"epsilon": 1.0}, "axis"),
        ({"epsilon": "0.1,1"}, "axis"),
        ([("epsilon", [1.0])], "axes"),
        ("epsilon", "axes"),
        ({"epsilon": [1, 1.0]}, "axis"),
        ({"epsilon": ["none"]}, "epsilon"),
        ({"epsilon": [-1]}, "epsilon"),
        ({"privacy": ["secret"]}, "privacy"),
        ({"privacy": ["central:gaussian"]}, "privacy"),
        ({"privacy": ["central:gaussian-tree:scaled"]}, "privacy"),
        ({"privacy": [3]}, "privacy"),
        ({"privacy": ["central:laplace-tree:paper:more"]}, "privacy"),
        ({"episodes": list(range(1, MAX_POINTS + 2))}, "axis"),
    ],
)
def test_what_is_refused(axes: dict[str, list[object]], names: str) -> None:
    with refused(f"{names}: "):
        Sweep(BASE, axes)


def test_json_round_trip() -> None:
    sweep = Sweep(BASE, {"epsilon": [0.1, 1], "privacy": ["none", "central:gaussian-tree"]})
    assert Sweep.from_dict(json.loads(sweep.to_json())) == sweep
    wrong: list[Any] = [None, [], {"base": {}}, *({"base": {}, "axes": axes} for axes in (3, {"epsilon": 1}))]
    for bad in wrong:
        with pytest.raises(SpecError):
            Sweep.from_dict(bad)


def test_frame_is_tidy_and_pairs_seeds() -> None:
    sweep = Sweep(BASE, {"epsilon": [1, 10], "privacy": ["none", "central"]})
    final = {spec: np.array([10.0, 20.0]) + i for i, spec in enumerate(sweep.specs)}
    curves = {spec: RunCurves(np.array([BASE.episodes]), ends[:, None]) for spec, ends in final.items()}
    frame = SweepResult(sweep, curves).frame()
    assert list(frame.columns) == ["epsilon", "privacy", "seed", "episode", "regret", "extra_regret"]
    assert len(frame) == 2 * 2 * BASE.seeds
    assert (frame[frame.privacy == "none"].extra_regret == 0).all()
    for point in sweep.points:
        assert point.spec is not None
        rows = frame[(frame.epsilon == point.values[0]) & (frame.privacy == point.values[1])]
        np.testing.assert_array_equal(rows.regret, final[point.spec])
        np.testing.assert_array_equal(rows.extra_regret, final[point.spec] - final[BASE.baseline()])


def test_every_field_offered_as_an_axis_takes_its_default() -> None:
    for name, field in axis_fields(BASE, OWNERS, FIELDS).items():
        if field.default is not None:
            assert Sweep(BASE, {name: [field.default]}).points[0].values == (field.default,)


def test_environments_of_a_sweep_take_the_parameters_of_axes_and_their_own_defaults() -> None:
    sweep = Sweep(RunSpec("random"), {"environment": ["chain", "riverswim"], "H": [5, 6]})
    assert [point.refusal for point in sweep.points] == [""] * 4
    assert sweep.points[1].spec == RunSpec("chain", environment_params={"H": 6})
    short = Sweep(RunSpec("riverswim", environment_params={"H": 6}), {"environment": ["riverswim", "chain"]})
    assert [point.spec.environment_params["H"] for point in short.points if point.spec] == [6, 6]
    offline = Sweep(OfflineSpec(environment_params={"H": 6}), {"environment": ["clinic", "chain"]})
    assert [point.spec.environment_params["H"] for point in offline.points if point.spec] == [6, 6]
