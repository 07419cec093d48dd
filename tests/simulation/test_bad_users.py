"""What the proof in docs/notes/local-price.md rests on: a plan that is not optimal can meet a row whose surplus is
large, and its user is a report of that row."""

from __future__ import annotations

import numpy as np
import pytest

from dprl import RunSpec, run
from dprl.environments import ENVIRONMENTS
from dprl.mdp import planning
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import TabularMDP


def played(mdp: TabularMDP, policy: Policy) -> tuple[float, np.ndarray]:
    """What a policy earns, and [H, S] where its users can be."""
    here, met, earned = mdp.d1.copy(), np.zeros(policy.shape, dtype=bool), 0.0
    states = np.arange(mdp.S)
    for h in range(mdp.H):
        met[h] = here > 0
        earned += float(here @ mdp.R[h, states, policy[h]])
        here = here @ mdp.P[h, states, policy[h]]
    return earned, met


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_who_plays_badly_was_told_to_play_a_row_with_a_large_surplus(seed: int) -> None:
    params = {"S": 3 + seed, "A": 2 + seed % 2, "H": 4 + seed, "seed": seed + 50}
    spec = RunSpec(
        environment="random",
        environment_params=params,
        privacy="local",
        mechanism="unary",
        reports="played",
        episodes=10**9,
        seeds=1,
    )
    trace, mdp = run(spec).seeds[0], ENVIRONMENTS["random"].make(**params)
    best = planning.optimum(mdp)
    gaps = best.V[: mdp.H, :, None] - best.Q
    least = gaps[gaps > 1e-9].min()
    bad = 0
    for Q, V, policy in zip(trace.Q, trace.V, trace.policy, strict=True):
        value, met = played(mdp, policy)
        if value >= mdp.d1 @ best.V[0] - 1e-9:
            continue
        ahead = np.concatenate([V[1 : mdp.H], np.zeros((1, mdp.S))])
        surplus = Q - mdp.R - np.einsum("hsax,hx->hsa", mdp.P, ahead)
        own = np.take_along_axis(surplus, policy[:, :, None], axis=2)[:, :, 0]
        assert own[met].max() >= least / mdp.H - 1e-9
        bad += 1
    assert bad > 2
