"""DP-UCBVI (Qiao, Wang 2023, Algorithm 1): optimism on private counts with a Bernstein bonus adapted to noise."""

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
from dprl.statistics import CONSISTENT


@kernel
def plan(
    released: Array, errors: Array, possible: Table, constants: Array, Q: Array, V: Array, policy: Policy
) -> None:
    """Run Algorithm 1 of Qiao and Wang (2023, online), lines 5-16, on released counts n~ and m~ and rewards r~.

    b = c_variance sqrt(Var_{P~}(V~_{h+1}) / n~) + c_count sqrt(1 / n~) + c_privacy E / n~
        + c_gap sqrt( sum_{s'} P~(s') min{ g1 / n~_{h+1}(s') + (g2 E^2 + g3) / n~_{h+1}(s')^2, H^2 } / n~ )
    """
    H, S, A = Q.shape
    slope, c_variance, c_count, c_privacy, c_gap, g1, g2, g3 = (
        constants[0],
        constants[1],
        constants[2],
        constants[3],
        constants[4],
        constants[5],
        constants[6],
        constants[7],
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
                error = 0.0
                for a in range(A):
                    n_next += released[h + 1, x, a, B]
                    error = max(error, errors[h + 1, x, a])
                gap[0, x] = float(H * H)
                if n_next > 0.0:
                    gap[0, x] = min(gap[0, x], g1 / n_next + (g2 * error * error + g3) / n_next / n_next)
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, B]
                error = errors[h, s, a]
                if n <= 0.0 or (error == 0.0 and n < 1.0):
                    Q[h, s, a] = cap
                    continue
                if c_privacy * error > 2.0 * cap * n:  # this term alone exceeds the cap
                    Q[h, s, a] = min(Q[h, s, a], cap)
                    continue
                reward = min(max(released[h, s, a, B + 1] / n, 0.0), 1.0)
                gather(possible, h, s, a, V, h + 1, following)
                mean, spread = moments(released, h, s, a, following, V[h + 1, s])
                bonus = (c_variance * np.sqrt(spread) + c_count) * np.sqrt(1.0 / n) + c_privacy * error / n
                if c_gap > 0.0:
                    gather(possible, h, s, a, gap, 0, gaps)
                    bonus += c_gap * np.sqrt(expectation(released, h, s, a, gaps) / n)
                Q[h, s, a] = min(Q[h, s, a], min(cap, reward + mean + bonus))
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """Return the slope of the cap on Q and the factors in the bonus, where iota = ln(30 H S A T / beta)."""
    p, H, S, A = problem.params, problem.H, problem.S, problem.A
    iota = log(30 * H * S * A * problem.T / problem.beta)
    return np.array(
        [
            cap_slope(p),
            2 * sqrt(iota),
            sqrt(2 * iota),
            20 * H * S * iota,
            4 * sqrt(iota),
            1000**2 * H**3 * S * A * iota**2,
            1000**2 * H**4 * S**4 * A**2 * iota**4,
            1000**2 * H**6 * S**4 * A**2 * iota**4,
        ]
    )


ALGORITHM = TabularLearner(
    key="dp-ucbvi",
    title="DP-UCBVI",
    summary="Optimism on privately released counts with a Bernstein bonus, for any privacy model.",
    source="QW23-online Algorithm 1",
    note="The last bonus term in the paper needs counts of the next step. The last step "
    "has no next step, so with the paper's constants we leave that term out there.",
    privacies=("central", "shuffle", "local", "none"),
    statistic=CONSISTENT,
    plan=plan,
    constants=constants,
    anytime=anytime.bernstein,
    fields=(CAP,),
)
