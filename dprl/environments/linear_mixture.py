"""A lock whose combination is hidden in the weights of a linear mixture: each patient type needs a different drug."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dprl.environments.environment import Environment
from dprl.fields import Field
from dprl.mdp import TabularMDP
from dprl.mdp.mixture import Mixture
from dprl.mdp.tabular import Array


def mixture(d: int = 4, S: int = 4, H: int = 10, share: float = 0.6, seed: int = 0) -> Mixture:
    """Return the features phi = (p^1, ..., p^d) / sqrt(d) of d patient types.

    In p^i, all patients are of type i: drug i moves them one stage on, and all other drugs back to the first stage. The
    last stage, recovered, is final. The sum over s' of phi v(s') has norm at most 1. The shares w^ of the types sum to
    1, so |sqrt(d) w^| <= sqrt(d).
    """
    features = np.zeros((S, d, S, d))
    drugs = np.arange(d)
    for s in range(S - 1):
        features[s, :, 0, :] = 1.0
        features[s, drugs, 0, drugs] = 0.0
        features[s, drugs, s + 1, drugs] = 1.0
    features[S - 1, :, S - 1, :] = 1.0
    return Mixture(features / sqrt(d), sqrt(d))


def weights(d: int, H: int, share: float, seed: int) -> Array:
    """Return weights w_h [H, d]. At each step, a type fixed by the seed has this share; the others split the rest."""
    rng = np.random.default_rng(seed)
    shares = np.full((H, d), (1 - share) / (d - 1))
    shares[np.arange(H), rng.integers(0, d, H)] = share
    return shares * sqrt(d)


def make(d: int = 4, S: int = 4, H: int = 10, share: float = 0.6, seed: int = 0) -> TabularMDP:
    """Build the MDP with the hidden weights that `seed` fixes. The reward is 1 for each step after recovery, else 0."""
    R = np.zeros((H, S, d))
    R[:, S - 1] = 1.0
    return TabularMDP(
        name="Linear mixture",
        P=mixture(d, S, H, share, seed).transitions(weights(d, H, share, seed)),
        R=R,
        d1=np.eye(S)[0],
        state_labels=(*(f"stage {s}" for s in range(S - 1)), "recovered"),
        action_labels=tuple(f"drug {a}" for a in range(d)),
        bernoulli=False,
        drawing={"kind": "chain"},
    )


ENVIRONMENT = Environment(
    key="linear-mixture",
    title="Linear mixture",
    summary="Synthetic patients of d types, each helped by one of d drugs. The algorithm has to learn how common each "
    "type is at each step.",
    source="ours, based on L21 Assumption 2",
    fields=(
        Field("d", "int", 4, "number of patient types, and of drugs", low=2, high=10),
        Field("S", "int", 4, "stages, including recovery", low=2, high=12),
        Field("H", "int", 10, "steps in an episode", low=2, high=100),
        Field("share", "float", 0.6, "share of the type that is most common at a step", low=0.1, high=1.0),
        Field("seed", "int", 0, "seed that sets the most common type at each step", low=0, high=2**53 - 1),
    ),
    make=make,
    size=lambda d, S, H, share, seed: (S, d, H, d),
    mixture=mixture,
)
