"""The details of a run that learns from counts, in addition to its curve: its course, and the counts, policies and
values at fewer checkpoints."""

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

# of counts, policies and values a seed may keep; beyond it fewer checkpoints have them
DETAIL_BYTES = 64 * 2**20


class Detail(NamedTuple):
    """One checkpoint seen closely; see SeedTrace for the meaning of each."""

    episode: int
    counts: Array
    noisy: Array
    released: Array
    policy: NDArray[np.int16]
    Q: Array
    V: Array
    occupancy: Array
    error_bound: float
    error_used: float
    optimism: float
    chances: Array | None = None
    bounds: Array | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class SeedTrace(TraceCore[RunSpec]):
    """One seed of an online run on counts. C checkpoints, D of them with details, P values of alpha.

    The curve's axis is users so far; its measure cumulative regret, from exact values of the policies played, not
    returns.

    Attributes:
        gap: [C] expected loss per episode of the policy played just before.
        coverage_ratio: [C] largest noise so far relative to E_{eps,beta} (at most 1 while the
            bound holds; 0 without noise).
        pac_alpha: [P], pac_count: [C, P] episodes more than alpha suboptimal so far.
        detail_episodes: [D].
        counts: [D, H, S, A, S + 2] true counts (rows as in mdp/counts.py), or [D, H, S, A, B + 2] with a declared
            structure; `noisy` is NaN if nothing is released. If rows
            count their last batches, those of these.
        noisy, released: what is released of the learner's statistic, with noise, and as the learner sees it; of counts
            they are shaped as these.
        policy: [D, H, S], Q: [D, H, S, A], V: [D, H, S] the learner's after that release; of a stochastic policy its
            likeliest actions.
        chances: [D, H, S, A] of a stochastic policy's actions, to seven digits, else empty: [0].
        occupancy: [D, H, S] chance that this policy is in s at h.
        error_bound: [D] E_{eps,beta}, of the row where it is largest.
        error_used: [D] the E the bonus used, likewise.
        bounds: [D, H, S, A] E_{eps,beta} of each row, where rows differ because each counts only who played it, else
            empty: [0].
        optimism: [D] share of (h, s, a) with Q at least optimal.
        series: [D, ..] each, a learner's own measures by name.
        beliefs: [D, steps, ..] each, of learners of linear models, else nothing: the fields of
            `learners.linear.confidence.Confidence` as planned with; with `noiseless` before their names, what the same
            users would have led to without noise; `truth`, the weights that are estimated, [D, steps, d]; and `bound`,
            how long they can be, [D].
        optimal_*: the true optimum.
        v_star: expected optimal value of an episode.
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

    # random digits, or the counts themselves where there is no noise
    NOISY: ClassVar[Mapping[str, str]] = {"noisy": "counts", "released": "counts"}

    @property
    def episodes(self) -> Ints:
        """[C] users so far."""
        return self.curve.at

    @property
    def regret(self) -> Array:
        """[C] cumulative regret."""
        return self.curve.values

    def bound_of(self, h: int, s: int, a: int) -> Array:
        """Return [D] E_{eps,beta} of a row."""
        return np.asarray(self.bounds[:, h, s, a] if self.bounds.size else self.error_bound)

    @classmethod
    def build(
        cls, *, details: Sequence[Detail], mdp: TabularMDP, optimum: planning.Optimum, **known: Any
    ) -> SeedTrace:
        """Stack details and add what follows from the MDP."""
        H, S, A = mdp.H, mdp.S, mdp.A
        told = details[0].noisy.shape if details else (H, S, A, S + 2)
        counted = details[0].counts.shape if details else (H, S, A, S + 2)
        shapes = {
            "counts": counted, "noisy": told, "released": told, "policy": (H, S),
            "Q": (H, S, A), "V": (H, S), "occupancy": (H, S), "error_bound": (), "error_used": (), "optimism": (),
        }  # fmt: skip
        stacked: dict[str, Any] = {
            name: np.array(
                [getattr(d, name) for d in details], dtype=np.int16 if name == "policy" else float
            ).reshape((len(details), *shape))
            for name, shape in shapes.items()
        }
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
