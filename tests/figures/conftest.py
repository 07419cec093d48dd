"""Believable arrays for figures: a small chain, its counts with noise, and curves of a few runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

H, S, A = 5, 4, 2


class Chain(NamedTuple):
    P: np.ndarray
    R: np.ndarray
    policy: np.ndarray
    optimal: np.ndarray
    optimal_Q: np.ndarray
    occupancy: np.ndarray
    true: np.ndarray
    noisy: np.ndarray
    labels: dict[str, Any]


def four_in_a_row() -> Chain:
    """Four states in a row; right is right but for one state and step, where the learned policy goes left."""
    P = np.zeros((H, S, A, S))
    for s in range(S):
        P[:, s, 0, max(s - 1, 0)] = 1.0
        P[:, s, 1, s] += 0.6
        P[:, s, 1, min(s + 1, S - 1)] += 0.4
    R = np.zeros((H, S, A))
    R[:, S - 1, 1] = 1.0
    optimal = np.ones((H, S), np.int16)
    policy = optimal.copy()
    policy[2, 1] = 0
    Q = np.zeros((H, S, A))
    Q[..., 1] = 1.0
    occupancy = np.full((H, S), 1 / S)
    rng = np.random.default_rng(0)
    true = np.floor(rng.gamma(0.5, 2000.0, size=(H, S, A)))
    noisy = true + rng.laplace(scale=300.0, size=true.shape)
    labels = {"state_labels": tuple(f"state {s}" for s in range(S)), "action_labels": ("left", "right")}
    return Chain(P, R, policy, optimal, Q, occupancy, true, noisy, labels)


@pytest.fixture
def chain() -> Chain:
    return four_in_a_row()
