"""The results of a run that learns from counts: the curve, and the counts, policies and values at some checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.mdp import TabularMDP, planning
from dprl.mdp.tabular import Array
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints, TraceCore

# most bytes of details that one seed stores; if all of them would need more, fewer checkpoints have details
DETAIL_BYTES = 64 * 2**20


class Detail(NamedTuple):
    """The counts, policy and values at one checkpoint; SeedTrace describes each field."""

    episode: int
    counts: Array
    noisy: Array
    released: Array
    policy: NDArray[np.int16]
    Q: Array
    V: Array
    error_bound: float
    error_used: float
    chances: Array | None = None
    bounds: Array | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class SeedTrace(TraceCore[RunSpec]):
    """The results of an online run with one random seed.

    There are C checkpoints, D of them with details, and P values of alpha. The curve's axis is the number of users so
    far. Its measure is regret, computed from the policies' exact values.

    Attributes:
        gap: the expected loss per episode of the policy played just before [C].
        coverage_ratio: the largest noise so far relative to E_{eps,beta} [C] (at most 1 while the bound holds; 0
            without noise).
        pac_alpha: the values of alpha [P]; pac_count: episodes so far that were suboptimal by more than alpha [C, P].
        detail_episodes: the number of users at each checkpoint with details [D].
        counts: the true counts [D, H, S, A, S + 2] (rows as in mdp/counts.py), or [D, H, S, A, B + 2] with a declared
            structure. If the learner forgets its batches, these are the counts of each row's last batch.
        noisy, released: the learner's statistic as released with noise, and as the learner sees it. If it consists of
            counts, both have the shape of `counts`, and `noisy` is NaN for counts that are not released.
        policy: [D, H, S], Q: [D, H, S, A], V: [D, H, S], as learned from that release; if the policy is
            stochastic, `policy` holds its likeliest actions.
        chances: the action probabilities of a stochastic policy [D, H, S, A], to seven digits; otherwise [0].
        occupancy: the probability of each state at each step under this policy [D, H, S].
        error_bound: the largest E_{eps,beta} of a row [D].
        error_used: the largest E that the bonus used in a row [D].
        bounds: E_{eps,beta} of each row [D, H, S, A] if each row counts only its own players; otherwise [0].
        optimism: the share of (h, s, a) in which Q is at least the optimal value [D].
        series: a learner's own measures by name, each [D, ..].
        beliefs: for learners of linear models (otherwise empty), each [D, steps, ..]: the fields of
            `learners.linear.confidence.Confidence` as used in planning; the same fields without noise, with the prefix
            `noiseless`; `truth`, the true weights [D, steps, d]; and `bound`, a bound on their length [D].
        optimal_*: the true optimum.
        v_star: the expected optimal value of an episode.
    """

    v_star: float
    gap: Array
    coverage_ratio: Array
    pac_alpha: Array
    pac_count: Ints
    detail_episodes: Ints
    counts: Array
    noisy: Array
    released: Array
    policy: NDArray[np.int16]
    Q: Array
    V: Array
    occupancy: Array
    error_bound: Array
    error_used: Array
    optimism: Array
    series: Mapping[str, Array]
    beliefs: Mapping[str, Array] = field(default_factory=dict)
    chances: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    bounds: Array = field(default_factory=lambda: np.zeros(0))
    optimal_policy: NDArray[np.int16]
    optimal_Q: Array
    optimal_V: Array
    optimal_occupancy: Array

    NOISY: ClassVar[Mapping[str, str]] = {"noisy": "counts", "released": "counts"}

    @property
    def episodes(self) -> Ints:
        """Return the number of users so far at each checkpoint, [C]."""
        return self.curve.at

    @property
    def regret(self) -> Array:
        """Return the cumulative regret at each checkpoint, [C]."""
        return self.curve.values

    @classmethod
    def build(
        cls, *, details: Sequence[Detail], mdp: TabularMDP, optimum: planning.Optimum, **known: Any
    ) -> SeedTrace:
        """Build the trace from the list of details, and add the values that follow from the MDP."""
        H, S, A = mdp.H, mdp.S, mdp.A
        told = details[0].noisy.shape if details else (H, S, A, S + 2)
        counted = details[0].counts.shape if details else (H, S, A, S + 2)
        shapes = {
            "counts": counted, "noisy": told, "released": told, "policy": (H, S),
            "Q": (H, S, A), "V": (H, S), "error_bound": (), "error_used": (),
        }  # fmt: skip
        stacked: dict[str, Any] = {
            name: np.array(
                [getattr(d, name) for d in details], dtype=np.int16 if name == "policy" else float
            ).reshape((len(details), *shape))
            for name, shape in shapes.items()
        }
        played = [d.policy.astype(np.int64) if d.chances is None else d.chances for d in details]
        stacked["occupancy"] = np.array([planning.occupancy(mdp, each) for each in played]).reshape(-1, H, S)
        stacked["optimism"] = (stacked["Q"] >= optimum.Q - 1e-9).mean((1, 2, 3))
        if details and details[0].chances is not None:
            stacked["chances"] = np.array([d.chances for d in details], dtype=np.float32)
        if details and details[0].bounds is not None:
            stacked["bounds"] = np.array([d.bounds for d in details])
        return cls(
            **known,
            **stacked,
            detail_episodes=np.array([d.episode for d in details], dtype=np.int64),
            optimal_policy=optimum.policy.astype(np.int16),
            optimal_Q=optimum.Q,
            optimal_V=optimum.V[:-1],
            optimal_occupancy=planning.occupancy(mdp, optimum.policy),
            v_star=planning.start_value(mdp, optimum.V),
        )
