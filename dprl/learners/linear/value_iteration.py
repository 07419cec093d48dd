"""The interface of learners for linear MDPs, which run optimistic least-squares value iteration step by step.

At a release, the learner first receives the matrices. Then, from h = H - 1 down to 0, it receives the vector of step h
and plans that step. The plan defines the next request: the values V[h] to regress, with their middle and unit. The
learner receives nothing else about its users (statistics/feature_gram.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log
from typing import NamedTuple

import numpy as np

from dprl.engine import kernel
from dprl.learners.learner import PlannedLearner
from dprl.learners.linear.confidence import Confidence
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.statistics.feature_gram import FeatureGram


class ValueIterationPlan(NamedTuple):
    """The arrays that a planner computes; a kernel writes them in place, step by step."""

    Q: Array  # [H, S, A], optimistic values
    V: Array  # [H + 1, S], their maxima; V[H] = 0
    policy: Policy  # [H, S], the greedy actions
    # [H] each: the vector of step h is the sum of phi (r + V_{h+1} - middle) / unit
    middle: Array
    unit: Array
    # [H, 1, d, d] each: inverses with the larger and the smaller ridge, or zeros if there are none
    inverse: Array
    bare_inverse: Array
    # [H, 1, d] each: estimates of w_h with these two ridges
    weights: Array
    bare_weights: Array
    indefinite: Array  # [1], the number of matrices so far that were not positive definite


# A planner's kernel has the arguments (h, released, shift, pull, users, features, constants, plan). Its only data about
# users are released [H, 1, d, d + 1]: all matrices and, from step h on, the requested vectors. shift and pull measure
# the noise in a matrix and in a vector. features [S, A, d] are public. The kernel writes step h of the plan.


@dataclass(frozen=True)
class LinearProblem:
    """The public facts about a run that a planner's constants may depend on."""

    size: Size  # S, A, H and d
    K: int  # the number of users
    beta: float  # the failure probability, p in the paper
    # the maximum length of weights w for which <phi(s, a), w> is in [-1/2, 1/2] for every (s, a)
    bound: float
    norm: str  # the norm to which the noise is calibrated: l2 for Gaussian and l1 for Laplace noise


class ValueIterationPlanner(NamedTuple):
    """A planner for one exploration bonus: its kernel, its constants and its confidence sets."""

    step: Callable[..., None]  # the kernel, with the signature above
    constants: Callable[[LinearProblem], Array]
    # computes the confidence sets of the requested weights at D releases, for charts, from released [D, H, 1, d,
    # d + 1], shift [D], pull [D], users [D] and constants
    confidence: Callable[[Array, Array, Array, Array, Array], Confidence]
    longest: Callable[[LinearProblem], float]  # returns the maximum length of the requested weights


LOCAL = "no method is known for computing its sums from noisy reports (Luyo et al. 2021, Remark 5)"


@dataclass(frozen=True, kw_only=True, repr=False)
class ValueIterationLearner(PlannedLearner[ValueIterationPlanner]):
    """A learner that plans from regressions of its own value estimates, computed on all data so far."""

    privacies: tuple[str, ...] = ("central", "none")
    loop = "batches"
    needs = "features"
    public = ("sizes", "d1", "features")
    schedule = "own"

    @property
    def refused(self) -> Mapping[str, str]:
        return {
            "local": f"local privacy is an open question for {self.key}, because {LOCAL}",
            "shuffle": f"shuffle is not offered for {self.key} because, as with local privacy, {LOCAL}",
        }

    def seen(self, bonus: str) -> FeatureGram:
        """Return the statistic for a bonus. The paper's bonus uses raw values; others use centred and scaled ones."""
        return FeatureGram(centred=bonus != "paper")

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        """Return the number of batches or, without privacy, an estimate of the number of blocks."""
        if epsilon is None:
            return int(min(K, 11 * log(K + 1) + size.H * size.d * log(K + 1)) + 1)
        return len(batches(K, size, epsilon, norm))

    def pace(self, private: bool) -> str:
        """Describe the schedule: equal batches (Luyo et al. 2021, Appendix E) or, without privacy, growing blocks."""
        if private:
            return "updates its policy after each of B equal batches, with B as in its paper"
        return "updates its policy at the end of each block; blocks grow while its matrices change little"


