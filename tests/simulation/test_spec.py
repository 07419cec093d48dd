"""A spec is a value: checked, canonical, and the same however it is written."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from dprl import ALGORITHMS, ENVIRONMENTS, RunSpec, SpecError, spec_from_json
from dprl.fields import Field
from dprl.links import decode_spec
from dprl.simulation import FIELDS
from dprl.simulation.pairs import calibrations_for, mechanisms_for
from tests.problems import few, fits, model

IGNORED_WITHOUT_PRIVACY = ("mechanism", "calibration", "epsilon", "delta")


TEXTS_OF = {"map": ("SG", "S-/WG", "S---/-WX-/---G"), "model": (model(), model(S=3, A=1))}


def values(field: Field) -> st.SearchStrategy[Any]:
    """Allowed values, sizes kept small."""
    if field.kind == "text":
        return st.sampled_from(TEXTS_OF[field.name])
    if field.kind == "choice":
        return st.sampled_from(field.choices)
    low, high = field.low or 0.0, field.high or 0.0
    if field.kind == "int":
        return st.integers(int(low), min(int(high), int(low) + 5))
    return st.floats(low, high, exclude_min=field.low_open)


def params(fields: tuple[Field, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Some parameters given, some left to their defaults."""
    return st.fixed_dictionaries({}, optional={f.name: values(f) for f in fields})


@st.composite
def specs(draw: st.DrawFn) -> RunSpec:
    """Any valid spec, from the registries and the table."""
    world = draw(st.sampled_from(list(ENVIRONMENTS.values())))
    learner = draw(st.sampled_from(list(ALGORITHMS.values())))
    privacy = draw(st.sampled_from(learner.privacies))
    world_params = draw(params(world.fields))
    assume(world_params.get("id") != "Taxi-v3")  # too large unless its structure is declared
    assume(fits(learner, world.key, world_params))
    structure = draw(st.sampled_from([None, "environment"])) if learner.declarable else None
    given_fields: dict[str, Any] = {
        "environment": world.key,
        "environment_params": world_params,
        "algorithm": learner.key,
        "algorithm_params": draw(params(learner.fields)),
        "structure": structure,
        "privacy": privacy,
        "bonus": draw(st.sampled_from(learner.bonuses)),
        "episodes": draw(st.integers(1, 10**6) | st.integers(1, 10**15)),
        "seeds": draw(values(FIELDS["seeds"])),
        "root_seed": draw(st.integers(0, 2**53 - 1)),
    }
    eta = draw(st.sampled_from(["0.02", "0.05", "1", "0.3"]))
    episodic = given_fields["episodes"] <= 10**4 and draw(st.booleans())
    given_fields["schedule"] = "episodic" if episodic else f"geometric:{eta}"
    name: str
    for name in ("epsilon", "delta", "beta"):
        if draw(st.booleans()):
            given_fields[name] = draw(values(FIELDS[name]))
    mechanism = draw(st.sampled_from((None, *mechanisms_for(given_fields["algorithm"], privacy))))
    given_fields["mechanism"] = mechanism
    if mechanism:
        given_fields["calibration"] = draw(st.sampled_from((None, *calibrations_for(learner.key, mechanism))))
    try:
        return RunSpec(**given_fields)
    except SpecError as refused:  # too few users, more bits or batches than can be accounted for, no delta
        if refused.field not in ("episodes", "schedule", "epsilon", "delta"):
            raise
        reject()


def from_strings(given: dict[str, str]) -> RunSpec:
    return RunSpec.from_dict({**given, **{k: FIELDS[k].parse(v) for k, v in given.items() if k in FIELDS}})


def as_strings(spec: RunSpec) -> dict[str, str]:
    """As a link or a command line writes it; None is left out."""
    text = {}
    for name, value in spec.to_dict().items():
        if isinstance(value, dict):
            text[name] = ",".join(f"{k}={v}" for k, v in value.items() if v is not None)
        elif value is not None:
            text[name] = str(value)
    return text


@settings(max_examples=few(150), deadline=None, derandomize=True)
@given(specs(), st.integers(0, 10))
def test_round_trips(spec: RunSpec, seed: int) -> None:
    for again in (
        RunSpec.from_dict(spec.to_dict()),
        RunSpec.from_dict(json.loads(json.dumps(spec.to_dict()))),
        spec_from_json(spec.to_json()),
        spec_from_json(json.dumps(spec.to_dict(), indent=3, sort_keys=True)),
        spec.replace(),
        from_strings(as_strings(spec)),
    ):
        assert again == spec
        assert hash(again) == hash(spec)
        assert again.to_json() == spec.to_json()
        assert again.seed_key(seed) == spec.seed_key(seed)
        assert again.label() == spec.label()
    assert list(spec.to_dict()) == list(FIELDS)
    assert "\n" not in spec.to_json()
    json.loads(spec.to_json(), parse_constant=pytest.fail)  # no NaN or Infinity


