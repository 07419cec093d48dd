"""RLSVI, randomised least-squares value iteration with one weight for each state and action (after Osband, Van Roy, Wen
2016; noise after Russo 2019).

What was read: the openings of Russo 2019 and of Lu, Gajane, Bai, Talebi 2026; the formulas are recalled.
docs/notes/rlsvi.md says what a block of users changes, and what was found of the claim that the draws protect users.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dprl.kernels import kernel
from dprl.learners.learner import Problem
from dprl.learners.tabular.backup import act_greedily
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.structure import Table, gather
from dprl.mdp.tabular import Array
from dprl.statistics import NOISY


@kernel
def plan(
    released: Array,
    errors: Array,
    possible: Table,
    constants: Array,
    draws: Array,
    Q: Array,
    V: Array,
    policy: Policy,
) -> None:
    """Q = (r + sum m V)/(n + 1) + sqrt(beta_k/(n + 1)) draws, and the policy is greedy: V is not cut at any ceiling.

    beta_k = S H^3 ln(2HSAk)/2 of the next user, k - 1 of whom have been in some state at the first step.
    """
    H, S, A = Q.shape
    B = released.shape[3] - 2
    following = np.zeros(B)
    k = 1.0
    for s in range(S):
        for a in range(A):
            k += released[0, s, a, B]
    spread = constants[0] * (constants[1] + np.log(k))
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, B]
                gather(possible, h, s, a, V, h + 1, following)
                value = released[h, s, a, B + 1]
                for x in range(B):
                    value += released[h, s, a, x] * following[x]
                Q[h, s, a] = value / (n + 1.0) + np.sqrt(spread / (n + 1.0)) * draws[h, s, a]
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """S H^3/2 and ln(2HSA)."""
    H, S, A = problem.H, problem.S, problem.A
    return np.array([S * H**3 / 2, log(2 * H * S * A)])


CLAIMED_BY = "Lu, Gajane, Bai, Talebi 2026"
DELTA = 1e-6


def claimed_epsilon(size: Size, K: int, delta: float) -> float:
    """rho + 2 sqrt(rho ln(1/delta)) with rho = 2AK/(H^2 ln(2HSA)), as CLAIMED_BY state it."""
    rho = 2 * size.A * K / (size.H**2 * log(2 * size.H * size.S * size.A))
    return rho + 2 * sqrt(rho * log(1 / delta))


def stated(size: Size, K: int) -> tuple[float, float, str]:
    """What is claimed of the draws, at DELTA."""
    return claimed_epsilon(size, K, DELTA), DELTA, CLAIMED_BY


ALGORITHM = TabularLearner(
    key="rlsvi",
    title="RLSVI",
    summary="Explores by Gaussian noise in its own estimates, redrawn at every release; no privacy is proved.",
    source="after Osband, Van Roy, Wen 2016; Russo 2019",
    reconstructed=True,
    privacies=("none",),
    statistic=NOISY,
    plan=plan,
    constants=constants,
    anytime=None,
    bonuses=("paper",),
    note="It draws anew at every release, and a block of users all play the policy of one draw. In long runs that is "
    "an algorithm of its own: its regret is not that of one draw for each user.",
    draws=True,
    stated=stated,
)