def batches(K: int, size: Size, epsilon: float, norm: str) -> range:
    """Return the number of users at the end of each batch. All are multiples of ceil(K / B); the last may exceed K.

    B = ceil((K epsilon)^(2/5) / (d^(3/5) H^(1/5))) (Luyo et al. 2021, Appendix E.1), or for Laplace noise ceil((K
    epsilon)^(1/3) / (d^(2/3) H^(1/3))) (Appendix E.3).
    """
    H, d = size.H, size.d
    if norm == "l1":
        B = (K * epsilon) ** (1 / 3) / (d ** (2 / 3) * H ** (1 / 3))
    else:
        B = (K * epsilon) ** 0.4 / (d**0.6 * H**0.2)
    length = ceil(K / ceil(B))
    return range(length, K + length, length)


@kernel
def centre(h: int, plan: ValueIterationPlan) -> None:
    """Centre and scale the targets of step h, so that r + V_{h+1} is within unit/2 of the middle."""
    S = plan.V.shape[1]
    low = plan.V[h + 1, 0]
    high = low
    for x in range(S):
        low = min(low, plan.V[h + 1, x])
        high = max(high, plan.V[h + 1, x])
    plan.unit[h] = 1.0 + high - low
    plan.middle[h] = low + plan.unit[h] / 2.0


@kernel
def next_block(
    most: float, users: int, K: int, d1: Array, features: Array, moved: Array, plan: ValueIterationPlan
) -> int:
    """Return the number of users at the end of the next block without privacy, as `learner.next_block` does.

    Here, a user's contribution is phi phi^T, and the learner's own model is phi^T M^-1 moved.

    Args:
        moved: [H, d, S], the sum of phi over the users who moved to each state.
    """
    H, S = plan.policy.shape
    d = features.shape[2]
    block = most * users
    here, there, turned, row = d1.copy(), np.zeros(S), np.zeros(d), np.zeros(S)
    for h in range(H):
        growth = 0.0
        for x in range(S):
            there[x] = 0.0
        for s in range(S):
            if here[s] <= 0.0:
                continue
            a = plan.policy[h, s]
            square = 0.0
            for i in range(d):
                turned[i] = 0.0
                for j in range(d):
                    turned[i] += plan.inverse[h, 0, i, j] * features[s, a, j]
                square += turned[i] * features[s, a, i]
            growth += here[s] * square
            total = 0.0
            for x in range(S):
                row[x] = 0.0
                for i in range(d):
                    row[x] += turned[i] * moved[h, i, x]
                row[x] = max(row[x], 0.0)
                total += row[x]
            for x in range(S):
                there[x] += here[s] * (row[x] / total if total > 0.0 else 1.0 / S)
        if growth * block > log(2.0):
            block = log(2.0) / growth
        for x in range(S):
            here[x] = there[x]
    return min(K, users + max(1, int(block)))


def longest_weights(features: Array) -> float:
    """Return an upper bound on |w| for all w in the span of the features with |<phi(s, a), w>| <= 1/2 for all (s, a).

    The mean of <phi, w>^2 over all pairs is at most 1/4, and at least |w|^2 times the smallest positive eigenvalue of
    the mean of phi phi^T. Among all w with the same products, the shortest one is in the span of the features.
    """
    flat = features.reshape(-1, features.shape[-1])
    values = np.linalg.eigvalsh(flat.T @ flat / len(flat))
    return float(0.5 / np.sqrt(values[values > 1e-9 * values[-1]][0]))