@settings(max_examples=few(100), deadline=None, derandomize=True)
@given(specs())
def test_fields_a_pair_ignores_are_none(spec: RunSpec) -> None:
    private = spec.privacy != "none"
    for name in IGNORED_WITHOUT_PRIVACY:
        assert (getattr(spec, name) is not None) == private
    assert (spec.beta is None) == (not private and spec.bonus == "practical")
    assert (spec.schedule == "own") == (ALGORITHMS[spec.algorithm].loop in ("eliminate", "batches"))
    for field in ALGORITHMS[spec.algorithm].fields:
        used = {"": True, "not anytime": spec.bonus != "anytime"}[field.when]
        assert (spec.algorithm_params[field.name] is not None) == used, field.name


@settings(max_examples=60, deadline=None, derandomize=True)
@given(specs())
def test_baseline_is_the_same_without_privacy(spec: RunSpec) -> None:
    assume("none" in ALGORITHMS[spec.algorithm].privacies)
    baseline = spec.baseline()
    assert baseline.privacy == "none"
    changed = {k for k, v in spec.to_dict().items() if baseline.to_dict().get(k) != v}
    assert changed <= {"privacy", "beta", "reports", *IGNORED_WITHOUT_PRIVACY}
    assert baseline.baseline() == baseline
    # so it is computed once for all epsilons
    if spec.epsilon is not None:
        assert spec.replace(epsilon=spec.epsilon / 2 + 1).baseline() == baseline


@pytest.mark.parametrize(
    ("given_fields", "expected"),
    [
        ({}, ("gaussian-optimal", "calibrated", 1e-6)),
        ({"delta": 0}, ("laplace-tree", "calibrated", 0.0)),
        ({"calibration": "paper"}, ("laplace-tree", "paper", 0.0)),
        ({"calibration": "paper", "delta": 1e-5}, ("laplace-tree", "paper", 1e-5)),
        ({"mechanism": "laplace-tree"}, ("laplace-tree", "calibrated", 1e-6)),
        # a thousand releases have room for a factorisation, a million do not
        ({"schedule": "episodic", "episodes": 1000}, ("gaussian-optimal", "calibrated", 1e-6)),
        ({"schedule": "episodic", "episodes": 10**5}, ("gaussian-blt", "calibrated", 1e-6)),
        ({"schedule": "geometric:0.005", "episodes": 10**15}, ("gaussian-blt", "calibrated", 1e-6)),
        ({"privacy": "local"}, ("unary", "calibrated", 0.0)),
        ({"privacy": "local", "delta": 1e-6}, ("unary", "calibrated", 0.0)),
        ({"privacy": "local", "calibration": "paper"}, ("laplace", "paper", 0.0)),
        ({"privacy": "shuffle"}, ("binomial-sum", "calibrated", 1e-6)),
        ({"privacy": "shuffle", "calibration": "paper"}, ("binomial-sum", "paper", 1e-6)),
        ({"privacy": "none", "mechanism": "laplace", "calibration": "paper"}, (None, None, None)),
    ],
)
def test_the_default_mechanism_is_the_best_that_fits(
    given_fields: dict[str, Any], expected: tuple[Any, Any, Any]
) -> None:
    spec = RunSpec.from_dict(given_fields)
    assert (spec.mechanism, spec.calibration, spec.delta) == expected


def test_replace_resets_what_belongs_to_a_changed_field() -> None:
    base = RunSpec(
        environment_params={"S": 4}, algorithm_params={"cap": "H-h"}, bonus="paper", delta=1e-5, root_seed=3
    )
    assert base.replace(seeds=2).environment_params["S"] == 4
    assert base.replace(environment="chain").environment_params == {"S": 5, "A": 3, "H": 10, "slip": 0.1}
    assert base.replace(algorithm="pucb").algorithm_params["cap"] == "H"
    local = base.replace(privacy="local")
    assert (local.mechanism, local.calibration) == ("unary", "calibrated")
    assert (local.delta, local.root_seed) == (0.0, 3)
    assert local.algorithm_params["cap"] == "H-h"
    paper = base.replace(calibration="paper")
    assert (paper.mechanism, paper.delta) == ("laplace-tree", 0.0)
    assert paper.replace(calibration="calibrated").mechanism == "gaussian-optimal"
    assert base.replace(mechanism="laplace-tree").delta == 1e-6
    assert base.replace(privacy="central").delta == 1e-5  # it is that already: nothing changed
    small = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 3}, algorithm="sdp-pe")
    assert small.schedule == "own"
    assert small.replace(algorithm="dp-ucbvi") == RunSpec.from_dict(
        {k: v for k, v in small.to_dict().items() if k in ("environment", "environment_params", "privacy")}
    )
    assert small.replace(algorithm="apeve", privacy="none").schedule == "own"
    assert small.baseline().privacy == "none"
    # a bonus that is the algorithm's default is another algorithm's default there; one that was asked for stays
    here = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 3}, privacy="shuffle")
    assert here.replace(algorithm="sdp-pe") == small
    assert base.replace(algorithm="pucb").bonus == "paper"
    assert small.replace(bonus="paper").replace(algorithm="dp-ucbvi").bonus == "paper"
    # a parameter that the old combination ignored takes its default again
    quiet = RunSpec()
    assert quiet.algorithm_params["cap"] is None
    assert quiet.replace(bonus="paper") == RunSpec(bonus="paper")
    assert RunSpec(bonus="paper").algorithm_params["cap"] == "H"


