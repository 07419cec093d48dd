"""LSVI-UCB++ with private sums (after Sahu 2025 and He, Zhao, Zhou, Gu 2023): LSVI-UCB that plans rarely, whose users
count more, the less their next values vary, and whose values never rise.

At each step a plan asks for four vectors, with one weighted matrix: of optimistic values of the next state, of
pessimistic ones, of squares of the optimistic ones, and of rewards. Of both papers the abstracts were read. What is
weighted, the noise and the constants are ours: docs/notes/rare-switching.md has the proof.
"""

from __future__ import annotations

from math import log

import numpy as np

from dprl.kernels import kernel
from dprl.learners.linear.confidence import Confidence, Solved, narrower, solved
from dprl.learners.linear.learner import act_greedily
from dprl.learners.linear.regression import at_least, look_up, solve
from dprl.learners.linear.switching import LAMBDA, SwitchingLearner, SwitchingPlan, SwitchingPlanner
from dprl.learners.linear.ucrl_vtr_plus import proxy
from dprl.learners.linear.value_iteration import LinearProblem
from dprl.mdp.tabular import Array

WEIGHT = 4.0  # the most that a user counts: of one whose values vary a quarter as much as they could, or less
UPPER, LOWER, SQUARE, REWARD = range(4)  # families
BOUND, ALONE, CORNERS = range(3)  # constants, see `constants`
TOP, RANGE, BASE, EXTENT, MIDDLE, WIDTH, GAP, LEAST, MOST = range(9)  # of values, see `spans`


@kernel
def spans(h: int, plan: SwitchingPlan, span: Array) -> None:
    """span: [9] gets middle and range of V[h], of low[h], and of all between both; how far they are apart at most; the
    least of low[h], and the most of V[h]."""
    S = plan.V.shape[1]
    least, most, base, top, apart = np.inf, -np.inf, np.inf, -np.inf, 0.0
    for x in range(S):
        least, most = min(least, plan.V[h, x]), max(most, plan.V[h, x])
        base, top = min(base, plan.low[h, x]), max(top, plan.low[h, x])
        apart = max(apart, plan.V[h, x] - plan.low[h, x])
    span[TOP], span[RANGE] = (least + most) / 2.0, most - least
    span[BASE], span[EXTENT] = (base + top) / 2.0, top - base
    span[MIDDLE], span[WIDTH] = (base + most) / 2.0, most - base
    span[GAP], span[LEAST], span[MOST] = apart, base, most


@kernel
def fraction(part: float, whole: float) -> float:
    """part / whole, 0 of nothing."""
    return part / whole if whole > 0.0 else 0.0


@kernel
def step(
    h: int,
    released: Array,
    shift: float,
    pull: float,
    users: int,
    features: Array,
    constants: Array,
    plan: SwitchingPlan,
) -> None:
    """Bounds on Q* from both sides at all plans at once, and what next users count (docs/notes/rare-switching.md).

    shift, pull: bounds on the noise of a matrix and of a vector. constants: see `constants`.
    """
    H, S, A = plan.Q.shape
    d = features.shape[2]
    span, ends, beta = np.zeros(9), np.zeros((4, 2)), np.zeros(4)
    spans(h + 1, plan, span)
    ridge, less = at_least(LAMBDA + shift, released, h, 0), at_least(LAMBDA, released, h, 0)
    determinant, bare = 0.0, shift > 0.0
    for f in range(4):
        determinant = solve(released, h, f, ridge, plan.inverse, plan.weights)
        if bare:
            bare = not np.isnan(solve(released, h, f, less, plan.bare_inverse, plan.bare_weights))
    known = not np.isnan(determinant)
    grown = d * log(1.0 + WEIGHT * users / (d * LAMBDA))
    if known:
        grown = min(grown, max(determinant - d * log(LAMBDA), 0.0))
    else:
        plan.indefinite[0] += 1.0
    extent = H - h - 1.0  # of V* at the next step, at most
    alone, corner = np.sqrt(grown + constants[ALONE]), np.sqrt(WEIGHT * (grown + constants[CORNERS])) / 2.0
    best = extent / 2.0 * alone + span[GAP] * corner
    beta[UPPER], beta[LOWER] = (
        min(corner, fraction(best, span[RANGE])),
        min(corner, fraction(best, span[EXTENT])),
    )
    beta[SQUARE] = corner
    beta[REWARD] = np.sqrt(WEIGHT) / 2.0 * alone
    for s in range(S):
        for a in range(A):
            for f in range(4):
                ends[f, 0], ends[f, 1] = -0.5, 0.5
                if known:
                    pulled = pull + (shift + ridge) * constants[BOUND]
                    product_ends(features[s, a], h, f, plan.inverse, plan.weights, beta[f], 0.0, pulled, ends)
                if bare:
                    pulled = pull + (shift + less) * constants[BOUND]
                    product_ends(
                        features[s, a],
                        h,
                        f,
                        plan.bare_inverse,
                        plan.bare_weights,
                        beta[f],
                        shift,
                        pulled,
                        ends,
                    )
            high = min(span[TOP] + span[RANGE] * ends[UPPER, 1], span[MOST])
            low = max(span[BASE] + span[EXTENT] * ends[LOWER, 0], span[LEAST])
            upper, lower = 0.5 + ends[REWARD, 1] + high, 0.5 + ends[REWARD, 0] + low
            plan.floor[h, s, a] = max(plan.floor[h, s, a], lower)
            plan.Q[h, s, a] = max(min(plan.Q[h, s, a], upper), plan.floor[h, s, a])
            apart = fraction(max(min(span[GAP], high - low), 0.0), span[WIDTH])
            square = (ends[SQUARE, 1] + 0.5) / 4.0 + apart
            least, above = (
                fraction(low - span[MIDDLE], span[WIDTH]),
                fraction(high - span[MIDDLE], span[WIDTH]),
            )
            varies = proxy(least, above, square) * span[WIDTH] * span[WIDTH]
            most = extent * extent / 4.0
            plan.worth[h, s, a] = WEIGHT if most >= WEIGHT * varies else max(most / varies, 1.0)
    act_greedily(h, plan)
    for s in range(S):
        plan.low[h, s] = plan.floor[h, s, 0]
        for a in range(1, A):
            plan.low[h, s] = max(plan.low[h, s], plan.floor[h, s, a])
    if h > 0:
        ask_vectors(h, plan, span)


