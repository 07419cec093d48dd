"""The interface of learners for linear mixtures, which plan optimistically from released sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np

from dprl.engine import kernel
from dprl.learners.learner import PlannedLearner
from dprl.learners.linear.confidence import Confidence
from dprl.learners.linear.regression import look_up, project
from dprl.mdp import Size
from dprl.mdp.mixture import expected
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.statistics.value_regression import ValueRegression


class MixturePlan(NamedTuple):
    """The arrays that a planner computes; a kernel writes them in place."""

    Q: Array  # [H, S, A], optimistic values
    V: Array  # [H + 1, S], their maxima; V[H] = 0
    policy: Policy  # [H, S], the greedy actions
    # [H, S, A] each: (V_{h+1} - middle) / unit is the target of the next regression at (h, s, a)
    middle: Array
    unit: Array
    worth: Array  # [H, S, A], 1/v, the weight of a user's data at (h, s, a) in the next regression
    inverse: Array  # [H - 1, families, d, d], inverses of the matrices used, or zeros if there are none
    weights: Array  # [H - 1, families, d], estimates of w_h
    # the inverses and estimates with a smaller ridge
    bare_inverse: Array
    bare_weights: Array
    indefinite: Array  # [1], the number of matrices so far that were not positive definite


# A planner's kernel has the arguments (released, error, users, features, rewards, constants, plan). The released sums
# [H - 1, families, d, d + 1] are its only data about users (statistics/value_regression.py), and error measures their
# noise. features [S, A, S, d] and rewards [H, S, A] are public. The result is written to plan.


@dataclass(frozen=True)
class MixtureProblem:
    """The public facts about a run that a planner's constants may depend on."""

    size: Size  # S, A, H and d
    K: int  # the number of users
    beta: float  # the failure probability, p in the paper
    bound: float  # C_w, an upper bound on |w_h|
    statistic: ValueRegression  # the released statistic, which defines the units of its noise
    quantile: float = 1.0  # bounds the length of d standard normal draws, with the noise bound's probability


class MixturePlanner(NamedTuple):
    """A planner for one exploration bonus: its kernel, its constants and its confidence sets."""

    plan: Callable[..., None]  # the kernel, with the signature above
    constants: Callable[[MixtureProblem], Array]
    # computes the confidence sets at D releases, for charts, from released [D, H - 1, families, d, d + 1], error [D],
    # users [D] and constants; None if there is no chart
    confidence: Callable[[Array, Array, Array, Array], Confidence] | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class MixtureLearner(PlannedLearner[MixturePlanner]):
    """A learner that plans at every release by value-targeted regression on features."""

    privacies: tuple[str, ...] = ("central", "local", "none")
    regression: type[ValueRegression] = ValueRegression

    loop = "regress"
    needs = "mixture"
    public = ("sizes", "d1", "mixture", "rewards")

    def seen(self, bonus: str) -> ValueRegression:
        """Return the statistic for a bonus. The paper's bonus uses raw values; others use centred and scaled ones."""
        return self.regression(centred=bonus != "paper")


@kernel
def act_greedily(h: int, plan: Any) -> None:
    """Set V and the policy at step h greedily from plan.Q; the lowest of equally good actions wins."""
    _, S, A = plan.Q.shape
    for s in range(S):
        best = 0
        for a in range(1, A):
            if plan.Q[h, s, a] > plan.Q[h, s, best]:
                best = a
        plan.policy[h, s] = best
        plan.V[h, s] = plan.Q[h, s, best]


@kernel
def next_block(most: float, users: int, K: int, d1: Array, features: Array, plan: MixturePlan) -> int:
    """Return the number of users at the next release: t + max(1, floor(b)), at most K.

    Here t = users, and b is the largest number up to most * t for which we predict that no ln det M grows by more than
    ln 2, because ln det (M + b G) - ln det M <= b tr(M^-1 G). G is a user's expected contribution X X^T / v, averaged
    over the states that the policy visits in the learner's own model <phi(s'|s, a), w>. Its w is the vector nearest to
    the estimate, in the norm of the matrix, for which the model sums to 1. We replace negative probabilities by 0 and
    normalise the rest (uniform if all are 0).
    """
    H, S = plan.policy.shape
    families, d = plan.inverse.shape[1], plan.inverse.shape[2]
    block = most * users
    here, there = d1.copy(), np.zeros(S)
    phi, found, row = np.zeros(d), np.zeros(3), np.zeros(S)
    one, ones = np.zeros(d), np.ones((1, S))
    for h in range(H - 1):
        for f in range(families):
            growth = 0.0
            for s in range(S):
                if here[s] > 0.0:
                    a = plan.policy[h, s]
                    middle, unit = plan.middle[h, s, a], plan.unit[h, s, a]
                    expected(features, s, a, plan.V, h + 1, middle, unit, f + 1, phi)
                    look_up(phi, h, f, plan.inverse, plan.weights, found)
                    worth = plan.worth[h, s, a] if f == 0 else 1.0
                    growth += here[s] * worth * found[1] * found[1]
            if growth * block > log(2.0):
                block = log(2.0) / growth
        for x in range(S):
            there[x] = 0.0
        for s in range(S):
            if here[s] <= 0.0:
                continue
            a = plan.policy[h, s]
            expected(features, s, a, ones, 0, 0.0, 1.0, 1, one)
            look_up(one, h, 0, plan.inverse, plan.weights, found)
            off = 1.0 - found[0]
            total = 0.0
            for x in range(S):
                row[x] = off * project(features[s, a, x], one, h, 0, plan.inverse)
                for i in range(d):
                    row[x] += features[s, a, x, i] * plan.weights[h, 0, i]
                row[x] = max(row[x], 0.0)
                total += row[x]
            for x in range(S):
                there[x] += here[s] * (row[x] / total if total > 0.0 else 1.0 / S)
        for x in range(S):
            here[x] = there[x]
    return min(K, users + max(1, int(block)))


@kernel
def centre(h: int, plan: MixturePlan) -> None:
    """Centre and scale the targets of the next regression at step h, so that V_{h+1} is within unit/2 of the middle."""
    _, S, A = plan.unit.shape
    low = plan.V[h + 1, 0]
    high = low
    for x in range(S):
        low = min(low, plan.V[h + 1, x])
        high = max(high, plan.V[h + 1, x])
    for s in range(S):
        for a in range(A):
            plan.middle[h, s, a] = (low + high) / 2.0
            plan.unit[h, s, a] = high - low if high > low else 1.0


@kernel
def reach_of_values(features: Array, h: int, s: int, a: int, V: Array, ends: Array) -> None:
    """Find the smallest and the largest V[h] over all states that (s, a) can lead to, and write them to ends [2]."""
    S, d = features.shape[2], features.shape[3]
    ends[0] = np.inf
    ends[1] = -np.inf
    for x in range(S):
        for i in range(d):
            if features[s, a, x, i] > 0.0:
                ends[0] = min(ends[0], V[h, x])
                ends[1] = max(ends[1], V[h, x])
