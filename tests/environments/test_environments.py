"""What every registered environment must do; RiverSwim's table; where random MDPs come from.

Values in closed form are in test_values.py; Gymnasium and uploads have files of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from dprl import ENVIRONMENTS
from dprl.fields import check_params
from dprl.mdp import planning
from dprl.testing import check_environment
from tests.problems import small_params
from tests.simulation.test_spec import params


@pytest.mark.parametrize("key", ENVIRONMENTS)
def test_contract(key: str) -> None:
    """See dprl/testing; and figures have a place for each state of a grid."""
    environment = ENVIRONMENTS[key]
    assert check_environment(environment) == ("record", "models")
    for chosen in ({}, small_params(key)):
        mdp = environment.make(**check_params("p", key, environment.fields, chosen))
        assert all(label and label.isprintable() for label in (*mdp.state_labels, *mdp.action_labels))
        assert mdp.drawing["kind"] in ("chain", "grid", "graph")
        if mdp.drawing["kind"] == "grid":
            cells = {tuple(cell) for cell in mdp.drawing["cells"]}
            assert len(cells) == mdp.S - ("end" in mdp.state_labels)
            rows, columns = mdp.drawing["rows"], mdp.drawing["columns"]
            assert all(0 <= r < rows and 0 <= c < columns for r, c in cells)
            assert {tuple(map(int, place.split(","))) for place in mdp.drawing["marks"]} <= cells
            assert len(mdp.drawing["moves"]) == mdp.A


@pytest.mark.parametrize("key", [key for key in ENVIRONMENTS if key not in ("gymnasium", "custom")])
def test_any_allowed_parameters_make_an_mdp(key: str) -> None:
    """Rows that sum to 1 and rewards from 0 to 1 are checked where an MDP is made."""
    environment = ENVIRONMENTS[key]

    @settings(max_examples=60)
    @given(params(environment.fields))
    def check(chosen: dict[str, Any]) -> None:
        mdp = environment.make(**chosen)
        np.testing.assert_allclose(mdp.P.sum(-1), 1.0, rtol=0, atol=1e-12)
        given = check_params("p", key, environment.fields, chosen)
        assert environment.size(**given)[:3] == (mdp.S, mdp.A, mdp.H)
        best = planning.start_value(mdp, planning.optimum(mdp).V)
        assert 0 <= best <= mdp.H * (1 + 1e-9)

    check()


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
    for S in (3, 5, 9):
        mdp = ENVIRONMENTS["riverswim"].make(S=S, H=3, variant=variant)
        right, reward = np.zeros((S, S)), np.zeros((S, 2))
        right[0, :2], right[-1, -2:] = first, last
        for s in range(1, S - 1):
            right[s, s - 1 : s + 2] = middle
        reward[0, 0], reward[-1, 1] = small, 1.0
        for h in range(3):
            np.testing.assert_array_equal(mdp.P[h, :, 1], right)
            np.testing.assert_array_equal(mdp.P[h, :, 0], np.eye(S)[np.maximum(np.arange(S) - 1, 0)])
            np.testing.assert_array_equal(mdp.R[h], reward)
        np.testing.assert_array_equal(mdp.d1[:3], [1, 0, 0] if variant == "osband" else [0, 0.5, 0.5])
        assert mdp.bernoulli


def test_random_mdps_follow_their_seed_and_concentration() -> None:
    make = ENVIRONMENTS["random"].make
    assert not np.array_equal(make(seed=1).P, make(seed=2).P)
    assert not np.array_equal(make(seed=1).R, make(seed=2).R)
    # the largest chance of a row: nearly 1 for a small concentration, nearly 1/S for a large one
    assert make(concentration=0.01, S=20, A=20).P.max(-1).mean() > 0.9
    assert make(concentration=100.0, S=20, A=20).P.max(-1).mean() < 0.1


def test_the_linear_mdp_is_linear_in_its_features() -> None:
    """QW23-offline Appendix F, with features of norm at most 1, which the sensitivities need."""
    entry = ENVIRONMENTS["linear-synthetic"]
    assert entry.features is not None
    mdp, phi = entry.make(A=100, H=20, seed=3), entry.features(A=100, H=20, seed=3)
    norms = np.linalg.norm(phi, axis=-1)
    assert norms.max() == pytest.approx(1)
    assert norms.min() == pytest.approx(7**-0.5)  # action 0 has no bit: delta alone
    assert np.linalg.matrix_rank(phi.reshape(-1, 10)) == 9  # 99 has seven bits
    flat = phi.reshape(-1, 10)
    for h in range(mdp.H):
        for table in (mdp.R[h].ravel(), mdp.P[h, ..., 0].ravel()):
            weights = np.linalg.lstsq(flat, table, rcond=None)[0]
            np.testing.assert_allclose(flat @ weights, table, atol=1e-12)
    # by hand: from state 0 action 0 and from state 1 any other have delta = 1
    np.testing.assert_array_equal(mdp.P[5, 0, 0], mdp.P[5, 1, 42])
    np.testing.assert_array_equal(mdp.P[5, 1, 0], mdp.P[5, 0, 42])
    assert len({*mdp.R[5, 0, [1, 4, 16, 64]]}) == 1  # r/8 more than action 2, of bit 1
    r = 8 * (mdp.R[5, 0, 1] - mdp.R[5, 0, 2])
    assert mdp.R[5, 0, 2] == pytest.approx(0.5 - r / 2)  # delta = 0
    assert mdp.R[5, 0, 8] == pytest.approx(1 - r)  # and bit 3
    assert mdp.R[5, 0, 0] == pytest.approx(r / 2)  # delta = 1
    assert not mdp.bernoulli
