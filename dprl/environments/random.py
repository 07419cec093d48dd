"""Random MDPs with Dirichlet transitions and uniform rewards."""

from __future__ import annotations

import numpy as np

from dprl.environments.environment import Environment, homogeneous, horizon
from dprl.fields import Field
from dprl.mdp import TabularMDP


def make(S: int = 5, A: int = 3, H: int = 10, concentration: float = 0.3, seed: int = 0) -> TabularMDP:
    """Draw a random MDP, the same at every step: P[s, a] ~ Dirichlet(concentration, ...), and R[s, a] is uniform.
    Episodes start in a uniformly random state. A small concentration makes next states nearly certain."""
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    gamma = rng.gamma(concentration, size=(S, A, S)) + 1e-300  # a row of zeros (underflow) has no direction
    P = gamma / gamma.sum(-1, keepdims=True)
    R = rng.random((S, A))
    return homogeneous(
        "Random MDP",
        P,
        R,
        start=np.full(S, 1.0 / S),
        H=H,
        state_labels=tuple(f"state {s}" for s in range(S)),
        action_labels=tuple(f"action {a}" for a in range(A)),
    )


ENVIRONMENT = Environment(
    key="random",
    title="Random MDP",
    summary="Transitions from a Dirichlet distribution and uniform rewards, both fixed by a seed.",
    source="a standard test bed; not from the papers",
    fields=(
        Field("S", "int", 5, "states", low=1, high=300),
        Field("A", "int", 3, "actions", low=1, high=100),
        horizon(10),
        Field(
            "concentration",
            "float",
            0.3,
            "Dirichlet concentration (small values make transitions nearly deterministic)",
            0.01,
            100.0,
        ),
        Field("seed", "int", 0, "seed that selects the MDP", low=0, high=2**32 - 1),
    ),
    make=make,
    size=lambda S, A, H, concentration, seed: (S, A, H),
)
