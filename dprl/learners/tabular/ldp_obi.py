"""LDP-OBI (after Garcelon, Perchet, Pike-Burke, Pirotta 2021): UCRL2-style optimism on counts with local noise.

We read only the abstract, the introduction, and remarks in Qiao, Wang 2023 and Luyo et al. 2021; the formulas are from
memory. The paper assumes the same dynamics at every step, but this version allows different ones and counts each step
separately. docs/report/online.md, "LDP-OBI", explains the differences.
"""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.fields import Field
from dprl.learners.learner import Problem
from dprl.learners.tabular import anytime
from dprl.learners.tabular.backup import act_greedily
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp.planning import Policy
from dprl.mdp.structure import Table, gather
from dprl.mdp.tabular import Array
from dprl.statistics import NOISY


@kernel
def plan(
    released: Array, errors: Array, possible: Table, constants: Array, Q: Array, V: Array, policy: Policy
) -> None:
    """Run optimistic backward induction with an L1 bonus and denominators that are rarely below the true counts.

    With |r^ - r| <= c1, |n^ - n| <= c2, |sum m^ - n| <= c3, |m^ - m| <= c4, N = n^ + alpha c2, M = sum m^ + alpha c3,
    Q = r^/N + sum m^ V/M + L/sqrt(N) + ((alpha + 1) c2 + c1)/N
        + (H - h) (L_p/sqrt(M) + (B c4 + (alpha + 1) c3)/M), clipped to [0, H - h].
    """
    H, S, A = Q.shape
    alpha, L, L_p = constants[0], constants[1], constants[2]
    most = released.shape[3] - 2
    following = np.zeros(most)
    for h in range(H - 1, -1, -1):
        left = float(H - h)
        for s in range(S):
            for a in range(A):
                B = gather(possible, h, s, a, V, h + 1, following)
                n = released[h, s, a, most]
                c1, c2 = errors[h, s, a], errors[h, s, a] / 4.0
                total = 0.0
                value = 0.0
                for x in range(B):
                    total += released[h, s, a, x]
                    value += released[h, s, a, x] * following[x]
                c3 = min(B * c2, abs(total - n) + c2)  # bounds the error of the total
                N, M = n + alpha * c2, total + alpha * c3
                if N < 1.0 or M < 1.0:
                    Q[h, s, a] = left
                    continue
                reward = released[h, s, a, most + 1] / N + L / np.sqrt(N) + ((alpha + 1.0) * c2 + c1) / N
                spread = L_p / np.sqrt(M) + (B * c2 + (alpha + 1.0) * c3) / M
                Q[h, s, a] = max(min(left, reward + value / M + left * spread), 0.0)
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """Return alpha, L = sqrt(2 l) and L_p = sqrt(14 B l) for l = ln(4 pi^2 S A H K^3/(3 beta)) and B next states."""
    H, S, A, K = problem.H, problem.S, problem.A, problem.K
    logarithm = log(4 * pi**2 * S * A * H / (3 * problem.beta)) + 3 * log(K)
    spread = 14 * (problem.branching or S) * logarithm
    return np.array([problem.params["alpha"], sqrt(2 * logarithm), sqrt(spread)])


ALPHA = Field(
    "alpha",
    "float",
    2.0,
    "number of noise bounds added to a count before dividing by it; the paper allows any above 1",
    low=1.0,
    high=100.0,
    when="not anytime",
)

ALGORITHM = TabularLearner(
    key="ldp-obi",
    title="LDP-OBI",
    summary="The first algorithm with a regret bound under local privacy: optimism with an L1 bonus on raw noisy "
    "counts. We reconstructed the formulas without the paper's text.",
    source="after Garcelon, Perchet, Pike-Burke, Pirotta 2021",
    reconstructed=True,
    privacies=("local", "none"),
    statistic=NOISY,
    plan=plan,
    constants=constants,
    anytime=anytime.hoeffding,
    fields=(ALPHA,),
    note="With the anytime bonus, it equals Private-UCB-VI with local noise. Only the papers' bonuses differ: this "
    "one is larger by a factor of about \u221aS.",
)
