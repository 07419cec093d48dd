"""A combination lock: in each state, one action moves forward, and all others start over."""

from __future__ import annotations

import numpy as np

from dprl.environments.environment import Environment, homogeneous, horizon
from dprl.fields import Field
from dprl.mdp import TabularMDP


def make(S: int = 5, A: int = 3, H: int = 10, slip: float = 0.1) -> TabularMDP:
    """Build a lock of S states. In state s, only action (2s + 1) mod A moves forward, and it fails with probability
    `slip`. A failure or any other action leads back to state 0. The last state stays open and pays 1 per step."""
    P = np.zeros((S, A, S))
    P[:, :, 0] = 1.0
    for s in range(S - 1):
        right = (2 * s + 1) % A
        P[s, right] = 0.0
        P[s, right, 0] += slip
        P[s, right, s + 1] += 1.0 - slip
    P[S - 1] = 0.0
    P[S - 1, :, S - 1] = 1.0
    R = np.zeros((S, A))
    R[S - 1] = 1.0
    return homogeneous(
        "Combination lock",
        P,
        R,
        start=np.eye(S)[0],
        H=H,
        state_labels=tuple("open" if s == S - 1 else f"digit {s}" for s in range(S)),
        action_labels=tuple(f"turn {a}" for a in range(A)),
        drawing={"kind": "chain"},
    )


ENVIRONMENT = Environment(
    key="chain",
    title="Combination lock",
    summary="A row of states: one action in each state moves on, and all others lead back to the start.",
    source="a standard test of exploration; not from the papers",
    fields=(
        Field("S", "int", 5, "states, including the open lock", low=2, high=300),
        Field("A", "int", 3, "actions", low=1, high=100),
        horizon(10),
        Field("slip", "float", 0.1, "chance that the right action fails", low=0.0, high=1.0),
    ),
    make=make,
    size=lambda S, A, H, slip: (S, A, H),
)
