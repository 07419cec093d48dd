"""The public facts of a linear-mixture MDP: features of transitions, and a bound on the length of hidden weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dprl.engine import kernel
from dprl.fields import SpecError
from dprl.mdp.tabular import Array, normalised
from dprl.messages.brief import described


@dataclass(frozen=True, eq=False)
class Mixture:
    """A linear mixture P_h(s'|s, a) = <phi(s'|s, a), w_h> with hidden weights w_h (Luyo et al. 2021, Assumption 2).

    Attributes:
        features: phi(s'|s, a), nonnegative, [S, A, S, d].
        bound: C_w, an upper bound on the Euclidean length of every w_h.

    Raises:
        SpecError: |sum over s' of phi(s'|s, a) v(s')| can exceed 1 for some v in [0, 1], or a number is not allowed.
    """

    features: Array
    bound: float

    __repr__ = described

    def __post_init__(self) -> None:
        S, A, X, d = self.features.shape
        if X != S or min(S, A, d) < 1:
            raise SpecError("features", f"the shape {self.features.shape} is not allowed; give [S, A, S, d].")
        if not (np.isfinite(self.features).all() and self.features.min() >= 0):
            raise SpecError("features", "a number is negative or missing; give numbers of at least 0.")
        if not (np.isfinite(self.bound) and self.bound > 0):
            raise SpecError(
                "bound", "this bound on the norm of the weights is not allowed; give a number above 0."
            )
        # features are nonnegative, so among all v in [0, 1] the sum is longest for v = 1
        longest = float(np.linalg.norm(self.features.sum(2), axis=-1).max())
        if longest > 1 + 1e-9:
            raise SpecError(
                "features", f"their sum over s' has norm {longest:.3g}, but at most 1 is allowed; scale them."
            )

    @property
    def d(self) -> int:
        return int(self.features.shape[-1])

    def transitions(self, weights: Array) -> Array:
        """Return P [H, S, A, S] for weights [H, d]. Raises SpecError if they are too long or give no distribution."""
        longest = float(np.linalg.norm(weights, axis=-1).max())
        if not longest <= self.bound * (1 + 1e-9):
            raise SpecError(
                "weights", f"their norm is {longest:.3g}, but at most {self.bound:.3g} is allowed."
            )
        return normalised("weights", np.einsum("saxi,hi->hsax", self.features, weights))

    def weights(self, P: Array) -> Array:
        """Return the shortest weights [H, d] that give these probabilities [H, S, A, S]. This inverts `transitions`."""
        features = self.features.reshape(-1, self.d)
        found = np.linalg.lstsq(features, P.reshape(len(P), -1).T, rcond=None)[0]
        return np.ascontiguousarray(found.T)


@kernel
def expected(
    features: Array, s: int, a: int, V: Array, h: int, middle: float, unit: float, power: int, phi: Array
) -> None:
    """Write the sum over s' of phi(s'|s, a) ((V[h, s'] - middle) / unit)^power to phi [d]. power is 1 or 2."""
    S, d = features.shape[2], features.shape[3]
    for i in range(d):
        phi[i] = 0.0
    for x in range(S):
        value = (V[h, x] - middle) / unit
        if power == 2:
            value = value * value
        for i in range(d):
            phi[i] += features[s, a, x, i] * value
