"""UCRL-VTR (Ayoub et al. 2020) with private sums (Luyo et al. 2021, Algorithm 1).

It learns a linear mixture by regressing its own values V(s') on phi_V(s, a), because <phi_V, w> is the mean of V(s').
The released sums G and u at step h give w~ = (G + ridge I)^-1 u and Q = r + <phi_V, w~> + bonus, which is clipped.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.learners.linear.confidence import Confidence, either, ellipsoid
from dprl.learners.linear.learner import (
    MixtureLearner,
    MixturePlan,
    MixturePlanner,
    MixtureProblem,
    act_greedily,
    centre,
    reach_of_values,
)
from dprl.learners.linear.regression import at_least, look_up, solve
from dprl.mdp.mixture import expected
from dprl.mdp.tabular import Array


@kernel
def plan(
    released: Array,
    error: float,
    users: int,
    features: Array,
    rewards: Array,
    constants: Array,
    plan: MixturePlan,
) -> None:
    """Plan by optimistic value-targeted regression, as in the paper.

    The ridge is lambda + 2 Upsilon, the bonus is beta |phi_V| in the norm of M^-1, and Q is in [0, H]. error is the
    largest standard deviation of the noise in any sum of the run.
    """
    H, S, A = plan.Q.shape
    phi, found = np.zeros(features.shape[3]), np.zeros(3)
    lamda, upsilon = constants[0], constants[1] * error
    beta = constants[2] * np.sqrt(lamda + upsilon) + constants[3]
    for h in range(H - 1, -1, -1):
        known = h < H - 1
        if known:
            ridge = at_least(lamda + 2.0 * upsilon, released, h, 0)
            known = not np.isnan(solve(released, h, 0, ridge, plan.inverse, plan.weights))
            plan.indefinite[0] += 0.0 if known else 1.0
        for s in range(S):
            for a in range(A):
                value = rewards[h, s, a]
                if known:
                    expected(features, s, a, plan.V, h + 1, 0.0, 1.0, 1, phi)
                    look_up(phi, h, 0, plan.inverse, plan.weights, found)
                    value += found[0] + beta * found[1]
                elif h < H - 1:
                    value = float(H)
                plan.Q[h, s, a] = max(min(value, float(H)), 0.0)
        act_greedily(h, plan)


def constants(problem: MixtureProblem) -> Array:
    """Return the constants of Luyo et al. (2021), Corollaries 5 and 6.

    They are lambda = H^2, Upsilon for error = 1, 3 (C_w + 1), and sqrt(2 H^2 ln(3 H (1 + K H)^(d/2) / p)).
    """
    H, d, K, p = problem.size.H, problem.size.d, problem.K, problem.beta
    most = float(problem.statistic.units(problem.size).max())  # 1 for noise as in the paper
    return np.array(
        [
            float(H * H),
            most * (4 * sqrt(d) + 2 * log(6 * K * H / p)),
            3 * (problem.bound + 1),
            sqrt(2 * H * H * (log(3 * H / p) + d / 2 * log(1 + K * H))),
        ]
    )


def paper_confidence(released: Array, error: Array, users: Array, constants: Array) -> Confidence:
    """Return the paper's confidence ellipsoid, which `plan` uses: |w - w~| <= beta in the norm of G + ridge I."""
    lamda, upsilon = constants[0], constants[1] * error[:, None]
    beta = constants[2] * np.sqrt(lamda + upsilon) + constants[3]
    # the paper shifts by 2 Upsilon; noise moves an eigenvalue by at most Upsilon
    return ellipsoid(released, lamda + 2.0 * upsilon, beta, upsilon)