def test_replace_chooses_a_mechanism_anew_unless_another_was_asked_for() -> None:
    """What was chosen for the old spec is chosen for the new one; what was asked for stays, or is refused."""
    base = RunSpec(episodes=10**5)
    for changes, mechanism in (
        ({"schedule": "episodic"}, "gaussian-blt"),  # no room for 10^5 rows of noise
        ({"schedule": "geometric:0.002", "episodes": 10**15}, "gaussian-blt"),
        ({"delta": 0.0}, "laplace-tree"),
        ({"epsilon": 2.0}, "gaussian-optimal"),
    ):
        there = base.replace(**changes)
        assert there == RunSpec.from_dict({"episodes": 10**5} | changes)
        assert there.mechanism == mechanism
        assert there.replace(**{name: getattr(base, name) for name in changes}) == base
    asked = base.replace(mechanism="laplace-tree")
    assert asked.replace(schedule="episodic").mechanism == "laplace-tree"
    with pytest.raises(SpecError, match="gaussian-toeplitz stores the noise"):
        base.replace(schedule="episodic", mechanism="gaussian-toeplitz")


# what changes the result changes the key, and only that

CHANGES: dict[str, Any] = {
    "environment": "random",
    "environment_params": {"S": 7},
    "algorithm": "ucbvi",
    "algorithm_params": {"cap": "H-h"},
    "structure": "environment",
    "privacy": "local",
    "mechanism": "gaussian-tree",
    "calibration": "paper",
    "reports": "played",
    "epsilon": 2.0,
    "delta": 0.01,
    "beta": 0.2,
    "bonus": "anytime",
    "episodes": 10**8,
    "contribution": 3,
    "schedule": "geometric:0.03",
    "root_seed": 1,
}


def test_seed_key_follows_everything_but_the_number_of_seeds() -> None:
    base = RunSpec(bonus="paper")
    free = {name for name, f in FIELDS.items() if f.kind != "choice" or len(f.choices) > 1} - {"seeds"}
    assert CHANGES.keys() == free, "say how the new field changes the key"
    keys = [base.seed_key(0), base.seed_key(1)]
    for name, value in CHANGES.items():
        needed = {"reports": {"privacy": "shuffle"}}.get(name, {})
        other = RunSpec.from_dict({"bonus": "paper", **needed, name: value})
        keys.append(other.seed_key(0))
        assert other != base
    assert len(set(keys)) == len(keys)
    assert base.replace(seeds=17).seed_key(0) == base.seed_key(0)
    assert base.replace(seeds=17) != base
    assert re.fullmatch(r"[0-9a-f]{32}", keys[0])


def test_seed_key_does_not_depend_on_how_it_was_written() -> None:
    a = RunSpec(environment_params={"H": 10, "S": 6}, episodes=1e6, epsilon=1)
    b = from_strings({"environment_params": "S=6,H=10", "episodes": "1e6", "schedule": "adaptive:0.10"})
    c = RunSpec(environment_params={"H": "10"}, episodes=10**6, mechanism="gaussian-optimal", delta=1e-6)
    assert a == b == c
    assert a.seed_key(3) == b.seed_key(3) == c.seed_key(3)
    d = RunSpec(calibration="paper", mechanism="laplace-tree", delta=-0.0)
    assert d == RunSpec(calibration="paper")
    assert d.seed_key(3) == RunSpec(calibration="paper").seed_key(3)


def test_seed_key_follows_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    before = RunSpec().seed_key(0)
    monkeypatch.setattr("dprl.simulation.base.engine", lambda: ("other", "sources", "versions"))
    assert RunSpec().seed_key(0) != before


def test_delta_tied_to_the_users() -> None:
    """A tenth of one over K; written out in the spec, readable wherever a delta is read."""
    spec = RunSpec(delta="1/(10K)", episodes=10**9)
    assert spec == RunSpec(delta=1e-10, episodes=10**9)
    assert RunSpec(delta="1/(10K)", episodes=10**15, privacy="shuffle").delta == 1e-16
    assert RunSpec(delta="1/(10K)", privacy="none").delta is None
    assert RunSpec().delta == 1e-6
    assert FIELDS["delta"].parse("1/(10 K)") == "1/(10K)"
    with pytest.raises(SpecError, match=r"0.1 or 1/\(10K\)"):
        FIELDS["delta"].parse("1/K")
    read, problems = decode_spec("delta.1/(10K)~K.1000000")
    assert (read, problems) == (RunSpec(delta=1e-7, episodes=10**6), [])
