"""The record of a learner of a linear MDP that plans rarely: only where released matrices say that much is new.

At a look it is handed the matrices of all users so far, and nothing else. Where it decides to plan it is handed, for
h = H - 1 down to 0, the vectors of step h that it has asked for, plans that step, and so says what those of step h - 1
shall be of (statistics/switched_gram.py). When it looks and plans follows from what was released, and how often it may
is fixed before the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log, log2
from typing import NamedTuple

import numpy as np

from dprl.brief import described
from dprl.fields import Field
from dprl.kernels import kernel
from dprl.learners.defaults import PlannedLearner
from dprl.learners.linear.confidence import Confidence
from dprl.learners.linear.regression import ROUNDING
from dprl.learners.linear.value_iteration import LinearProblem
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.statistics.switched_gram import SwitchedGram

DOUBT = 7.0  # how many times what noise can move a matrix by is added to it where two are compared
GROWTH = 2.0  # by how much a direction of a matrix grows between plans
LAMBDA = 0.25
LOOKS = 10  # matrices that are released, for each plan that there may be


class SwitchingPlan(NamedTuple):
    """What a plan consists of; a kernel writes it in place, step by step.

    Attributes:
        Q: [H, S, A], optimistic values; of the plan before until they are overwritten, and H before the first.
        V: [H + 1, S], their maxima; V[H] = 0.
        policy: [H, S], greedy.
        floor, low: [H, S, A] and [H + 1, S], the same of pessimistic values, of a learner that has some; 0 before the
            first plan.
        worth: [H, S, A], what a user counts who comes next, between 1 and the learner's weight.
        asked: [H, families, S + 2], what the vectors are of: y = asked[s'] + asked[S] + asked[S + 1] r, in [-1/2, 1/2].
        middle, unit: [H], y of the first family is (r + V - middle) / unit, of a learner with one.
        inverse, bare_inverse: [H, families, d, d], of the matrices that were planned with, and of those with less
            ridge; zero where they have none.
        weights, bare_weights: [H, families, d], estimates.
        indefinite: [1], how many matrices so far were not positive definite.
    """

    Q: Array
    V: Array
    policy: Policy
    floor: Array
    low: Array
    worth: Array
    asked: Array
    middle: Array
    unit: Array
    inverse: Array
    bare_inverse: Array
    weights: Array
    bare_weights: Array
    indefinite: Array


# kernel signature of a planner of one step: that of value_iteration.py, with this plan, and released: [H, families, d,
# d + 1], the matrix of each step in every family, and from step h on the vectors that were asked for.


class SwitchingPlanner(NamedTuple):
    """How it plans with one set of constants.

    Attributes:
        step: see above.
        constants: from the problem, [..].
        last(S): [families, S + 2], what is asked of the last step, where V = 0.
        confidence, longest: as in value_iteration.py, of the first family.
    """

    step: Callable[..., None]
    constants: Callable[[LinearProblem], Array]
    last: Callable[[int], Array]
    confidence: Callable[[Array, Array, Array, Array, Array], Confidence]
    longest: Callable[[LinearProblem], float]


SHARE = Field(
    "plans",
    "float",
    1.0,
    "plans that there may be with privacy, in units of d log2(K + 1). Fewer need less noise; where they run out, one "
    "is left for each doubling of the users",
    low=0.1,
    high=1.0,
    when="with privacy",
)

LOCAL = "nobody can yet get its sums from noisy reports (L21 Remark 5)"


@dataclass(frozen=True)
class SwitchingLearner(PlannedLearner[SwitchingPlanner, SwitchedGram]):
    """A learner that plans only where some direction of a released matrix has doubled.

    Attributes:
        planners: by bonus, the first is the default.
        families: vectors that a plan asks for at each step.
        weight: the most that a user counts.

    The rest is that of every `Learner`.
    """

    key: str
    title: str
    summary: str
    source: str
    planners: Mapping[str, SwitchingPlanner]
    note: str = ""
    reconstructed: bool = False
    families: int = 1
    weight: float = 1.0

    __repr__ = described

    privacies = ("central", "none")
    loop = "switches"
    needs = "features"
    fields = (SHARE,)
    public = ("sizes", "features")
    schedule = "own"

    @property
    def refused(self) -> Mapping[str, str]:
        """Privacy models that it does not have."""
        return {
            "local": f"local is an open question for {self.key}: {LOCAL}",
            "shuffle": f"shuffle is not offered for {self.key}: as with local, {LOCAL}",
        }

    def seen(self, bonus: str) -> SwitchedGram:
        """Values are regressed centred, in units of their range."""
        return SwitchedGram(families=self.families, weight=self.weight)

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        """Looks at most, whatever share of plans is allowed; without privacy, which has no limit, about as many."""
        return looks(size, K) if epsilon is not None else int(min(K, 20 * size.d * log(K + 1)) + 1)

    def pace(self, private: bool) -> str:
        """When it looks and when it plans."""
        return (
            "updates its policy only where, in some direction, the matrices that it is shown have doubled. "
            "It looks at them at distances that double"
        )


def plans(size: Size, K: int, share: float = 1.0) -> int:
    """N, the plans that there may be with privacy: ceil(share d log2(K + 1)), K at most.

    It is never below one for each doubling of the users, so that `may_plan` always has one left for the next.
    """
    doublings = log2(K + 1)
    return min(K, max(ceil(share * size.d * doublings), ceil(doublings)))


def looks(size: Size, K: int, share: float = 1.0) -> int:
    """How often matrices may be released with privacy."""
    return min(K, LOOKS * plans(size, K, share))


@kernel
def doubled(now: Array, then: Array, ridge: float) -> bool:
    """Whether at some step x.(G + ridge)x is more than GROWTH times what it was, for some x.

    That is where GROWTH (G_then + ridge) - (G_now + ridge) is not positive definite.

    Args:
        now: [H, 1, d, d + 1], matrices of this look. then: [H, families, d, d + 1], those of the last plan.
    """
    H, _, d, _ = now.shape
    L = np.zeros((d, d))
    for h in range(H):
        most = 0.0
        for i in range(d):
            most = max(most, abs(now[h, 0, i, i]))
        more = (GROWTH - 1.0) * max(ridge, ROUNDING * most)
        for i in range(d):
            for j in range(i + 1):
                total = GROWTH * then[h, 0, i, j] - now[h, 0, i, j]
                if i == j:
                    total += more
                for k in range(j):
                    total -= L[i, k] * L[j, k]
                if i == j:
                    if not total > 0.0:
                        return True
                    L[i, i] = np.sqrt(total)
                else:
                    L[i, j] = total / L[j, j]
    return False


@kernel
def to_come(users: int, K: int) -> int:
    """How often the number of users so far still doubles until it is K or more; 0 before the first."""
    found = 0
    reached = users
    while 0 < reached < K:
        reached *= 2
        found += 1
    return found


@kernel
def next_look(users: int, distance: int, ridge: float, left: int, K: int) -> int:
    """How many users later it looks again. `distance`: how many it was the last time, 0 right after a plan.

    First so many as a direction needs at least to double, for |phi| <= 1 (and weights of at least 1 only make it
    sooner), then twice as many each time. Looks that are left are kept, one for each doubling of the users to come.
    """
    ahead = max(1, int(ridge)) if distance == 0 else 2 * distance
    if left <= to_come(users, K) + 1:
        ahead = max(ahead, users)
    if left <= 1 or ahead > K - users:
        ahead = K - users
    return ahead


@kernel
def may_plan(users: int, last: int, left: int, K: int) -> bool:
    """Whether a plan may be spent: those that are left are kept, one for each doubling of the users to come. last:
    users at the last plan."""
    return left > to_come(users, K) or (left > 0 and users >= 2 * last)
