"""UCBVI with the Hoeffding bonus (Azar, Osband, Munos 2017, Algorithms 1 and 3)."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.learners.learner import Problem
from dprl.learners.tabular import anytime
from dprl.learners.tabular.backup import act_greedily, expectation
from dprl.learners.tabular.planner import CAP, TabularLearner, cap_slope
from dprl.mdp.planning import Policy
from dprl.mdp.structure import Table, gather
from dprl.mdp.tabular import Array
from dprl.statistics import NOISY


@kernel
def plan(
    released: Array, errors: Array, possible: Table, constants: Array, Q: Array, V: Array, policy: Policy
) -> None:
    """Run optimistic backward induction with b = c_count / sqrt(n) (Azar et al. 2017, Algorithm 3)."""
    H, S, A = Q.shape
    slope, c_count = (constants[0], constants[1])
    B = released.shape[3] - 2
    following = np.zeros(B)
    for h in range(H - 1, -1, -1):
        cap = H - slope * h
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, B]
                if n < 1.0:
                    Q[h, s, a] = cap
                    continue
                gather(possible, h, s, a, V, h + 1, following)
                value = (
                    released[h, s, a, B + 1] / n
                    + expectation(released, h, s, a, following)
                    + c_count / np.sqrt(n)
                )
                Q[h, s, a] = min(Q[h, s, a], min(cap, value))
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """Return the slope of the cap on Q, and the paper's 7 H L plus our sqrt(L / 2) for estimated rewards."""
    L = log(5 * problem.S * problem.A * problem.T / problem.beta)
    return np.array([cap_slope(problem.params), 7 * problem.H * L + sqrt(L / 2)])


ALGORITHM = TabularLearner(
    key="ucbvi-hoeffding",
    title="UCBVI (Hoeffding)",
    summary="Optimism with a Hoeffding bonus, without privacy: simpler than UCBVI, with a bound √H times as large.",
    source="Azar, Osband, Munos 2017, Algorithms 1 and 3",
    privacies=("none",),
    statistic=NOISY,
    plan=plan,
    constants=constants,
    anytime=anytime.hoeffding,
    note=anytime.SAME,
    fields=(CAP,),
)
