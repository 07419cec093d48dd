from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import TabularMDP
from tests.problems import refused

H, S, A = 2, 3, 2


def parts(**changes: Any) -> dict[str, Any]:
    return {
        "name": "test",
        "P": np.full((H, S, A, S), 1 / S),
        "R": np.full((H, S, A), 0.5),
        "d1": np.full(S, 1 / S),
        "state_labels": ("0", "1", "2"),
        "action_labels": ("0", "1"),
    } | changes


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("P", np.ones((H, S, A))),
        ("P", np.ones((H, S, A, S + 1)) / (S + 1)),
        ("P", np.zeros((0, S, A, S))),
        ("P", np.full((H, S, A, S), 0.5)),
        ("P", np.full((H, S, A, S), np.nan)),
        ("P", np.full((H, S, A, S), [1.5, -0.5, 0.0])),
        ("P", np.full((H, S, A, S), (1 + 2e-5) / S)),
        ("R", np.zeros((H, S))),
        ("R", np.full((H, S, A), 1.01)),
        ("R", np.full((H, S, A), -0.01)),
        ("R", np.full((H, S, A), np.inf)),
        ("d1", np.ones(S)),
        ("d1", np.ones(S + 1) / (S + 1)),
        ("d1", np.full(S, np.nan)),
        ("state_labels", ("0", "1")),
        ("action_labels", ("0", "1", "2")),
    ],
)
def test_what_is_not_an_mdp_is_refused_in_one_sentence(name: str, value: Any) -> None:
    with refused("labels: " if name.endswith("labels") else f"{name}: "):
        TabularMDP(**parts(**{name: value}))


def test_what_rounding_puts_above_1_is_1() -> None:
    """As a sum of probabilities in a model of one's own; what is given stays as it is."""
    P = np.zeros((H, S, A, S))
    P[..., 0] = 1 + 2**-52
    mdp = TabularMDP(**parts(P=P, d1=P[0, 0, 0]))
    assert mdp.P.max() == mdp.d1.max() == 1
    assert P.max() > 1


def test_rounded_rows_are_made_to_sum_to_1_and_others_keep_their_bits() -> None:
    P = np.full((H, S, A, S), 1 / S)
    P[1, 2, 1] = 0.333333
    mdp = TabularMDP(**parts(P=P))
    np.testing.assert_allclose(mdp.P[1, 2, 1].sum(), 1.0, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(mdp.P[0], P[0])
