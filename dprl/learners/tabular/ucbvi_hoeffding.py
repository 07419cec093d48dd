"""UCBVI with the Hoeffding bonus (Azar, Osband, Munos 2017, Algorithms 1 and 3)."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dprl.kernels import kernel
from dprl.learners.tabular.backup import act_greedily, expectation
from dprl.learners.tabular.planner import CAP, Algorithm, Problem, cap_step
from dprl.learners.tabular.ucbvi import STATISTICAL
from dprl.mdp.tabular import Array


@kernel
def plan(released, error, constants, Q, V, policy):  # type: ignore[no-untyped-def]
    """Optimistic backward induction with b = c_count / sqrt(n) (Azar et al. 2017, Algorithm 3)."""
    H, S, A = Q.shape
    fall, c_count = (
        constants[0],
        constants[1],
    )
    for h in range(H - 1, -1, -1):
        cap = H - fall * h
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, S]
                if n < 1.0:
                    Q[h, s, a] = cap
                    continue
                value = (
                    released[h, s, a, S + 1] / n
                    + expectation(released, h, s, a, V[h + 1])
                    + c_count / np.sqrt(n)
                )
                Q[h, s, a] = min(Q[h, s, a], min(cap, value))
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """fall of the cap, then c_count: 7 H L + sqrt(L / 2) as printed plus ours for estimated rewards."""
    if problem.bonus == "practical":
        return np.array([cap_step(problem.params), problem.params["statistical"] * problem.H])
    L = log(5 * problem.S * problem.A * problem.T / problem.beta)
    return np.array([cap_step(problem.params), 7 * problem.H * L + sqrt(L / 2)])


ALGORITHM = Algorithm(
    key="ucbvi-hoeffding",
    title="UCBVI (Hoeffding)",
    summary="Optimism with a Hoeffding bonus, no privacy: simpler than UCBVI and slower by a factor sqrt(H).",
    source="Azar, Osband, Munos 2017, Algorithms 1 and 3",
    privacies=("none",),
    input="raw",
    plan=plan,
    constants=constants,
    fields=(CAP, STATISTICAL),
)
