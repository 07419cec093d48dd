"""Specs, models and results stay as they were made."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import dprl

SMALL: dict[str, Any] = {"environment_params": {"S": 3, "H": 3}, "seeds": 1}
SPECS = dprl.RunSpec(episodes=100, **SMALL), dprl.OfflineSpec(n=100, **SMALL)
CHANGES: list[tuple[Any, ...]] = [
    ("__setitem__", "S", 5), ("__delitem__", "S"), ("__ior__", {"S": 5}), ("update", {"S": 5}), ("setdefault", "X", 5),
    ("pop", "S"), ("popitem",), ("clear",),
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", ["environment_params", "algorithm_params"])
def test_parameters_of_a_spec_do_not_change(spec: Any, name: str) -> None:
    before, params = spec.to_json(), getattr(spec, name)
    for change, *given in CHANGES:
        with pytest.raises(TypeError, match=r"read-only; .* spec\.replace"):
            getattr(params, change)(*given)
    assert spec.to_json() == before


def test_a_spec_keeps_its_own_parameters() -> None:
    given = {"S": 3, "H": 3}
    spec = dprl.RunSpec(environment_params=given)
    given["S"] = 5
    assert spec.environment_params == {"S": 3, "H": 3, "variant": "osband"}
    assert {**spec.environment_params, "S": 4} == {"S": 4, "H": 3, "variant": "osband"}
    assert json.loads(json.dumps(spec.environment_params)) == spec.environment_params


@pytest.mark.parametrize("spec", SPECS)
def test_a_copy_of_a_spec_is_equal_and_as_frozen(spec: Any) -> None:
    for other in (copy.deepcopy(spec), copy.copy(spec), pickle.loads(pickle.dumps(spec)), spec.replace()):
        assert (other, hash(other)) == (spec, hash(spec))
        with pytest.raises(TypeError):
            other.environment_params["S"] = 5


@pytest.mark.parametrize("spec", SPECS)
def test_arrays_of_a_trace_are_read_only(spec: Any) -> None:
    trace = dprl.run(spec)
    arrays = [trace.at, trace.values, trace.episodes, trace.regret, *trace.seeds[0].curve[2:]]
    for value in vars(trace.seeds[0]).values():
        if isinstance(value, dict):
            with pytest.raises(TypeError):
                value["new"] = 1
        arrays += list(value.values()) if isinstance(value, dict) else [value]
    arrays = [array for array in arrays if isinstance(array, np.ndarray)]
    assert len(arrays) > 15
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array.fill(0)


def test_arrays_of_a_model_are_read_only_copies() -> None:
    P, R, d1 = np.ones((2, 1, 2, 1)), np.zeros((2, 1, 2)), np.ones(1)
    mdp = dprl.TabularMDP("room", P, R, d1, ("s",), ("a", "b"))
    R[:] = 1
    assert not mdp.R.any()
    for array in (mdp.P, mdp.R, mdp.d1, mdp.possible, dprl.ENVIRONMENTS["riverswim"].make(S=3, H=2).P):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(TypeError):
        mdp.drawing["kind"] = "grid"  # type: ignore[index]


def test_a_model_may_be_lists() -> None:
    make: Any = dprl.TabularMDP
    labels = ("s",), ("a", "b")
    assert make("room", [[[[1.0], [1]]]], [[[0, 1]]], [1], *labels).R.tolist() == [[[0.0, 1.0]]]
    with pytest.raises(dprl.SpecError, match=r"^R: this is not allowed; give an array of numbers\.$"):
        make("room", [[[[1.0], [1]]]], "no numbers", [1], *labels)
