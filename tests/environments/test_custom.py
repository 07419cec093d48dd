"""An upload is an MDP, or is refused in one sentence and at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dprl import ENVIRONMENTS, RunSpec, SpecError
from dprl.environments.custom import EXAMPLE, MAX_TEXT
from tests import problems
from tests.problems import few

make = ENVIRONMENTS["custom"].make
GOOD: dict[str, Any] = {key: EXAMPLE[key] for key in ("P", "R", "d1")}  # two states, two actions


def spec_of(text: str, **params: Any) -> RunSpec:
    return RunSpec(environment="custom", environment_params={"model": text, **params})


def refused(text: str, field: str = "environment_params", **params: Any) -> str:
    """The sentence with which an upload is refused, by the spec as by `make`."""
    sentences = []
    for attempt in (spec_of, make):
        with problems.refused(field) as error:
            attempt(text, **params)
        assert ". " not in str(error.value)
        sentences.append(str(error.value))
    return sentences[0]


def test_the_example_is_one() -> None:
    mdp = make()
    np.testing.assert_array_equal(mdp.P, np.broadcast_to(EXAMPLE["P"], (10, 2, 2, 2)))
    np.testing.assert_array_equal(mdp.R, np.broadcast_to(EXAMPLE["R"], (10, 2, 2)))
    assert mdp.state_labels == ("hall", "study")
    assert mdp.action_labels == ("wait", "walk")
    assert mdp.name == "Two rooms"


def test_labels_and_name_may_be_left_out() -> None:
    mdp = make(json.dumps(GOOD), H=3)
    assert mdp.state_labels == ("state 0", "state 1")
    assert mdp.action_labels == ("action 0", "action 1")
    assert mdp.H == 3


def test_every_step_may_be_its_own() -> None:
    rng = np.random.default_rng(0)
    P, R = rng.multinomial(8, [1 / 3] * 3, size=(4, 3, 2)) / 8, rng.random((4, 3, 2))
    model = json.dumps({"P": P.tolist(), "R": R.tolist(), "d1": [0.5, 0.25, 0.25]})
    mdp = make(model, H=4)
    np.testing.assert_array_equal(mdp.P, P)
    np.testing.assert_array_equal(mdp.R, R)
    assert spec_of(model, H=4).environment_params["H"] == 4
    for H in (1, 3, 5):
        assert "4 steps" in refused(model, "environment_params.H", H=H)


NAN, INF = float("nan"), float("inf")
SHAPES: list[dict[str, Any]] = [
    {"P": [[[1.0]], [[1.0]]]},  # S from rows, but rows of one
    {"P": [[[0.5, 0.5, 0.0]] * 2] * 2},
    {"P": [[0.5, 0.5], [0.5, 0.5]]},  # too shallow
    {"P": [[[[[1.0]]]]]},  # too deep
    {"P": []}, {"P": [[]]}, {"P": [[[]]]}, {"P": [[[], []], [[], []]]}, {"P": 1}, {"P": None}, {"P": {}}, {"P": "P"},
    {"P": [[[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [1.0]]]},  # ragged
    {"P": [[[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9]]]},
    {"P": [[[0.9, 0.1], [0.2, 0.8]], [[0.1, [0.9]], [0.7, 0.3]]]},
    {"R": [[0.1, 0.0]]}, {"R": [0.1, 0.0]}, {"R": [[0.1], [0.2]]}, {"R": []}, {"R": None},
    {"d1": [1.0]}, {"d1": [1.0, 0.0, 0.0]}, {"d1": [[1.0, 0.0]]}, {"d1": []}, {"d1": 1.0},
]  # fmt: skip


def with_row(row: list[Any]) -> dict[str, Any]:
    return {"P": [[row, [0.2, 0.8]], [[0.1, 0.9], [0.7, 0.3]]]}


NUMBERS: list[dict[str, Any]] = [
    with_row([0.9, 0.1 + 2e-5]), with_row([0.9, 0.1 - 2e-5]), with_row([0.0, 0.0]), with_row([2, -1]),
    with_row([NAN, 0.1]), with_row([NAN, NAN]), with_row([INF, 0.1]), with_row([-INF, 1.0]), with_row([True, False]),
    with_row(["0.9", "0.1"]), with_row([None, 1.0]), with_row([{}, 1.0]), with_row([[], 1.0]), with_row([10**400, 0]),
    {"R": [[0.1, 0.0], [1.0, 1.0001]]}, {"R": [[0.1, -1e-12], [1.0, 0.2]]}, {"R": [[NAN, 0.0], [1.0, 0.2]]},
    {"R": [[True, 0.0], [1.0, 0.2]]}, {"R": [["", 0.0], [1.0, 0.2]]},
    {"d1": [1.5, -0.5]}, {"d1": [NAN, 1.0]}, {"d1": [True, False]}, {"d1": ["1", "0"]},
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (with_row([0.9, 0.2]), "P[0][0] sums to 1.1; give probabilities that sum to 1."),
        (with_row([0.9, 0.09998]), "P[0][0] sums to 0.99998; give probabilities that sum to 1."),
        (with_row([1.1, -0.1]), "P[0][0][1] is -0.1, which is negative; give probabilities."),
        (with_row([0.5, NAN]), "P[0][0][1] is NaN; give probabilities."),
        ({"d1": [0.5, 0.4]}, "d1 sums to 0.9; give probabilities that sum to 1."),
        ({"R": [[0.1, 0.0], [1.0, 1.5]]}, "R[1][1] is 1.5; give numbers from 0 to 1."),
        ({"R": [[0.1, -1], [1.0, 1]]}, "R[0][1] is -1, which is negative; give numbers from 0 to 1."),
    ],
)  # fmt: skip
def test_a_wrong_number_or_row_is_shown(change: dict[str, Any], says: str) -> None:
    key = next(iter(change))
    assert refused(json.dumps(GOOD | change)) == f"environment_params.model.{key}: {says}"


@pytest.mark.parametrize(
    "row",
    [[0.333333] * 3, [float(np.float32(1 / 3))] * 3, [0.9999999, 0, 0], [0.3, 0.3, 0.4000099], [1, 0, 0]],
)
def test_rounded_probabilities_are_made_to_sum_to_1(row: list[float]) -> None:
    mdp = make(json.dumps({"P": [[row]] * 3, "R": [[0.5]] * 3, "d1": row}), H=2)
    np.testing.assert_allclose(mdp.P.sum(-1), 1.0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(mdp.d1.sum(), 1.0, rtol=0, atol=1e-15)


LABELS: list[dict[str, Any]] = [
    {"state_labels": ["a"]}, {"state_labels": ["a", "b", "c"]}, {"state_labels": "ab"}, {"state_labels": ["a", 1]},
    {"state_labels": ["a", ""]}, {"state_labels": ["a", "b" * 61]}, {"state_labels": ["a", "b\nc"]},
    {"state_labels": ["a", "\x1b[31m"]}, {"state_labels": ["a", "\ud800"]}, {"state_labels": None},
    {"state_labels": {"a": 1, "b": 2}}, {"action_labels": ["a"]}, {"action_labels": [["a"], ["b"]]}, {"name": ""},
    {"name": 3}, {"name": "x" * 1000}, {"name": None}, {"name": ["a"]},
]  # fmt: skip


@pytest.mark.parametrize("change", [*SHAPES, *NUMBERS, *LABELS], ids=lambda change: repr(change)[:60])
def test_a_key_that_is_wrong_is_named(change: dict[str, Any]) -> None:
    said = refused(json.dumps(GOOD | change), "environment_params.model")
    assert change in SHAPES or said.startswith(f"environment_params.model.{next(iter(change))}: ")


@pytest.mark.parametrize(
    "text",
    ["", " ", "P", "null", "true", "3", '"P"', "[]", "{}", "{", json.dumps(GOOD)[:-1], json.dumps(GOOD) + "}", "\x00",
     json.dumps({k: v for k, v in GOOD.items() if k != "P"}), json.dumps(GOOD | {"Q": 1}), json.dumps([GOOD]),
     json.dumps({"P": GOOD}), "<html>", "1" * 5000, '{"P": ' + "1" * 5000 + "}", "\ufeff\ufeff" + json.dumps(GOOD),
     "__import__('os')"],
    ids=lambda text: repr(text[:30]),
)  # fmt: skip
def test_what_is_not_a_model(text: str) -> None:
    refused(text, "environment_params.model")


def nested(depth: int, core: str = "1") -> str:
    return json.dumps(GOOD | {"P": 0}).replace('"P": 0', '"P": ' + "[" * depth + core + "]" * depth)


def compact(change: dict[str, Any]) -> str:
    return json.dumps(GOOD | change, separators=(",", ":"))


BOMBS: dict[str, Callable[[], str]] = {  # made when they are tried: they are large
    "brackets": lambda: "[" * 1_000_000,
    "deep": lambda: nested(200_000),
    "wide and deep": lambda: nested(20, ",".join(["[1]"] * 10_000)),
    "50 MB": lambda: json.dumps(GOOD) + " " * 50_000_000,
    "just too long": lambda: json.dumps(GOOD) + " " * MAX_TEXT,
    "a million states": lambda: compact({"P": [[[1.0]]] * 200_000, "d1": [0] * 200_000}),
    "a million numbers": lambda: compact({"P": [[[1] * 300] * 10] * 300}),
    "a long label": lambda: json.dumps(GOOD | {"name": "x" * 1_900_000}),
    "a long number": lambda: json.dumps(GOOD).replace("0.9", "0." + "9" * 1_900_000),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str) -> None:
    refused(BOMBS[name]())


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(EXAMPLE)), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=few(300))
@given(st.dictionaries(st.sampled_from(list(EXAMPLE)), anything, max_size=6) | anything)
def test_any_json_is_a_model_or_is_refused(value: Any) -> None:
    text = json.dumps(GOOD | value if isinstance(value, dict) else value)
    try:
        spec = spec_of(text)
    except SpecError as error:
        refusal = error
    else:
        make(**spec.environment_params)
        return
    assert refusal.field.startswith("environment_params")
    assert str(refusal).isprintable()
    assert str(refusal).endswith(".")


def test_two_horizons_of_one_model_are_refused() -> None:
    model = EXAMPLE | {"H": 4}
    assert RunSpec(model, environment_params={"H": 4}).environment_params["H"] == 4
    with pytest.raises(SpecError, match="8 differs from the model's own horizon, 4"):
        RunSpec(model, environment_params={"H": 8})
