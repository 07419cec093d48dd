"""Sweeps, their points and runs; what is no spec, and no sweep, is refused in one sentence that names its field."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dprl import ALGORITHMS, ENVIRONMENTS, MECHANISMS, RunSpec, SpecError, estimate, spec_from_json
from dprl.metrics.curves import RunCurves
from dprl.privacy import PRIVATIZERS
from dprl.research.sweeps import MAX_POINTS, Sweep, SweepResult
from dprl.simulation import FIELDS, OfflineSpec, SeedRun
from dprl.simulation.axes import OWNERS, PrivacyChoice, axis_fields
from tests.problems import few, model, refused
from tests.simulation.test_spec import from_strings

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
    card = SeedRun(point.spec, 0, plain=True).noise.guarantee()
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


# what is no spec

MAX_CELLS, MAX_SECONDS = 250_000, 600  # counters H*S*A*(S+2); one core, one seed


def refusal(**given_fields: Any) -> SpecError:
    with refused("") as error:
        RunSpec.from_dict(given_fields)
    assert len(str(error.value)) < 400
    assert ". " not in str(error.value).replace("... ", "").rstrip(".")  # one sentence
    return error.value


NUMBERS = [float("nan"), float("inf"), 1j, 10**400, -(10**5000), Decimal("nan"), np.zeros(3)]
RUBBISH = [True, [], [1], {}, {"a": 1}, object(), "rubbish\nand more", "1; drop table", "", b"x", *NUMBERS]


@pytest.mark.parametrize(
    "value", [*RUBBISH, None], ids=[f"{type(value).__name__}-{i}" for i, value in enumerate([*RUBBISH, None])]
)
@pytest.mark.parametrize("name", FIELDS)
def test_rubbish_is_refused_by_the_field_it_was_given_to(name: str, value: Any) -> None:
    empty = FIELDS[name].kind == "params" and isinstance(value, dict) and not value
    if empty or (value is None and FIELDS[name].optional):
        RunSpec.from_dict({name: value})
        return
    model = name == "environment" and isinstance(value, dict)  # taken for one, whose field says what is wrong
    assert refusal(**{name: value}).field == ("environment_params.model" if model else name)


@pytest.mark.parametrize("name", [n for n, f in FIELDS.items() if f.kind in ("int", "float")])
def test_numbers_out_of_range_are_refused_and_the_ends_are_not(name: str) -> None:
    field = FIELDS[name]
    assert field.low is not None
    assert field.high is not None
    step = 1 if field.kind == "int" else 1e-9 * max(1.0, field.high)
    for value in (field.low - step, field.high + step, -(10.0**300), 10.0**300):
        error = refusal(**{name: value})
        assert error.field == name
        assert "from" in str(error) or "above" in str(error)
        with refused(f"{name}: "):
            from_strings({name: str(value)})
    for value in (field.low, field.high):
        RunSpec.from_dict({name: value})
        from_strings({name: str(value)})


@pytest.mark.parametrize("where", ["environment", "algorithm"])
def test_parameters_are_refused_by_name(where: str) -> None:
    registry: dict[str, Any] = dict(ENVIRONMENTS if where == "environment" else ALGORITHMS)
    for key, entry in registry.items():
        assert refusal(**{where: key, f"{where}_params": {"nonsense\x00": 1}}).field == f"{where}_params"
        for field in entry.fields:
            for value in RUBBISH:
                name = refusal(**{where: key, f"{where}_params": {field.name: value}}).field
                assert name.startswith(f"{where}_params.{field.name}")  # a model also says which key of it
            if field.kind in ("int", "float"):
                for value in (field.low - 1, field.high + 1, str(field.high + 1)):
                    name = refusal(**{where: key, f"{where}_params": {field.name: value}}).field
                    assert name == f"{where}_params.{field.name}"


@pytest.mark.parametrize("value", [None, [], 3, "spec", [["environment", "random"]]])
def test_what_is_not_an_object_is_not_a_spec(value: Any) -> None:
    with refused("spec: "):
        RunSpec.from_dict(value)


@pytest.mark.parametrize(
    "text",
    ["", "{", "nonsense", "[]", "3", "null", '{"nonsense": 1}', "[" * 10**5, "1" * 5000, "\x00", '"a"'],
)
def test_what_is_not_json_is_not_a_spec(text: str) -> None:
    with refused("spec: "):
        spec_from_json(text)


@pytest.mark.parametrize(
    ("given_fields", "field"),
    [
        ({"environment": "gymnasium", "environment_params": {"id": "Taxi-v3"}}, "environment_params"),
        ({"schedule": "episodic"}, "episodes"),
        ({"schedule": "episodic", "episodes": 10**6 + 1}, "episodes"),
        ({"environment": "random", "environment_params": {"variant": "osband"}}, "environment_params"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(given_fields: dict[str, Any], field: str) -> None:
    """Learners, models, mechanisms and noise: contract/test_pairs.py, and with advice privacy/test_guarantee.py."""
    assert refusal(**given_fields).field == field


@settings(max_examples=few(100), deadline=None, derandomize=True)
@given(st.integers(1, 300), st.integers(1, 100), st.integers(1, 1000))
@example(300, 100, 1000)
@example(300, 100, 1)
def test_too_large_an_environment_is_refused_with_one_that_fits(S: int, A: int, H: int) -> None:
    cells = H * S * A * (S + 2)
    given_params = {"S": S, "A": A, "H": H}
    if cells <= MAX_CELLS:
        RunSpec("random", environment_params=given_params, episodes=100)
        return
    error = refusal(environment="random", environment_params=given_params, episodes=100)
    assert error.field == "environment_params"
    advice = re.search(r"give (?:H=(1) and )?an ([SH]) of at most (\d+)", str(error))
    assert advice, str(error)
    fits = {**given_params, **({"H": 1} if advice[1] else {}), advice[2]: int(advice[3])}
    RunSpec("random", environment_params=fits, episodes=100)
    with pytest.raises(SpecError):
        RunSpec("random", environment_params=fits | {advice[2]: int(advice[3]) + 1}, episodes=100)


@settings(max_examples=few(200), deadline=None, derandomize=True)
@given(st.integers(3, 100), st.integers(1, 1000), st.sampled_from(list(ALGORITHMS["dp-ucbvi"].privacies)))
def test_too_long_a_run_is_refused_with_one_that_fits(S: int, H: int, privacy: str) -> None:
    """A million episodes, each a release, in the largest problems."""
    given_fields = {
        "environment_params": {"S": S, "H": min(H, MAX_CELLS // (2 * S * (S + 2)))},
        "privacy": privacy,
        "schedule": "episodic",
        "episodes": 10**6,
    }
    try:
        assert estimate(RunSpec.from_dict(given_fields)).seconds <= MAX_SECONDS
    except SpecError:
        error = refusal(**given_fields)
        assert error.field == "episodes"
        advice = re.search(r"give at most (\S+) episodes", str(error))
        assert advice, str(error)
        RunSpec.from_dict(given_fields | {"episodes": float(advice[1])})


LARGE: dict[str, Any] = {"environment_params": {"S": 50, "H": 48}}
DENSE = {"mechanism": "gaussian-toeplitz", "episodes": 10**15}  # keeps the noise of all releases


@pytest.mark.parametrize(
    ("name", "raised", "given_fields", "refusal_says"),
    [
        ("DPRL_MAX_COUNTERS", "300_000", {"environment_params": {"S": 40, "H": 80}}, "268,800 counters"),
        ("DPRL_MAX_MINUTES", "1e6", LARGE | {"schedule": "episodic"}, "minutes for each seed"),
        ("DPRL_MAX_GB", "64", LARGE | DENSE | {"schedule": "geometric:0.02"}, "GB for"),
    ],
)
def test_a_variable_raises_a_limit(
    monkeypatch: pytest.MonkeyPatch, name: str, raised: str, given_fields: dict[str, Any], refusal_says: str
) -> None:
    given_fields = dict[str, Any](environment="riverswim", episodes=10**6) | given_fields
    error = refusal(**given_fields)
    assert refusal_says in error.sentence
    assert error.__notes__ == [f"The environment variable {name} raises this limit."]
    monkeypatch.setenv(name, raised)
    RunSpec(**given_fields)
    for wrong in ("many", "0", "-1", "nan", "inf"):
        monkeypatch.setenv(name, wrong)
        said = refusal(**given_fields)
        assert said.field == name
        assert said.sentence.startswith(f"{wrong} is not allowed; give a positive number")


# fuzzing: anything at all is a spec or a SpecError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(list(FIELDS))
WORDS = ["episodic", "geometric:0.5", "paper", "S-/-G", model()]
KNOWN = st.sampled_from([*ENVIRONMENTS, *ALGORITHMS, *PRIVATIZERS, *MECHANISMS, *WORDS])
ENTRIES: list[Any] = [*ENVIRONMENTS.values(), *ALGORITHMS.values()]
PARAMS = st.dictionaries(
    st.sampled_from(sorted({field.name for entry in ENTRIES for field in entry.fields} | {"x"})),
    JSON | st.integers(-5, 400) | st.sampled_from(["6", "1e3", "osband", "H-h"]),
    max_size=4,
)


@settings(max_examples=few(600), deadline=None, derandomize=True)
@given(st.dictionaries(NAMES, JSON | KNOWN | PARAMS | st.integers(0, 10**16) | st.floats(0, 100), max_size=6))
def test_any_json_is_a_spec_or_is_refused_in_one_sentence(given_fields: dict[str, Any]) -> None:
    try:
        spec = RunSpec.from_dict(given_fields)
    except SpecError as error:
        refused = error
    else:
        assert spec_from_json(spec.to_json()) == spec
        return
    assert str(refused).isprintable()
    assert str(refused).endswith(".")
    assert refused.field.partition(".")[0] in {*FIELDS, "spec"}
