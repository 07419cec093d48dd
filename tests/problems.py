"""Problems the tests are run on: random MDPs that differ at every step, and registry entries made small."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl import ENVIRONMENTS, TabularMDP


def random_mdp(
    seed: int, S: int, A: int, H: int, *, bernoulli: bool = True, sparse: bool = False
) -> TabularMDP:
    """Other transitions and rewards at every step. `sparse`: about a third of the transitions cannot happen."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(S), size=(H, S, A))
    d1 = rng.dirichlet(np.ones(S))
    if sparse:
        P = P * (rng.random(P.shape) > 0.35)
        P[..., rng.integers(S)] += 1e-3
        P /= P.sum(-1, keepdims=True)
    return TabularMDP(
        name="random",
        P=P,
        R=rng.choice([0.0, 1.0, 0.5, 0.123], size=(H, S, A)) * rng.random((H, S, A)).round(2),
        d1=d1,
        state_labels=tuple(map(str, range(S))),
        action_labels=tuple(map(str, range(A))),
        bernoulli=bernoulli,
    )


SMALL = {"S": 3, "A": 2, "H": 3}


def small_params(environment: str) -> dict[str, Any]:
    """Parameters that make any registered environment small: sizes 3, 2, 3 where it takes them."""
    return {
        f.name: max(SMALL[f.name], int(f.low or 0))
        for f in ENVIRONMENTS[environment].fields
        if f.name in SMALL
    }
