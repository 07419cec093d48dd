"""LSVI-UCB (Jin et al. 2020) in batches with private sums (Luyo et al. 2021, Algorithm 2).

In a linear MDP, r + P V is linear in the features phi(s, a) for every V, so it can be learned by regressing r + V(s')
on the features, from the last step to the first. If G is the released matrix of step h and u the released vector for
V = V_{h+1}, then w~ = (G + ridge I)^-1 u, and Q = <phi, w~> + bonus, clipped to its range.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.learners.linear.confidence import Confidence, either, ellipsoid
from dprl.learners.linear.learner import act_greedily
from dprl.learners.linear.regression import at_least, look_up, solve
from dprl.learners.linear.value_iteration import (
    LinearProblem,
    ValueIterationLearner,
    ValueIterationPlan,
    ValueIterationPlanner,
    centre,
)
from dprl.mdp.tabular import Array


@kernel
def step(
    h: int,
    released: Array,
    shift: float,
    pull: float,
    users: int,
    features: Array,
    constants: Array,
    plan: ValueIterationPlan,
) -> None:
    """Plan step h as in the paper.

    The ridge is lambda + c_K + Upsilon, the bonus is beta |phi| in the norm of the inverse, and Q is at most H. shift
    and pull are the largest standard deviations, over the run, of the noise in an entry of a matrix and a vector.
    """
    H, S, A = plan.Q.shape
    found = np.zeros(3)
    d, K = constants[0], constants[3]
    upsilon, C = constants[1] * shift, constants[2] * pull
    c = d * upsilon
    U = max(1.0, 2.0 * H * np.sqrt(d * K / (d + c)) + C / (d + c))
    beta = 24.0 * H * np.sqrt(d * (d + c)) * (constants[4] + log(U))
    ridge = at_least(d + c + upsilon, released, h, 0)
    known = not np.isnan(solve(released, h, 0, ridge, plan.inverse, plan.weights))
    plan.indefinite[0] += 0.0 if known else 1.0
    for s in range(S):
        for a in range(A):
            value = float(H)
            if known:
                look_up(features[s, a], h, 0, plan.inverse, plan.weights, found)
                value = found[0] + beta * found[1]
            plan.Q[h, s, a] = max(min(value, float(H)), 0.0)
    act_greedily(h, plan)
    if h > 0:
        plan.middle[h - 1], plan.unit[h - 1] = 0.0, 1.0


def constants(problem: LinearProblem) -> Array:
    """Return the constants of Luyo et al. (2021), Appendix E.1, or E.3 for Laplace noise.

    They are lambda = d, Upsilon and C for noise with standard deviation 1, K, and chi without U_K, which is ln(24^2 18
    K^2 d H / p).
    """
    H, d, K, p = problem.size.H, problem.size.d, problem.K, problem.beta
    if problem.norm == "l1":
        tail = log(6 * K * H * d / p)
        upsilon, C = 2 * d + 2 * sqrt(d * tail) + tail, sqrt(d) * tail
    else:
        upsilon = 4 * sqrt(d) + 2 * log(6 * K * H / p)
        C = sqrt(d) + 2 * sqrt(log(6 * K * H * d / p))
    return np.array([float(d), upsilon, C, float(K), log(24**2 * 18 * d * H / p) + 2 * log(K)])


def paper_confidence(
    released: Array, shift: Array, pull: Array, users: Array, constants: Array
) -> Confidence:
    """Return the paper's confidence ellipsoid, which `step` uses: |w - w~| <= beta in the norm of G + ridge I."""
    H, d, K = released.shape[1], constants[0], constants[3]
    upsilon, C = (constants[1] * shift)[:, None], (constants[2] * pull)[:, None]
    c = d * upsilon
    U = np.maximum(1.0, 2.0 * H * np.sqrt(d * K / (d + c)) + C / (d + c))
    beta = 24.0 * H * np.sqrt(d * (d + c)) * (constants[4] + np.log(U))
    return ellipsoid(released, d + c + upsilon, beta, upsilon)


