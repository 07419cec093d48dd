"""What every registered environment must do; RiverSwim's table; where random MDPs come from."""

from __future__ import annotations

import numpy as np
import pytest

from dprl import ENVIRONMENTS, RunSpec
from dprl.fields import check_params
from tests.problems import small_params


@pytest.mark.parametrize("key", ENVIRONMENTS)
@pytest.mark.parametrize("small", [True, False])
def test_contract(key: str, small: bool) -> None:
    environment = ENVIRONMENTS[key]
    params = check_params("environment_params", key, environment.fields, small_params(key) if small else {})
    mdp = environment.make(**params)  # TabularMDP checks shapes, sums and ranges
    assert environment.key == key
    assert environment.size(**params) == (mdp.S, mdp.A, mdp.H)
    assert mdp.H == params["H"]
    assert mdp.drawing["kind"] in ("chain", "grid", "graph")
    for array in (mdp.P, mdp.R, mdp.d1):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
    again = environment.make(**params)
    for a, b in ((mdp.P, again.P), (mdp.R, again.R), (mdp.d1, again.d1)):
        np.testing.assert_array_equal(a, b)
    for text in (environment.title, environment.summary, environment.source):
        assert text
        assert "\n" not in text


@pytest.mark.parametrize("key", ENVIRONMENTS)
def test_defaults_of_the_fields_are_those_of_make(key: str) -> None:
    environment = ENVIRONMENTS[key]
    given = check_params("environment_params", key, environment.fields, {})
    np.testing.assert_array_equal(environment.make().P, environment.make(**given).P)


@pytest.mark.parametrize("key", ENVIRONMENTS)
def test_sizes_and_horizon_are_free(key: str) -> None:
    for field in ENVIRONMENTS[key].fields:
        if field.name in ("S", "A", "H"):
            value = max(7, int(field.low or 0))
            spec = RunSpec(environment=key, environment_params={field.name: value})
            mdp = ENVIRONMENTS[key].make(**spec.environment_params)
            assert getattr(mdp, field.name) == value


@pytest.mark.parametrize(
    ("variant", "first", "middle", "last", "small"),
    [
        ("osband", [0.4, 0.6], [0.05, 0.6, 0.35], [0.4, 0.6], 0.005),
        ("strehl-littman", [0.7, 0.3], [0.1, 0.6, 0.3], [0.3, 0.7], 0.0005),
    ],
)
def test_riverswim_table(
    variant: str, first: list[float], middle: list[float], last: list[float], small: float
) -> None:
    mdp = ENVIRONMENTS["riverswim"].make(S=5, H=3, variant=variant)
    for h in range(3):
        right = np.zeros((5, 5))
        right[0, :2] = first
        for s in (1, 2, 3):
            right[s, s - 1 : s + 2] = middle
        right[4, 3:] = last
        np.testing.assert_array_equal(mdp.P[h, :, 1], right)
        np.testing.assert_array_equal(mdp.P[h, :, 0], np.eye(5)[[0, 0, 1, 2, 3]])
        reward = np.zeros((5, 2))
        reward[0, 0], reward[4, 1] = small, 1.0
        np.testing.assert_array_equal(mdp.R[h], reward)
    np.testing.assert_array_equal(mdp.d1, [1, 0, 0, 0, 0] if variant == "osband" else [0, 0.5, 0.5, 0, 0])
    assert mdp.bernoulli


def test_random_mdps_follow_their_seed_and_concentration() -> None:
    make = ENVIRONMENTS["random"].make
    assert not np.array_equal(make(seed=1).P, make(seed=2).P)
    assert not np.array_equal(make(seed=1).R, make(seed=2).R)
    # the largest chance of a row: nearly 1 for a small concentration, nearly 1/S for a large one
    assert make(concentration=0.01, S=20, A=20).P.max(-1).mean() > 0.9
    assert make(concentration=100.0, S=20, A=20).P.max(-1).mean() < 0.1
    # the smallest sizes and concentration there are, over many seeds: rows still sum to 1 (checked on construction)
    for seed in range(50):
        make(S=1, A=1, H=1, seed=seed, concentration=0.01)
        make(S=3, A=1, H=1, seed=seed, concentration=0.01)