@kernel
def anytime(
    released: Array,
    error: float,
    users: int,
    features: Array,
    rewards: Array,
    constants: Array,
    plan: MixturePlan,
) -> None:
    """Plan with an upper bound on Q* that holds at all releases at once (proof in docs/report/linear.md).

        bonus = beta sqrt(X.Y + max(lambda + shift - ridge, 0) |Y|^2) + (N + ridge C_w) |Y|,  Y = (G + ridge I)^-1 X.

    X is phi of (V - middle) / unit. beta bounds the randomness of next states, N bounds the effect of noise in G and u,
    and shift bounds the noise in G. The bound holds for any ridge, and we use the better of lambda + shift and lambda.
    error is an upper bound on the length of d draws of a release's noise, in the units of the release.
    """
    H, S, A = plan.Q.shape
    d = features.shape[3]
    phi, found, ends = np.zeros(d), np.zeros(3), np.zeros(2)
    lamda, bound = constants[0], constants[1]
    shift, pull = constants[2] * error, constants[3] * error
    for h in range(H - 1, -1, -1):
        known, bare, beta, ridge, less = False, False, 0.0, lamda, lamda
        if h < H - 1:
            centre(h, plan)
            grown = d * log(1.0 + users / (4.0 * d * lamda))
            ridge, less = at_least(lamda + shift, released, h, 0), at_least(lamda, released, h, 0)
            determinant = solve(released, h, 0, ridge, plan.inverse, plan.weights)
            known = not np.isnan(determinant)
            if known:
                grown = min(grown, max(determinant - d * log(lamda), 0.0))
            else:
                plan.indefinite[0] += 1.0
            if shift > 0.0:
                bare = not np.isnan(solve(released, h, 0, less, plan.bare_inverse, plan.bare_weights))
            beta = 0.5 * np.sqrt(grown + constants[4])
        for s in range(S):
            for a in range(A):
                if h == H - 1:
                    plan.Q[h, s, a] = rewards[h, s, a]
                    continue
                reach_of_values(features, h + 1, s, a, plan.V, ends)
                value = ends[1]
                middle, unit = plan.middle[h, s, a], plan.unit[h, s, a]
                expected(features, s, a, plan.V, h + 1, middle, unit, 1, phi)
                if known:
                    look_up(phi, h, 0, plan.inverse, plan.weights, found)
                    upper = found[0] + beta * found[1] + (pull + ridge * bound) * found[2]
                    value = min(value, middle + unit * upper)
                if bare:
                    look_up(phi, h, 0, plan.bare_inverse, plan.bare_weights, found)
                    length = np.sqrt(found[1] * found[1] + shift * found[2] * found[2])
                    upper = found[0] + beta * length + (pull + less * bound) * found[2]
                    value = min(value, middle + unit * upper)
                plan.Q[h, s, a] = rewards[h, s, a] + max(value, ends[0])
        act_greedily(h, plan)


def anytime_constants(problem: MixtureProblem) -> Array:
    """Return lambda = 1/4, C_w, the two bounds of `noise_bounds` for error = 1, and 2 ln(3 (H - 1) / beta)."""
    shift, pull = noise_bounds(problem, 0)
    return np.array([0.25, problem.bound, shift, pull, 2 * log(3 * (problem.size.H - 1) / problem.beta)])


def noise_bounds(problem: MixtureProblem, f: int) -> tuple[float, float]:
    """Return bounds on the noise in G and in u - G w, for the regressions of family f and error = 1.

    Let q be the probability that d standard normal draws are longer than x. With at most this probability, the noise in
    u - G w exceeds x times its largest standard deviation. The noise in G is at most sqrt 2 times the length of its
    draws, and at most 2 sqrt d + 2 sqrt(ln(2 / q)), because it moves by at most sqrt 2 times as much as they do
    (Davidson, Szarek 2001, Theorem II.11).
    """
    from scipy.special import chdtrc, chdtri

    x, d = problem.quantile, problem.size.d
    matrix, vector = problem.statistic.units(problem.size)[0, 2 * f : 2 * f + 2]
    q = float(chdtrc(d, x * x))
    norm = min(2 * sqrt(d) + 2 * sqrt(log(2 / q)), sqrt(2 * float(chdtri(d * (d + 1) / 2, q))))
    return matrix * norm / x, sqrt(vector**2 + 2 * (matrix * problem.bound) ** 2)


def anytime_confidence(released: Array, error: Array, users: Array, constants: Array) -> Confidence:
    """Return the confidence set that `anytime` uses: at every step, the narrower of two with different ridges."""
    lamda, bound, spent = constants[0], constants[1], constants[4]
    shift, pull = constants[2] * error, constants[3] * error
    return either(released, shift, pull, users / 4.0, lamda, bound, 0.25, spent)


ALGORITHM = MixtureLearner(
    key="ucrl-vtr",
    title="UCRL-VTR",
    summary="Learns the weights of a linear mixture from released sums, by regression on its own value estimates.",
    source="L21 Algorithm 1, Corollaries 5 and 6; Ayoub et al. 2020",
    planners={
        "anytime": MixturePlanner(anytime, anytime_constants, anytime_confidence),
        "paper": MixturePlanner(plan, constants, paper_confidence),
    },
)
