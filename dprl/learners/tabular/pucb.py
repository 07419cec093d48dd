"""PUCB (Vietri et al. 2020, Algorithms 2-3): optimism on raw noisy counts, with and without privacy."""

from __future__ import annotations

from dataclasses import replace
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
    """Run Algorithm 3 of Vietri et al. (2020) on noisy visits n^, transitions m^ and reward sums r^.

    With conf = c_phi / sqrt(max(n^ - E, 1)) + c_psi (3E/n^ + 2E^2/n^^2), Q+ = min(H, (r^ + sum m^ V)/n^ + conf) if
    n^ >= 2E and n^ >= 1, else H (the paper states Q + H, which may be too small because of noise; its proof needs H).
    We also clip Q+ at 0, because noise can make r^ and m^ negative.
    """
    H, S, A = Q.shape
    slope, c_phi, c_psi, paper_E = (constants[0], constants[1], constants[2], constants[3])
    B = released.shape[3] - 2
    following = np.zeros(B)
    for h in range(H - 1, -1, -1):
        cap = H - slope * h
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, B]
                E = paper_E if paper_E > 0.0 else errors[h, s, a]
                if n < max(2.0 * E, 1.0):
                    Q[h, s, a] = cap
                    continue
                gather(possible, h, s, a, V, h + 1, following)
                value = released[h, s, a, B + 1] / n + expectation(released, h, s, a, following)
                ratio = E / n
                conf = c_phi / np.sqrt(max(n - E, 1.0)) + c_psi * (3.0 * ratio + 2.0 * ratio * ratio)
                Q[h, s, a] = max(min(cap, value + conf), 0.0)
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """Return the slope of the cap on Q, c_phi, c_psi, and the paper's E (0 if `errors` replaces it).

    In the paper, beta' = beta/4, c_phi = (H + 1) sqrt(2 ln(K/beta')) and c_psi = 1 + S H. For noise as in the paper,
    E = (3/epsilon) H ln((2SAH + S^2 AH)/beta') ln(K)^{5/2}.
    """
    p, H, S, A, K = problem.params, problem.H, problem.S, problem.A, problem.K
    beta = problem.beta / 4
    paper_E = 0.0
    if problem.epsilon is not None and problem.calibration == "paper":
        paper_E = 3 / problem.epsilon * H * log((2 * S * A * H + S * S * A * H) / beta) * log(K) ** 2.5
    return np.array([cap_slope(p), (H + 1) * sqrt(2 * log(K / beta)), 1 + S * H, paper_E])


ALGORITHM = TabularLearner(
    key="pucb",
    title="PUCB",
    summary="Optimism on raw noisy counts with a Hoeffding bonus: the first private algorithm with a regret bound.",
    source="V20 Algorithms 2 and 3",
    privacies=("central", "none"),
    statistic=NOISY,
    plan=plan,
    constants=constants,
    anytime=anytime.hoeffding,
    note=anytime.SAME,
    fields=(CAP,),
)

UBEV = replace(
    ALGORITHM,
    key="ubev",
    title="UBEV form of PUCB",
    summary="PUCB without noise (after Dann, Lattimore, Brunskill 2017, whose own bonus is tighter).",
    source="V20 Algorithm 3 without noise; after Dann et al. 2017",
    privacies=("none",),
)
