"""The environments of the lower bound (Vietri et al. 2020, section 6), with one better arm in each start state."""

from __future__ import annotations

import numpy as np

from dprl.environments.environment import Environment, homogeneous, horizon
from dprl.fields import Field
from dprl.mdp import TabularMDP


def make(n: int = 2, m: int = 2, alpha: float = 0.1, H: int = 5, seed: int = 0) -> TabularMDP:
    """Build n start states, each drawn with probability 1/n, with arms 0 to m, and two final states, + and -.

    Arm 0 leads to + with probability 1/2 + alpha/2. For each start state s, `seed` draws an arm I_s from 0..m; if I_s
    is not 0, it leads to + with probability 1/2 + alpha. All other arms lead to + with probability 1/2. A step that
    begins in + pays 1, so reaching + pays H - 1 (Vietri et al. 2020 states H).
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    better = rng.integers(0, m + 1, n)
    S, A = n + 2, m + 1
    plus, minus = n, n + 1
    up = np.full((n, A), 0.5)
    up[:, 0] += alpha / 2
    changed = np.flatnonzero(better)
    up[changed, better[changed]] = 0.5 + alpha
    P = np.zeros((S, A, S))
    P[:n, :, plus], P[:n, :, minus] = up, 1 - up
    P[plus, :, plus] = P[minus, :, minus] = 1.0
    R = np.zeros((S, A))
    R[plus] = 1.0
    return homogeneous(
        "Hard instances of JDP",
        P,
        R,
        start=np.append(np.full(n, 1.0 / n), [0.0, 0.0]),
        H=H,
        state_labels=(*(f"start {s}" for s in range(n)), "+", "-"),
        action_labels=tuple(f"arm {a}" for a in range(A)),
    )


ENVIRONMENT = Environment(
    key="hard-jdp",
    title="Hard instances of JDP",
    summary="Environments from the proof of the lower bound. In each start state, one arm is better by alpha, and "
    "privacy hides which one.",
    source="V20 section 6",
    fields=(
        Field("n", "int", 2, "start states", low=1, high=100),
        Field("m", "int", 2, "arms in addition to arm 0", low=1, high=100),
        Field("alpha", "float", 0.1, "advantage of the best arm", low=0.0, high=0.5),
        horizon(5),
        Field("seed", "int", 0, "seed that selects the best arms", low=0, high=2**32 - 1),
    ),
    make=make,
    size=lambda n, m, alpha, H, seed: (n + 2, m + 1, H),
)
