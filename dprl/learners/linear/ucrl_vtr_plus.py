"""UCRL-VTR+ (Zhou et al. 2021) with private sums (Luyo et al. 2021, Algorithm 3).

It is UCRL-VTR with each user's data weighted by 1/v, where v bounds the variance of the next value and comes from a
regression of squared values. Family 0 has the weighted sums of values, and family 1 has the sums of squares.
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
    reach_of_values,
)
from dprl.learners.linear.regression import at_least, look_up, project, solve
from dprl.learners.linear.ucrl_vtr import noise_bounds
from dprl.mdp.mixture import expected
from dprl.mdp.tabular import Array
from dprl.statistics.weighted_regression import WeightedRegression


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
    """Plan by optimistic weighted regression for user k = users + 1, as in the paper.

    lambda is 1, the ridges are lambda + 2 Upsilon_i, and Q is in [0, H]. error is the largest standard deviation of the
    noise in any sum of family 0.
    """
    H, S, A = plan.Q.shape
    d = features.shape[3]
    phi, squares = np.zeros(d), np.zeros(d)
    found, second = np.zeros(3), np.zeros(3)
    k, most = users + 1.0, float(H * H)
    chance = constants[3] + 2.0 * log(k)  # ln(24 k^2 H / p)
    upsilon, upsilons = constants[0] * error, constants[1] * error
    noise = constants[2] * np.sqrt(1.0 + upsilon)
    check = noise + 8.0 * d * np.sqrt(constants[4] * chance) + 4.0 * np.sqrt(d) * chance
    hat = noise + 8.0 * np.sqrt(d * constants[4] * chance) + 4.0 * np.sqrt(d) * chance
    tilde = constants[2] * np.sqrt(1.0 + upsilons)
    tilde += 8.0 * most * np.sqrt(d * constants[5] * chance) + 4.0 * most * chance
    for h in range(H - 1, -1, -1):
        known, told = False, False
        if h < H - 1:
            ridge, ridges = at_least(1.0 + 2.0 * upsilon, released, h, 0), 1.0 + 2.0 * upsilons
            known = not np.isnan(solve(released, h, 0, ridge, plan.inverse, plan.weights))
            told = not np.isnan(
                solve(released, h, 1, at_least(ridges, released, h, 1), plan.inverse, plan.weights)
            )
            plan.indefinite[0] += (0.0 if known else 1.0) + (0.0 if told else 1.0)
        for s in range(S):
            for a in range(A):
                value = rewards[h, s, a]
                if known:
                    expected(features, s, a, plan.V, h + 1, 0.0, 1.0, 1, phi)
                    look_up(phi, h, 0, plan.inverse, plan.weights, found)
                    value += found[0] + hat * found[1]
                elif h < H - 1:
                    value = float(H)
                plan.Q[h, s, a] = max(min(value, float(H)), 0.0)
                variance = most  # an upper bound for values in [0, H], if the sums are not usable
                if known and told:
                    expected(features, s, a, plan.V, h + 1, 0.0, 1.0, 2, squares)
                    look_up(squares, h, 1, plan.inverse, plan.weights, second)
                    mean = max(min(found[0], float(H)), 0.0)
                    off = min(most, 2.0 * H * check * found[1]) + min(most, tilde * second[1])
                    variance = max(min(second[0], most), 0.0) - mean * mean + off
                plan.worth[h, s, a] = 1.0 / max(most / d, variance)
        act_greedily(h, plan)


def constants(problem: MixtureProblem) -> Array:
    """Return the constants of Corollaries 10 and 11 of the paper.

    They are Upsilon_1 and Upsilon_2 for error = 1, 3 (C_w + 1), ln(24 H / p), ln(1 + K / lambda) and ln(1 + K H^4 / (d
    lambda)).
    """
    H, d, K, p = problem.size.H, problem.size.d, problem.K, problem.beta
    units = problem.statistic.units(problem.size)[0]  # 1 in family 0, as in the paper
    norm = 4 * sqrt(d) + 2 * log(24 * K * H / p)
    return np.array(
        [
            float(units[:2].max()) * norm,
            float(units[2:].max()) * norm,
            3 * (problem.bound + 1),
            log(24 * H / p),
            log(1 + K),
            log(1 + K * H**4 / d),
        ]
    )


def paper_confidence(released: Array, error: Array, users: Array, constants: Array) -> Confidence:
    """Return the paper's confidence ellipsoid, which `plan` uses: |w - w^| <= beta^ in the norm of Lambda^."""
    d, chance = released.shape[-2], (constants[3] + 2.0 * np.log(users + 1.0))[:, None]
    upsilon = constants[0] * error[:, None]
    beta = 8.0 * np.sqrt(d * constants[4] * chance) + 4.0 * sqrt(d) * chance
    beta = beta + constants[2] * np.sqrt(1.0 + upsilon)
    # the paper shifts by 2 Upsilon; noise moves an eigenvalue by at most Upsilon
    return ellipsoid(released, 1.0 + 2.0 * upsilon, beta, upsilon)