@kernel
def anytime(
    h: int,
    released: Array,
    shift: float,
    pull: float,
    users: int,
    features: Array,
    constants: Array,
    plan: ValueIterationPlan,
) -> None:
    """Plan step h with an upper bound on Q* that holds at all releases at once (proof in docs/report/linear.md).

        bonus = beta sqrt(phi.Y + max(lambda + shift - ridge, 0) |Y|^2) + (pull + (shift + ridge) C_w) |Y|,
        Y = (G + ridge I)^-1 phi.

    beta bounds the randomness of rewards and next states for all V at once, and shift and pull bound the noise in G and
    u. The bound holds for any ridge, and we use the better of lambda + shift and lambda.
    """
    _, S, A = plan.Q.shape
    d = features.shape[2]
    found = np.zeros(3)
    lamda, bound = constants[0], constants[1]
    grown = d * log(1.0 + users / (d * lamda))
    ridge, less = at_least(lamda + shift, released, h, 0), at_least(lamda, released, h, 0)
    determinant = solve(released, h, 0, ridge, plan.inverse, plan.weights)
    known, bare = not np.isnan(determinant), False
    if known:
        grown = min(grown, max(determinant - d * log(lamda), 0.0))
    else:
        plan.indefinite[0] += 1.0
    if shift > 0.0:
        bare = not np.isnan(solve(released, h, 0, less, plan.bare_inverse, plan.bare_weights))
    beta = 0.5 * np.sqrt(grown + constants[2])
    low = plan.V[h + 1, 0]
    high = low
    for x in range(S):
        low = min(low, plan.V[h + 1, x])
        high = max(high, plan.V[h + 1, x])
    for s in range(S):
        for a in range(A):
            value = 1.0 + high
            if known:
                look_up(features[s, a], h, 0, plan.inverse, plan.weights, found)
                upper = found[0] + beta * found[1] + (pull + (shift + ridge) * bound) * found[2]
                value = min(value, plan.middle[h] + plan.unit[h] * upper)
            if bare:
                look_up(features[s, a], h, 0, plan.bare_inverse, plan.bare_weights, found)
                length = np.sqrt(found[1] * found[1] + shift * found[2] * found[2])
                upper = found[0] + beta * length + (pull + (shift + less) * bound) * found[2]
                value = min(value, plan.middle[h] + plan.unit[h] * upper)
            plan.Q[h, s, a] = max(value, low)
    act_greedily(h, plan)
    if h > 0:
        centre(h - 1, plan)


def anytime_constants(problem: LinearProblem) -> Array:
    """Return the constants of `anytime`: lambda = 1/4, C_w, and 2 ln(3 H 2^(S-1) / beta) from a union bound over V."""
    S, H = problem.size.S, problem.size.H
    return np.array([0.25, problem.bound, 2 * (log(3 * H / problem.beta) + (S - 1) * log(2))])


def anytime_confidence(
    released: Array, shift: Array, pull: Array, users: Array, constants: Array
) -> Confidence:
    """Return the confidence set that `anytime` uses: at every step, the narrower of two with different ridges."""
    lamda, bound, spent = constants[0], constants[1], constants[2]
    return either(released, shift, pull, users, lamda, bound, 0.25, spent, moved=shift[:, None])


ALGORITHM = ValueIterationLearner(
    key="lsvi-ucb",
    title="LSVI-UCB",
    summary="Learns the values of a linear MDP by least squares, with a new regression in each batch.",
    source="L21 Algorithm 2, Theorem 8, Appendices E.1 and E.3; Jin et al. 2020",
    planners={
        "anytime": ValueIterationPlanner(
            anytime, anytime_constants, anytime_confidence, lambda problem: problem.bound
        ),
        # 2 H sqrt d, for r + V in [0, H + 1] (Jin et al. 2020, Lemma B.1)
        "paper": ValueIterationPlanner(
            step, constants, paper_confidence, lambda p: 2 * p.size.H * sqrt(p.size.d)
        ),
    },
)
