"""Linear MDPs: P_h(s'|s, a) = <phi(s, a), mu_h(s')> and r_h(s, a) = <phi(s, a), theta_h> for known features phi."""

from __future__ import annotations

import numpy as np

from dprl.fields import SpecError
from dprl.mdp.tabular import Array


def linear_model(features: Array, measures: Array, rewards: Array) -> tuple[Array, Array]:
    """P: [H, S, A, S] and R: [H, S, A] of a linear MDP (Jin et al. 2020, Assumption A).

    Args:
        features: [S, A, d] phi, of length at most 1.
        measures: [H, d, S] mu_h, of which |mu_h v| <= sqrt d for every v in [0, 1]; none below 0.
        rewards: [H, d] theta_h, of length at most sqrt d.

    Raises:
        SpecError: a number is missing, something is too long, or a row is no distribution.
    """
    d = features.shape[-1]
    for name, values, most in (
        ("features", np.linalg.norm(features, axis=-1), 1.0),
        ("measures", np.linalg.norm(measures.sum(-1), axis=-1), np.sqrt(d)),
        ("rewards", np.linalg.norm(rewards, axis=-1), np.sqrt(d)),
    ):
        longest = float(np.max(values))
        if not longest <= most * (1 + 1e-9):
            raise SpecError(
                name, f"their norm is {longest:.3g} and at most {most:.3g} is allowed; scale them."
            )
    if measures.min() < 0:
        raise SpecError("measures", "a number below 0 is not allowed; give numbers from 0 on.")
    P = np.einsum("sai,hix->hsax", features, measures)
    if P.min() < -1e-12 or np.abs(P.sum(-1) - 1).max() > 1e-9:
        raise SpecError("measures", "a row of probabilities is negative or does not sum to 1; give others.")
    R = np.einsum("sai,hi->hsa", features, rewards)
    if R.min() < -1e-12 or R.max() > 1 + 1e-12:
        raise SpecError("rewards", "a mean reward is outside of 0 to 1; give others.")
    P = np.maximum(P, 0.0)
    return np.asarray(P / P.sum(-1, keepdims=True)), np.clip(R, 0.0, 1.0)
