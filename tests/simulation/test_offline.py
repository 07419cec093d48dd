"""Offline specs as a kind: canonical, refused in a sentence, the same bits, in store, sweep, links and command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dprl
from dprl import OfflineSpec, SpecError, Sweep, spec_from_json
from dprl.__main__ import main
from dprl.simulation import OfflineTrace, answer, answered, estimate, start
from dprl.simulation.offline_spec import FIELDS, sizes_of
from tests.problems import refused, tiny

SMALL = tiny(3)


def test_a_spec_is_canonical_and_passes_through_json() -> None:
    spec = OfflineSpec()
    assert (spec.algorithm, spec.privacy, spec.calibration) == ("dp-kl-lcb", "zcdp", "calibrated")
    assert (spec.rho, spec.epsilon) == (1, None)
    assert spec == OfflineSpec(rho=1, behaviour="mixture", epsilon=3.0, environment_params={"H": "20"})
    assert spec_from_json(spec.to_json()) == spec
    later = spec.replace(contribution=2, rewards="learned", environment="gridworld")
    assert list(json.loads(later.to_json())) == ["kind", *FIELDS]
    assert list(json.loads(spec.to_json())) == ["kind", *FIELDS]
    assert hash(spec) != hash(spec.replace(n=10**8))
    plain = OfflineSpec(algorithm="apvi", rho=0.1, epsilon=2.0, delta=1e-5, calibration="calibrated")
    assert plain == spec.replace(algorithm="dp-apvi").baseline() == plain.baseline()
    assert spec.baseline() == OfflineSpec(privacy="none")
    assert (plain.calibration, plain.rho, plain.epsilon, plain.delta) == (None, None, None, None)
    assert OfflineSpec(privacy="approximate").calibration == "calibrated"
    assert (spec.label(), plain.label()) == ("DP-KL-LCB, rho 1", "APVI, no privacy")
    assert OfflineSpec(privacy="approximate", epsilon=2.0).label() == "DP-KL-LCB, epsilon 2, delta 1e-06"
    assert OfflineSpec(contribution=3).label() == "DP-KL-LCB, rho 1, 3 episodes a user"


def test_replacing_keeps_what_still_means_something() -> None:
    spec = OfflineSpec(
        algorithm="dp-apvi", rho=0.1, algorithm_params={"C2": 1.0}, environment_params={"S": 4}
    )
    assert spec.replace(seeds=2).rho == 0.1
    assert spec.replace(privacy="pure").epsilon == 1.0
    assert spec.replace(environment="clinic").environment_params["H"] == 8
    assert spec.baseline().algorithm_params["C2"] == 1.0
    assert spec.baseline().replace(algorithm="dp-apvi") == spec.replace(rho=1.0)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"environment": "mars"}, "environment"),
        ({"environment_params": {"S": 1}}, "environment_params.S"),
        ({"algorithm": "dp-ucbvi"}, "algorithm"),
        ({"algorithm_params": {"C2": -1}}, "algorithm_params.C2"),
        ({"behaviour": "mixture:2"}, "behaviour"),
        ({"privacy": "central"}, "privacy"),
        ({"algorithm": "apvi", "privacy": "zcdp"}, "privacy"),
        ({"privacy": "approximate", "calibration": "paper"}, "calibration"),
        ({"rho": 0}, "rho"),
        ({"privacy": "pure", "epsilon": -1}, "epsilon"),
        ({"privacy": "approximate", "delta": 0}, "delta"),
        ({"beta": 1}, "beta"),
        ({"episodes": 10}, "spec"),
    ],
)
def test_what_is_refused_names_its_field(changes: dict[str, Any], field: str) -> None:
    with refused(f"{field}: "):
        spec_from_json(json.dumps({"kind": "offline", "algorithm": "dp-apvi", **changes}))


def test_the_curve_is_over_sizes_up_to_n() -> None:
    for n, sizes in ((1, []), (5, []), (1000, [5, 10, 20, 50, 100, 200, 500]), (123, [5, 10, 20, 50, 100])):
        assert sizes_of(n).tolist() == [*sizes, n]
    assert len(sizes_of(10**12)) == 35


def bits(trace: OfflineTrace) -> bytes:
    parts = (trace.curve.values, trace.lower, trace.visits, trace.Q_hat, trace.penalty, trace.policy, trace.V)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def test_the_same_spec_has_the_same_bits_however_it_is_sliced() -> None:
    spec = OfflineSpec(**SMALL, n=1000)
    first, second = start(spec, 1), start(spec, 1)
    first.advance(60.0)
    while not second.advance(0.0):
        assert 0 < second.progress < 1
        assert len(second.curve().at) < len(sizes_of(spec.n))
    assert bits(first.trace()) == bits(second.trace())
    other = start(spec, 2)
    other.advance(60.0)
    assert bits(other.trace()) != bits(first.trace())


def test_a_data_set_is_the_same_whoever_learns_from_it() -> None:
    """Its seed and its size say which it is: not the budget, the learner, or where the curve ends."""

    def visits(spec: OfflineSpec) -> np.ndarray:
        trace = dprl.run(spec).seeds[0]
        return np.array(trace.visits[trace.detail_n == 1000][0])

    spec = OfflineSpec(**SMALL, n=10**4, seeds=1)
    first = visits(spec)
    for other in (spec.replace(n=1000), spec.replace(rho=0.1), spec.baseline(), spec.replace(privacy="pure")):
        np.testing.assert_array_equal(visits(other), first)
    assert not np.array_equal(visits(spec.replace(root_seed=1)), first)
    trace = dprl.run(spec).seeds[0]  # and no data set is part of another
    assert not np.array_equal(trace.visits[-1], trace.visits[-2])


def test_questions_are_answered_without_running() -> None:
    spec = OfflineSpec(**SMALL, n=10**4, seeds=1)
    assert answered(answer("guarantee", spec)) == json.loads(json.dumps(dprl.run(spec).guarantee.to_dict()))
    found = answered(answer("coverage", spec))
    trace = dprl.run(spec).seeds[0]
    assert [found["d_m"], found["optimal"]] == trace.covered
    np.testing.assert_array_equal(found["visits"], trace.behaviour)
    assert 0 < estimate(spec).seconds < estimate(spec.replace(n=10**12)).seconds < 5


def test_without_noise_what_the_paper_has_is_no_lower_bound_and_with_c3_it_is() -> None:
    """Small data sets of the clinic: V~ above v^pi, in which the missing term of order 1/n matters."""
    spec = OfflineSpec(environment="clinic", algorithm="apvi", behaviour="uniform", n=50, seeds=30)
    for params, missed in (({}, True), ({"C3": 7 / 3}, False)):
        trace = dprl.run(spec.replace(algorithm_params=params))
        lower = np.array([seed.lower for seed in trace.seeds])
        above = lower > trace.seeds[0].v_star - trace.values + 1e-9
        assert above.any() == missed


def test_a_sweep_over_budgets_computes_each_baseline_once() -> None:
    base = OfflineSpec(**SMALL, algorithm="dp-apvi", n=10**4, seeds=2)
    sweep = Sweep(base, {"rho": ["0.1", 1], "C2": [1, 16.0], "n": [100, "1e4"]})
    assert len(sweep.points) == 8
    assert len(sweep.specs) == 8 + 4  # with the baselines, which no rho changes
    assert sweep.points[-1].spec == base.replace(algorithm_params={"C2": 16.0})
    assert Sweep.from_dict(json.loads(sweep.to_json())) == sweep
    with pytest.raises(SpecError, match="give one of environment, algorithm, behaviour, privacy"):
        Sweep(base, {"seeds": [1, 2]})


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--env", "random", "--env-param", "S=3,A=2,H=3", "--rho", "0.5", "--algorithm-param", "C2=1"]
    offline = ["run", "--kind", "offline", "--algorithm", "dp-apvi", *flags, "--seeds", "2"]
    assert main([*offline, "--n", "1e4", "--out", str(tmp_path / "a")]) == 0
    assert "DP-APVI, rho 0.5: final gap" in capsys.readouterr().out
    spec = OfflineSpec(**SMALL, algorithm="dp-apvi", rho=0.5, algorithm_params={"C2": 1.0}, n=10**4, seeds=2)
    assert spec_from_json((tmp_path / "a/spec.json").read_text()) == spec
    frame = pd.read_csv(tmp_path / "a/gap.csv")
    assert list(frame.columns) == ["seed", "n", "gap"]
    pd.testing.assert_frame_equal(frame, dprl.run(spec).frame())
    summary = json.loads((tmp_path / "a/summary.json").read_text())
    assert (summary["claimed_rho"], summary["proved_delta"]) == (0.5, 1e-6)
    assert 0.5 <= summary["proved_rho"] <= 0.5 + 1e-11  # rounded to the safe side
    for wrong, field in (
        ([*offline, "--episodes", "5"], "episodes"),
        ([*offline, "--behaviour", "best"], "behaviour"),
        (["run", "--kind", "online", "--algorithm", "dp-apvi"], "algorithm"),
        (["run", "--kind", "other"], "kind"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main([*wrong, "--out", str(tmp_path / "no")])
        assert stopped.value.code == 2
        assert capsys.readouterr().err.startswith(f"dprl: {field}: ")


def test_a_sweep_over_learners_keeps_the_budget_where_they_make_that_promise() -> None:
    base = OfflineSpec(**SMALL, privacy="pure", epsilon=3.0, calibration="calibrated")
    found = dprl.Sweep(base, {"algorithm": ["apvi", "dp-apvi", "dp-kl-lcb"], "n": [10, 100]}).points
    specs = [point.spec for point in found[::2] if point.spec]
    assert [(spec.algorithm, spec.privacy, spec.epsilon, spec.calibration) for spec in specs] == [
        ("apvi", "none", None, None),
        ("dp-apvi", "pure", 3.0, "calibrated"),
        ("dp-kl-lcb", "pure", 3.0, "calibrated"),
    ]
