"""Gymnasium's toy-text environments against Gymnasium's own model."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from dprl import ENVIRONMENTS, RunSpec, SpecError
from dprl.environments import gymnasium as ours
from tests.environments.test_outside import best, best_by_recursion

make = ENVIRONMENTS["gymnasium"].make


def gym(id: str) -> Any:
    return gymnasium.make(id).unwrapped


@pytest.mark.parametrize("id", ["FrozenLake-v1", "CliffWalking-v1"])
@pytest.mark.parametrize("H", [1, 2, 13, 20, 60])
def test_optimal_value_is_that_of_gymnasiums_own_model(id: str, H: int) -> None:
    """By recursion over `env.P` in Gymnasium's rewards: an episode that terminates earns nothing more."""
    mdp = make(id=id, H=H)
    low, high = mdp.drawing["reward_low"], mdp.drawing["reward_high"]
    raw = best_by_recursion(gym(id), H)
    assert H * low + (high - low) * best(mdp) == pytest.approx(raw, abs=1e-9)
    assert mdp.R.min() == 0.0
    assert mdp.R.max() == 1.0


@pytest.mark.parametrize("id", ["FrozenLake-v1", "CliffWalking-v1"])
def test_transitions_are_gymnasiums(id: str) -> None:
    env, mdp = gym(id), make(id=id, H=2)
    S = mdp.S - 1
    assert mdp.state_labels[S] == "end"
    for s in range(S):
        for a in range(mdp.A):
            expected = np.zeros(S + 1)
            for p, to, _, end in env.P[s][a]:
                expected[S if end else to] += p
            np.testing.assert_allclose(mdp.P[1, s, a], expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(mdp.P[:, S, :, S], 1.0)
    np.testing.assert_allclose(mdp.d1[:S], env.initial_state_distrib)


@pytest.mark.parametrize("id", ["FrozenLake-v1", "CliffWalking-v1"])
def test_moves_are_named_and_drawn_as_they_go(id: str) -> None:
    """An action named right, drawn right, leads right from a free place, at least as likely as elsewhere."""
    mdp = make(id=id, H=1)
    cells = mdp.drawing["cells"]
    middle = 9 if id == "FrozenLake-v1" else 14  # in the lake a hole is above it, where an episode ends
    for a, (dr, dc) in enumerate(mdp.drawing["moves"]):
        to = cells.index([cells[middle][0] + dr, cells[middle][1] + dc])
        to = mdp.S - 1 if (id, to) == ("FrozenLake-v1", 5) else to
        assert mdp.P[0, middle, a, to] == pytest.approx(mdp.P[0, middle, a].max()), mdp.action_labels[a]
        assert {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}[mdp.action_labels[a]] == (
            dr,
            dc,
        )


def test_taxi_is_refused_because_of_its_counters() -> None:
    for H in (1, 20, 200):
        with pytest.raises(SpecError, match="counters") as error:
            RunSpec(environment="gymnasium", environment_params={"id": "Taxi-v3", "H": H})
        assert error.value.field == "environment_params"
        assert "S=501, A=6" in str(error.value)
        assert "give FrozenLake-v1, CliffWalking-v1, or" in str(error.value)
        assert str(error.value).endswith(".")


def test_one_that_gymnasium_no_longer_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its newer versions no longer have Taxi-v3."""

    def gone(id: str) -> None:
        raise gymnasium.error.DeprecatedEnv(id)

    ours.model.cache_clear()
    monkeypatch.setattr(gymnasium, "make", gone)
    with pytest.raises(SpecError, match="give another") as error:
        make()
    assert error.value.field == "environment_params.id"
    ours.model.cache_clear()
