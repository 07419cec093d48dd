"""The common part of loops whose learner estimates the weights of a linear model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dprl.mdp.tabular import Array
from dprl.simulation.details import Detail
from dprl.simulation.loops.slices import SlicedRun

# At each detail: the sums without noise, w~, and the number of matrices so far that were not positive definite.
SERIES = ("sums", "weights", "indefinite")


class LinearRun(SlicedRun):
    """A run with one random seed, whose learner estimates the weights of a linear model."""

    @property
    def _detail_bytes(self) -> int:
        return int(8 * (2 * self.state.counts.size + 3 * self.state.sums.size))

    def _seen(self, counts: Array, row: int, error: float) -> Detail:
        """Store the learner's measures and return details. `row` selects the noise bound; `error` is the E in use."""
        state, plan = self.state, self.state.plan
        self._kept.append((state.sums.copy(), plan.weights.copy(), plan.indefinite[0]))
        return Detail(
            episode=self.users,
            counts=counts.copy(),
            noisy=state.noisy.copy(),
            released=state.noisy.copy(),
            policy=plan.policy.astype(np.int16),
            Q=plan.Q.copy(),
            V=plan.V[:-1].copy(),
            error_bound=float(self.setup.bound[row]),
            error_used=error,
        )

    def _series(self) -> dict[str, Array]:
        return {
            name: np.array([kept[i] for kept in self._kept], dtype=float) for i, name in enumerate(SERIES)
        }

    def _believed(
        self, confidence: Callable[..., Any], told: tuple[Array, ...], truth: Array, bound: float
    ) -> dict[str, Array]:
        """Return the confidence sets at D checkpoints, with and without noise. `told` has the noise sizes that the
        learner assumes, [D] each, `truth` has the true weights [D, ...], and `bound` is a bound on their length."""
        constants = self.setup.constants
        users = np.array([detail.episode for detail in self._details], dtype=float)
        released = np.array([detail.noisy for detail in self._details])
        believed = confidence(released, *told, users, constants)._asdict()
        sums, none = self._series()["sums"], map(np.zeros_like, told)
        quiet = confidence(sums, *none, users, constants)._asdict()
        return (
            {name: np.array(values) for name, values in believed.items()}
            | {f"noiseless {name}": np.array(values) for name, values in quiet.items()}
            | {"truth": truth, "bound": np.full(len(users), bound)}
        )
