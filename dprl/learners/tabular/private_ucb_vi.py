"""Private-UCB-VI (after Chowdhury, Zhou 2022): a Hoeffding baseline on raw noisy counts."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.learners.learner import Problem
from dprl.learners.tabular import anytime
from dprl.learners.tabular.backup import act_greedily
from dprl.learners.tabular.planner import CAP, TabularLearner, cap_slope
from dprl.mdp.planning import Policy
from dprl.mdp.structure import Table, gather
from dprl.mdp.tabular import Array
from dprl.statistics import NOISY


@kernel
def plan(
    released: Array, errors: Array, possible: Table, constants: Array, Q: Array, V: Array, policy: Policy
) -> None:
    """Run optimistic backward induction on noisy counts with a Hoeffding bonus.

    Let den = max(n^ + E1, 1), where E1 = E2 = E/4 bounds the noise in n^ and m^. Then

    Q = (r^ + sum m^ V)/den + c_reward/sqrt(den) + c_value/sqrt(den) + (w_reward E1 + w_value (S E2 + 2 E1))/den,
    clipped to [0, H]. The clip at 0 is ours, because noise can make r^ and m^ negative.
    """
    H, S, A = Q.shape
    slope, c_reward, c_value, w_reward, w_value = (
        constants[0],
        constants[1],
        constants[2],
        constants[3],
        constants[4],
    )
    B = released.shape[3] - 2
    following = np.zeros(B)
    for h in range(H - 1, -1, -1):
        cap = H - slope * h
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, B]
                error = errors[h, s, a]
                E1 = error / 4.0
                if n <= 0.0 or (error == 0.0 and n < 1.0):
                    Q[h, s, a] = cap
                    continue
                den = max(n + E1, 1.0)
                gather(possible, h, s, a, V, h + 1, following)
                value = released[h, s, a, B + 1]
                for x in range(B):
                    value += released[h, s, a, x] * following[x]
                bonus = (c_reward + c_value) / np.sqrt(den) + (
                    w_reward * E1 + w_value * (S * E1 + 2.0 * E1)
                ) / den
                Q[h, s, a] = max(min(cap, value / den + bonus), 0.0)
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """Return the slope of the cap on Q and the factors in the bonus, in our reconstruction of the paper.

    They are c_reward = Lc = sqrt(2 ln(4 S A T/beta)), c_value = H Lc, w_reward = 3 and w_value = H. 3 E1 covers the
    noise in r (assumed as large as in n) and the division by n^ + E1, but calibrated noise in r may reach 4 E1
    (docs/report/online.md, "What a paper's bonus does not cover").
    """
    p, H, S = problem.params, problem.H, problem.S
    Lc = sqrt(2 * log(4 * S * problem.A * problem.T / problem.beta))
    return np.array([cap_slope(p), Lc, H * Lc, 3.0, float(H)])


UNCOVERED = (
    "The paper's bonus adds 3E/4 for rewards, but calibrated noise can reach E, and the division can cost 3E/2. So "
    "until E/4 users have played, a value at the first step may not be an upper bound. Privacy does not depend on this."
)

ALGORITHM = TabularLearner(
    key="private-ucb-vi",
    title="Private-UCB-VI",
    summary="A Hoeffding baseline on raw noisy counts, for any privacy model. We reconstructed the formulas.",
    source="after Chowdhury, Zhou 2022",
    reconstructed=True,
    privacies=("central", "shuffle", "local", "none"),
    statistic=NOISY,
    plan=plan,
    constants=constants,
    anytime=anytime.hoeffding,
    note=anytime.SAME,
    fields=(CAP,),
    uncovered=UNCOVERED,
)