# indices of the constants of the anytime bonus: WIDTH constants for values, and then WIDTH for squares
PROXY, LAMDA, SPENT, MOST, SHIFT, PULL, BOUND = range(7)
WIDTH = 7
# indices of the facts about a regression: is it usable with the full and the smaller ridge, both ridges, and beta
KNOWN, BARE, FULL, LESS, BETA = range(5)
TOLD = 5


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

    The target of the next regression at (s, a) is y = (V - middle) / unit, which is sqrt(1 / worth)-sub-Gaussian and
    lies in [-1/2, 1/2], because middle and unit are the middle and the range of V over the possible next states. error
    is an upper bound on the length of d draws of a release's noise, in the units of the release.
    """
    H, S, A = plan.Q.shape
    d = features.shape[3]
    phi, one, ends, mean, square = np.zeros(d), np.zeros(d), np.zeros(2), np.zeros(2), np.zeros(2)
    ones = np.ones((1, S))
    facts = np.zeros((2, TOLD))
    least = 1.0 / (4.0 * constants[MOST])
    for h in range(H - 1, -1, -1):
        if h < H - 1:
            for f in range(2):
                learn(released, error, users, h, f, constants[f * WIDTH : (f + 1) * WIDTH], facts[f], plan)
        for s in range(S):
            for a in range(A):
                plan.Q[h, s, a] = rewards[h, s, a]
                if h == H - 1:
                    continue
                reach_of_values(features, h + 1, s, a, plan.V, ends)
                middle = (ends[0] + ends[1]) / 2.0
                unit = ends[1] - ends[0] if ends[1] > ends[0] else 1.0
                plan.middle[h, s, a], plan.unit[h, s, a] = middle, unit
                expected(features, s, a, ones, 0, 0.0, 1.0, 1, one)
                expected(features, s, a, plan.V, h + 1, middle, unit, 1, phi)
                between(phi, one, error, h, 0, constants[:WIDTH], facts[0], plan, mean)
                plan.Q[h, s, a] += max(min(ends[1], middle + unit * mean[1]), ends[0])
                expected(features, s, a, plan.V, h + 1, middle, unit, 2, phi)
                between(phi, one, error, h, 1, constants[WIDTH:], facts[1], plan, square)
                plan.worth[h, s, a] = 1.0 / max(proxy(mean[0], mean[1], square[1]), least)
        act_greedily(h, plan)


@kernel
def learn(
    released: Array,
    error: float,
    users: int,
    h: int,
    f: int,
    constants: Array,
    facts: Array,
    plan: MixturePlan,
) -> None:
    """Solve the regression of family f at step h. Write inverses and weights to the plan, and the rest to facts."""
    d = released.shape[2]
    lamda, shift = constants[LAMDA], constants[SHIFT] * error
    facts[FULL], facts[LESS] = at_least(lamda + shift, released, h, f), at_least(lamda, released, h, f)
    determinant = solve(released, h, f, facts[FULL], plan.inverse, plan.weights)
    facts[KNOWN] = 0.0 if np.isnan(determinant) else 1.0
    plan.indefinite[0] += 1.0 - facts[KNOWN]
    facts[BARE] = 0.0
    if shift > 0.0:
        less = solve(released, h, f, facts[LESS], plan.bare_inverse, plan.bare_weights)
        facts[BARE] = 0.0 if np.isnan(less) else 1.0
    grown = d * log(1.0 + users * constants[MOST] / (d * lamda))
    if facts[KNOWN] > 0.0:
        grown = min(grown, max(determinant - d * log(lamda), 0.0))
    facts[BETA] = np.sqrt(constants[PROXY] * (grown + constants[SPENT]))


@kernel
def between(
    phi: Array,
    one: Array,
    error: float,
    h: int,
    f: int,
    constants: Array,
    facts: Array,
    plan: MixturePlan,
    ends: Array,
) -> None:
    """Bound <phi, w_h> from below and above, each time with the better ridge, and write the bounds to ends [2].

    one [d] is phi for V = 1. Because <one, w_h> = 1, we may subtract any multiple of `one` from phi, and choose the one
    that makes phi shortest.
    """
    d = phi.shape[0]
    found, best = np.zeros(3), np.zeros(d)
    lamda, shift, pull = constants[LAMDA], constants[SHIFT] * error, constants[PULL] * error
    ends[0], ends[1] = -np.inf, np.inf
    for bare in range(2):
        if facts[BARE if bare else KNOWN] == 0.0:
            continue
        inverse, weights = (plan.bare_inverse, plan.bare_weights) if bare else (plan.inverse, plan.weights)
        ridge = facts[LESS if bare else FULL]
        share = project(phi, one, h, f, inverse)
        for i in range(d):
            best[i] = phi[i] - share * one[i]
        look_up(best, h, f, inverse, weights, found)
        length = np.sqrt(found[1] * found[1] + max(lamda + shift - ridge, 0.0) * found[2] * found[2])
        width = facts[BETA] * length + (pull + ridge * constants[BOUND]) * found[2]
        ends[0], ends[1] = max(ends[0], share + found[0] - width), min(ends[1], share + found[0] + width)


@kernel
def proxy(low: float, high: float, square: float) -> float:
    """Return the smallest known v <= 1/4 for which y in [-1/2, 1/2] is sqrt(v)-sub-Gaussian.

    The mean of y is between low and high, and the mean of y^2 is at most square. Among all y with y - E y <= b and
    variance V, the worst has the two values b and -V/b (Bennett 1962). Kearns and Saul (1998) give v for two values
    b + V/b apart, where the higher has probability p.
    """
    off = max(low, -high, 0.0)
    variance = max(min(square, 0.25) - off * off, 0.0)
    worst = 0.0
    for side in range(2):
        b = min(0.5 - low if side == 0 else 0.5 + high, 1.0)
        if b <= 0.0 or variance <= 0.0:
            continue
        p = variance / (b * b + variance)
        apart = b + variance / b
        part = 0.25
        if abs(1.0 - 2.0 * p) > 1e-4:
            part = (1.0 - 2.0 * p) / (2.0 * log((1.0 - p) / p))
        worst = max(worst, apart * apart * part)
    return float(min(worst, 0.25))


def anytime_constants(problem: MixtureProblem) -> Array:
    """Return the constants of `anytime` for each family of regressions.

    They are the targets' variance proxy, lambda, 2 ln(3 (H - 1) / beta), the maximum of |X|^2 worth, the two bounds of
    `noise_bounds` for error = 1, and C_w. Values are weighted so that their proxy is 1. Squares lie in [0, 1/4] and are
    1/8-sub-Gaussian.
    """
    spent = 2 * log(3 * (problem.size.H - 1) / problem.beta)
    most = problem.statistic.weight(problem.size) / 4
    return np.array(
        [
            *(1.0, 1.0, spent, most, *noise_bounds(problem, 0), problem.bound),
            *(1 / 64, 1 / 64, spent, 1 / 16, *noise_bounds(problem, 1), problem.bound),
        ]
    )


def anytime_confidence(released: Array, error: Array, users: Array, constants: Array) -> Confidence:
    """Return the confidence set that `anytime` uses, from the regression of family 0."""
    shift, pull, trace = constants[SHIFT] * error, constants[PULL] * error, constants[MOST] * users
    lamda, bound, proxy, spent = constants[LAMDA], constants[BOUND], constants[PROXY], constants[SPENT]
    return either(released, shift, pull, trace, lamda, bound, proxy, spent)


ALGORITHM = MixtureLearner(
    key="ucrl-vtr-plus",
    title="UCRL-VTR+",
    summary="UCRL-VTR that gives more weight to users whose next values vary less; it learns these variances, too.",
    source="L21 Algorithm 3, Corollaries 10 and 11; Zhou, Gu, Szepesvari 2021",
    planners={
        "anytime": MixturePlanner(anytime, anytime_constants, anytime_confidence),
        "paper": MixturePlanner(plan, constants, paper_confidence),
    },
    regression=WeightedRegression,
)
