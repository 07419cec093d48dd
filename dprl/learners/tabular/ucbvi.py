"""UCBVI with the Bernstein bonus (Azar, Osband, Munos 2017, Algorithms 1 and 4): the non-private baseline."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.learners.learner import Problem
from dprl.learners.tabular import anytime
from dprl.learners.tabular.backup import act_greedily, expectation, moments
from dprl.learners.tabular.planner import CAP, TabularLearner, cap_slope
from dprl.mdp.planning import Policy
from dprl.mdp.structure import Table, gather
from dprl.mdp.tabular import Array
from dprl.statistics import NOISY


@kernel
def plan(
    released: Array, errors: Array, possible: Table, constants: Array, Q: Array, V: Array, policy: Policy
) -> None:
    """Run optimistic backward induction with the bonus of Azar et al. (2017), Algorithm 4.

    b = c_variance sqrt(Var_{P^}(V_{h+1}) / n) + c_count sqrt(1 / n) + c_range / n
        + sqrt((8 / n) sum_{s'} P^(s') min(c_gap / n_{h+1}(s'), H^2))
    """
    H, S, A = Q.shape
    slope, c_variance, c_count, c_range, c_gap = (
        constants[0],
        constants[1],
        constants[2],
        constants[3],
        constants[4],
    )
    B = released.shape[3] - 2
    gap = np.zeros((1, S))
    following, gaps = np.zeros(B), np.zeros(B)
    for h in range(H - 1, -1, -1):
        cap = H - slope * h
        for x in range(S):
            gap[0, x] = 0.0
            if c_gap > 0.0 and h < H - 1:
                n_next = 0.0
                for a in range(A):
                    n_next += released[h + 1, x, a, B]
                gap[0, x] = min(c_gap / n_next, float(H * H)) if n_next >= 1.0 else float(H * H)
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, B]
                if n < 1.0:
                    Q[h, s, a] = cap
                    continue
                gather(possible, h, s, a, V, h + 1, following)
                mean, spread = moments(released, h, s, a, following, V[h + 1, s])
                bonus = (c_variance * np.sqrt(spread) + c_count) * np.sqrt(1.0 / n) + c_range / n
                if c_gap > 0.0:
                    gather(possible, h, s, a, gap, 0, gaps)
                    bonus += np.sqrt(8.0 * expectation(released, h, s, a, gaps) / n)
                Q[h, s, a] = min(Q[h, s, a], min(cap, released[h, s, a, B + 1] / n + mean + bonus))
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """Return the slope of the cap on Q and the factors in the bonus, including sqrt(L / 2) for estimated rewards."""
    p = problem.params
    H, S, A = problem.H, problem.S, problem.A
    L = log(5 * S * A * problem.T / problem.beta)
    return np.array([cap_slope(p), sqrt(8 * L), sqrt(L / 2), 14 * H * L / 3, 100**2 * H**3 * S**2 * A * L**2])


ALGORITHM = TabularLearner(
    key="ucbvi",
    title="UCBVI",
    summary="Optimism with a Bernstein bonus, without privacy.",
    source="Azar, Osband, Munos 2017, Algorithms 1 and 4",
    privacies=("none",),
    statistic=NOISY,
    plan=plan,
    constants=constants,
    anytime=anytime.bernstein,
    fields=(CAP,),
)
