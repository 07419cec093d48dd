"""The example data set: simulated patients of a ward, and their declaration."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from dprl.mdp import TabularMDP
from dprl.mdp.tabular import Array

EXAMPLE: dict[str, Any] = {
    "states": ["mild", "severe", "critical"],
    "actions": ["watch", "drug", "surgery"],
    "horizon": 4,
    "reward_range": [0, 1],
}
EXAMPLE_PEOPLE, EXAMPLE_RHO = 20_000, 0.1
NEXT = (  # chances of the next state, by state and action
    ((0.80, 0.15, 0.05), (0.90, 0.08, 0.02), (0.50, 0.40, 0.10)),
    ((0.10, 0.55, 0.35), (0.60, 0.30, 0.10), (0.35, 0.45, 0.20)),
    ((0.02, 0.18, 0.80), (0.10, 0.30, 0.60), (0.50, 0.35, 0.15)),
)
REWARDS = ((0.95, 0.90, 0.70), (0.60, 0.55, 0.35), (0.20, 0.15, 0.05))  # chances of 1, by state and action
TODAY = ((0.70, 0.20, 0.10), (0.60, 0.20, 0.20), (0.35, 0.40, 0.25))  # chances of actions, by state


def example() -> str:
    """Return the example data set as CSV text: simulated trajectories, which EXAMPLE declares."""
    H, S, A = EXAMPLE["horizon"], len(EXAMPLE["states"]), len(EXAMPLE["actions"])
    P, R = np.broadcast_to(NEXT, (H, S, A, S)).copy(), np.broadcast_to(REWARDS, (H, S, A)).copy()
    labels = tuple(EXAMPLE["states"]), tuple(EXAMPLE["actions"])
    ward = TabularMDP("ward", P, R, np.array([0.3, 0.5, 0.2]), *labels)
    return trajectories(ward, np.stack([np.array(TODAY)] * H), EXAMPLE_PEOPLE, np.random.default_rng(0))


def trajectories(mdp: TabularMDP, policy: Array, people: int, rng: np.random.Generator) -> str:
    """Simulate people in a model with rewards 0 and 1, and return CSV text. `policy` has probabilities [H, S, A]."""

    def drawn(chances: Array) -> np.ndarray:
        return np.asarray((rng.random(len(chances))[:, None] > chances.cumsum(-1)[:, :-1]).sum(-1))

    s = drawn(np.tile(mdp.d1, (people, 1)))
    rows = []
    for h in range(mdp.H):
        a = drawn(policy[h, s])
        x = drawn(mdp.P[h, s, a])
        rows.append((s, a, rng.random(len(s)) < mdp.R[h, s, a]))
        s = x
    text = io.StringIO()
    text.write("episode,step,state,action,reward\n")
    states, actions = mdp.state_labels, mdp.action_labels
    for who in range(people):
        for h, (s, a, r) in enumerate(rows):
            text.write(f"{who},{h},{states[s[who]]},{actions[a[who]]},{int(r[who])}\n")
    return text.getvalue()
