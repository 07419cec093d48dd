"""Private-UCB-PO (after Chowdhury, Zhou 2022) and UCB-PO (after Shani, Efroni, Rosenberg, Mannor 2020).

Both run optimistic policy optimisation by mirror descent on raw noisy counts. We read only the introduction and Table 1
of the first paper and the abstract of the second. The order of operations is from the public code of the first paper's
authors, and the formulas are from memory. docs/report/online.md explains the differences.
"""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.learners.learner import Problem
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp.planning import Logits
from dprl.mdp.structure import Table, gather
from dprl.mdp.tabular import Array
from dprl.statistics import NOISY


@kernel
def plan(
    released: Array,
    errors: Array,
    possible: Table,
    constants: Array,
    users: int,
    Q: Array,
    V: Array,
    policy: Logits,
) -> None:
    """Evaluate the last policy optimistically, then take one step of mirror descent for each user who played it.

    With den = max(n^ + E1, 1), where E1 = E/4 bounds the noise in n^ and m^, and E bounds the noise in r^,
    Q = clip((r^ + sum m^ V)/den + L/sqrt(den) + (E + 2 E1)/den + H (L_p/sqrt(den) + (B + 2) E1/den), 0, H - h),
    V = sum over a of pi Q, and then pi(a) becomes proportional to pi(a) exp(users eta Q(a)).
    """
    H, S, A = Q.shape
    L, L_p, eta = constants[0], constants[1], constants[2]
    most = released.shape[3] - 2
    following = np.zeros(most)
    for h in range(H - 1, -1, -1):
        left = float(H - h)
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, most]
                error = errors[h, s, a]
                E1 = error / 4.0
                if n <= 0.0 or (error == 0.0 and n < 1.0):
                    Q[h, s, a] = left
                    continue
                den = max(n + E1, 1.0)
                B = gather(possible, h, s, a, V, h + 1, following)
                value = released[h, s, a, most + 1]
                for x in range(B):
                    value += released[h, s, a, x] * following[x]
                bonus = (L + H * L_p) / np.sqrt(den) + (error + 2.0 * E1 + H * (B + 2.0) * E1) / den
                Q[h, s, a] = max(min(left, value / den + bonus), 0.0)
            V[h, s] = 0.0
            for a in range(A):
                V[h, s] += exp(policy[h, s, a]) * Q[h, s, a]
            mirror_step(users * eta, h, s, Q, policy)


@kernel
def mirror_step(size: float, h: int, s: int, Q: Array, policy: Logits) -> None:
    """Take one step of mirror descent: replace ln pi by ln pi + size Q, normalised so that probabilities sum to 1."""
    A = Q.shape[2]
    top = -np.inf
    for a in range(A):
        policy[h, s, a] += size * Q[h, s, a]
        top = max(top, policy[h, s, a])
    total = 0.0
    for a in range(A):
        policy[h, s, a] -= top  # before the sum, so that small terms keep their digits
        total += exp(policy[h, s, a])
    for a in range(A):
        policy[h, s, a] -= log(total)


def constants(problem: Problem) -> Array:
    """Return L = sqrt(2 ln(4 S A T/beta)), L_p = sqrt(4 B ln(6 S A T/beta)) and eta = sqrt(2 ln A/(H^2 K)). B is the
    declared number of possible next states, by default S."""
    rows = problem.S * problem.A * problem.T / problem.beta
    L, L_p = sqrt(2 * log(4 * rows)), sqrt(4 * (problem.branching or problem.S) * log(6 * rows))
    eta = sqrt(2 * log(problem.A) / problem.K) / problem.H
    return np.array([L, L_p, eta])


NOTE = (
    "Its policy is stochastic and changes in steps of mirror descent: b steps at once after a block of b users. The "
    "step size is tuned to K, so regret keeps growing with K, eventually like \u221aK."
)

ALGORITHM = TabularLearner(
    key="private-ucb-po",
    title="Private-UCB-PO",
    summary="A stochastic policy updated by mirror descent, for any privacy model. We reconstructed the formulas.",
    source="after Chowdhury, Zhou 2022",
    reconstructed=True,
    privacies=("central", "shuffle", "local", "none"),
    statistic=NOISY,
    plan=plan,
    constants=constants,
    anytime=None,
    bonuses=("paper",),
    note=NOTE,
    stochastic=True,
)

UCB_PO = TabularLearner(
    key="ucb-po",
    title="UCB-PO",
    summary="Private-UCB-PO without noise: optimistic policy optimisation by mirror descent.",
    source="after Shani, Efroni, Rosenberg, Mannor 2020",
    privacies=("none",),
    statistic=NOISY,
    plan=plan,
    constants=constants,
    anytime=None,
    bonuses=("paper",),
    note=NOTE,
    stochastic=True,
)
