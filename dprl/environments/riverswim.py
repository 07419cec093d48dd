"""RiverSwim (Strehl, Littman 2008): swim against the current for a large reward, or drift for a small one."""

from __future__ import annotations

import numpy as np

from dprl.environments.environment import Environment, homogeneous, horizon
from dprl.fields import Field
from dprl.mdp import TabularMDP

LEFT, RIGHT = 0, 1

# chances of going back, staying and going on when swimming right: at the left end, in between, at the right end
CURRENT = {
    "osband": ((0.0, 0.40, 0.60), (0.05, 0.60, 0.35), (0.40, 0.60, 0.0)),
    "strehl-littman": ((0.0, 0.70, 0.30), (0.10, 0.60, 0.30), (0.30, 0.70, 0.0)),
}
REWARD = {"osband": (0.005, 1.0), "strehl-littman": (0.0005, 1.0)}


def make(S: int = 6, H: int = 20, variant: str = "osband") -> TabularMDP:
    """Return RiverSwim with S states and horizon H; action 0 is left, 1 is right.

    `osband` is the variant in the regret literature (as in Qiao, Wang 2023), which starts at the left end.
    `strehl-littman` is the original, with rewards 5/10000 and 1; it starts in state 1 or 2 with equal probability.
    """
    P = np.zeros((S, 2, S))
    for s in range(S):
        P[s, LEFT, max(s - 1, 0)] = 1.0
        back, stay, forward = CURRENT[variant][0 if s == 0 else 2 if s == S - 1 else 1]
        P[s, RIGHT, s] += stay
        P[s, RIGHT, max(s - 1, 0)] += back
        P[s, RIGHT, min(s + 1, S - 1)] += forward
    R = np.zeros((S, 2))
    R[0, LEFT], R[S - 1, RIGHT] = REWARD[variant]
    d1 = np.zeros(S)
    d1[[0] if variant == "osband" else [1, 2]] = 1.0 if variant == "osband" else 0.5
    return homogeneous(
        "RiverSwim",
        P,
        R,
        start=d1,
        H=H,
        state_labels=tuple(f"state {s}" for s in range(S)),
        action_labels=("left", "right"),
        drawing={"kind": "chain"},
    )


ENVIRONMENT = Environment(
    key="riverswim",
    title="RiverSwim",
    summary="A chain with a current, a small reward at the left end, and a large reward far upstream at the right end.",
    source="Strehl, Littman 2008; QW23-online section 6",
    fields=(
        Field("S", "int", 6, "states in the river", low=3, high=300),
        horizon(20),
        Field("variant", "choice", "osband", "chances and rewards", choices=("osband", "strehl-littman")),
    ),
    make=make,
    size=lambda S, H, variant: (S, 2, H),
)
