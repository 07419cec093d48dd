"""The synthetic linear MDP of Qiao and Wang (2023, offline), Appendix F: two states, 100 actions, ten features."""

from __future__ import annotations

import numpy as np

from dprl.environments.environment import Environment, horizon
from dprl.fields import Field
from dprl.mdp import TabularMDP
from dprl.mdp.tabular import Array

BITS = 8


def features(A: int = 100, H: int = 20, seed: int = 0) -> Array:
    """Return the features phi [S, A, d] = (bits of a, delta, 1 - delta), divided by their largest norm.

    delta is 1 if (s = 0) == (a = 0), else 0. The paper's sensitivities hold for features of norm at most 1, but its
    features have norms up to sqrt 7 (for 100 actions). The paper does not state the order of bits; here coordinate i is
    bit i, starting from the lowest. With 100 actions, bit 7 is always 0, so the features span only 9 dimensions, and
    kappa = 0.
    """
    a, s = np.arange(A), np.arange(2)
    bits = (a[:, None] >> np.arange(BITS)) & 1
    delta = ((s[:, None] == 0) == (a == 0)).astype(float)
    phi = np.concatenate(
        [np.broadcast_to(bits, (2, A, BITS)), delta[..., None], 1 - delta[..., None]], -1
    ).astype(float)
    return phi / float(np.linalg.norm(phi, axis=-1).max())


def make(A: int = 100, H: int = 20, seed: int = 0) -> TabularMDP:
    """Build the MDP with P_h(s'|s, a) = <phi, nu_h(s')> and r_h(s, a) = <phi, theta_h>.

    nu_h(0) = (0.., alpha_1, alpha_2), nu_h(1) = (0.., 1 - alpha_1, 1 - alpha_2),
    theta_h = (r/8, 0, r/8, 1/2 - r/2, r/8, 0, r/8, 0, r/2, 1/2 - r/2),
    with alpha_1, alpha_2 and r uniform on [0, 1] for each step. Rewards equal their means; nu and theta scale with phi.
    """
    rng = np.random.default_rng(seed)
    alpha, r = rng.random((H, 2)), rng.random(H)
    phi = features(A, H, seed)
    raw = phi / phi[0, 0].max()  # delta is 1 at (0, 0)
    zero = np.zeros(H)
    theta = np.stack([r / 8, zero, r / 8, 0.5 - r / 2, r / 8, zero, r / 8, zero, r / 2, 0.5 - r / 2], -1)
    stay = np.einsum("sai,hi->hsa", raw[..., BITS:], alpha)
    return TabularMDP(
        name="Linear MDP (synthetic)",
        P=np.stack([stay, 1 - stay], -1),
        R=np.einsum("sai,hi->hsa", raw, theta),
        d1=np.full(2, 0.5),
        state_labels=("0", "1"),
        action_labels=tuple(map(str, range(A))),
        bernoulli=False,
    )


ENVIRONMENT = Environment(
    key="linear-synthetic",
    title="Linear MDP",
    summary="Two states and a hundred actions, with transitions and rewards linear in ten features. A seed draws them.",
    source="QW23-offline Appendix F",
    fields=(
        Field("A", "int", 100, "number of actions", low=2, high=256),
        horizon(20),
        Field("seed", "int", 0, "seed that draws alpha and r", low=0, high=2**53 - 1),
    ),
    make=make,
    size=lambda A, H, seed: (2, A, H, BITS + 2),
    features=features,
)