@kernel
def product_ends(
    phi: Array,
    h: int,
    f: int,
    inverse: Array,
    weights: Array,
    beta: float,
    slack: float,
    pulled: float,
    ends: Array,
) -> None:
    """ends: [4, 2] at f gets what <phi, w> is at least and at most, in [-1/2, 1/2], where that says more."""
    found = np.zeros(3)
    look_up(phi, h, f, inverse, weights, found)
    width = beta * np.sqrt(found[1] * found[1] + slack * found[2] * found[2]) + pulled * found[2]
    ends[f, 0] = min(max(ends[f, 0], found[0] - width), 0.5)
    ends[f, 1] = max(min(ends[f, 1], found[0] + width), -0.5)


@kernel
def ask_vectors(h: int, plan: SwitchingPlan, span: Array) -> None:
    """What the vectors of step h - 1 are of, all of them in [-1/2, 1/2]: V, low, 4 z^2 - 1/2 and r - 1/2, with z = V
    as it lies between the least of low and the most of V."""
    S = plan.V.shape[1]
    spans(h, plan, span)
    for x in range(S):
        z = fraction(plan.V[h, x] - span[MIDDLE], span[WIDTH])
        plan.asked[h - 1, UPPER, x] = fraction(plan.V[h, x] - span[TOP], span[RANGE])
        plan.asked[h - 1, LOWER, x] = fraction(plan.low[h, x] - span[BASE], span[EXTENT])
        plan.asked[h - 1, SQUARE, x] = 4.0 * z * z - 0.5
    plan.asked[h - 1, REWARD, S], plan.asked[h - 1, REWARD, S + 1] = -0.5, 1.0


def last_rewards(S: int) -> Array:
    """Of the last step: nothing of values, which are 0, and r - 1/2."""
    return np.array([[0.0] * (S + 2)] * 3 + [[0.0] * S + [-0.5, 1.0]])


def constants(problem: LinearProblem) -> Array:
    """C_w; 2 ln(12 H / beta), for V* and rewards; 2 ln(6 H 2^(S-1) / beta), for the corners that values of S states are
    between."""
    S, H, p = problem.size.S, problem.size.H, problem.beta
    return np.array([problem.bound, 2 * log(12 * H / p), 2 * (log(6 * H / p) + (S - 1) * log(2))])


def confidence(released: Array, shift: Array, pull: Array, users: Array, constants: Array) -> Confidence:
    """What `step` relies on for optimistic values whatever they are, with the better of its two ridges at every step;
    near V* it relies on less."""
    bound, d = constants[BOUND], released.shape[-2]
    shifts = np.broadcast_to(shift[:, None], released.shape[:2])
    most = d * np.log1p(WEIGHT * users / (d * LAMBDA))[:, None]
    shifted, bare = (solved(released[:, :, 0], ridge) for ridge in (LAMBDA + shifts, LAMBDA + 0.0 * shifts))
    grown = np.fmin(most, np.maximum(shifted.logarithms - d * log(LAMBDA), 0.0))
    beta = 0.5 * np.sqrt(WEIGHT * (grown + constants[CORNERS]))

    def believed(ridge: Solved) -> tuple[Confidence, Array]:
        nothing = np.where(ridge.fine, 0.0, np.nan)
        slack = np.maximum(LAMBDA + shifts - ridge.ridge, 0.0) + nothing
        pulled = pull[:, None] + (shifts + ridge.ridge) * bound + nothing
        return Confidence(ridge.weights, ridge.ridge, beta + nothing, slack, pulled, shifts), ridge.inverse

    return narrower(believed(shifted), believed(bare))


ALGORITHM = SwitchingLearner(
    key="lsvi-ucb-plus-plus",
    title="LSVI-UCB++",
    summary="LSVI-UCB, rarely switching, that weights users by how little their next values vary, which it learns too.",
    source="after Sahu 2025 and He, Zhao, Zhou, Gu 2023 (abstracts read)",
    reconstructed=True,
    planners={
        "anytime": SwitchingPlanner(step, constants, last_rewards, confidence, lambda problem: problem.bound)
    },
    note="The texts of its papers could not be had: its weights, noise and constants are ours. Privacy and bounds from "
    "both sides on values are proved; the regret that its papers state is not.",
    families=4,
    weight=WEIGHT,
)
