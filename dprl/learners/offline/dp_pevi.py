"""Our DP-PEVI: private pessimistic planning by unweighted least squares, with less noise than DP-VAPVI.

It differs from DP-VAPVI (Qiao, Wang 2023 (offline), Algorithm 2) in two ways:

- It estimates no variances (sigma^2 = 1), so it need not split the data set, and needs two releases per step, not five.
- It centres the targets r + V at their middle c and divides them by their range g = 1 + max V - min V, so that
  (r + V - c)/g is in [-1/2, 1/2]. Replacing one trajectory changes the vector by at most 1 for every V that earlier
  releases may lead to, as adaptive composition requires. The noise in values is multiplied by g instead of H.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from dprl.fields import Field
from dprl.learners.offline.learner import Learned, OfflineLearner, OfflineProblem, Plan
from dprl.learners.offline.linear import LAMBDA, UNPROVED, feature_norms, raised
from dprl.learners.offline.vapvi import CONSTANTS, errors
from dprl.statistics.family import Family
from dprl.statistics.regression import Gram, Moment, centred_change, gram_change


def plan(problem: OfflineProblem) -> Plan:
    """Plan pessimistically. Regressions of (r + V - c)/g on phi estimate w/g, where r_h + P_h V = c + phi w."""
    phi, p, E = problem.features, problem.params, problem.errors
    assert phi is not None
    S, A, H, _ = problem.size
    d, lam, one = phi.shape[-1], p["lambda"], np.ones((S, A))
    Q_hat, Gamma, Q = np.zeros((H, S, A)), np.zeros((H, S, A)), np.zeros((H, S, A))
    V, policy, repaired = np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64), 0
    for h in range(H - 1, -1, -1):
        name = f"gram {h}"
        gram = yield Gram(name, 0, h, phi, one)
        Lambda, bad = raised(gram + (lam + E.get(name, 0.0) / 2) * np.eye(d), lam)
        repaired += bad
        g = 1 + np.ptp(V[h + 1])
        c = V[h + 1].min() + g / 2
        moment = yield Moment(f"target {h}", 0, h, phi, one / g, V[h + 1] - c, True)
        w = g * np.linalg.solve(Lambda, moment)
        Gamma[h] = p["C"] * sqrt(d) * feature_norms(phi, Lambda)
        Q_hat[h] = c + phi @ w
        Q[h] = np.clip(Q_hat[h] - Gamma[h], 0, H - h)
        policy[h] = Q[h].argmax(-1)
        V[h] = Q[h].max(-1)
    return Learned(policy, Q_hat, Gamma, Q, V, repaired)


def families(problem: OfflineProblem, calibration: str) -> tuple[Family, ...]:
    """Return the sums to release: a matrix and a vector per step, all with the same share of the budget."""
    assert problem.features is not None
    each = (
        ("gram", "the sums of phi phi^T", *gram_change(problem.features)),
        ("target", "the sums of phi (r + V - c)/g", *centred_change(problem.features)),
    )
    return tuple(
        Family(f"{name} {h}", f"{what} at step {h}", replaced, blanked, weight=sqrt(replaced.l2_squared))
        for h in range(problem.size.H - 1, -1, -1)
        for name, what, replaced, blanked in each
    )


DP_PEVI = OfflineLearner(
    key="dp-pevi",
    title="DP-PEVI",
    summary="Offline, linear, ours: least squares with targets scaled by their range; for linear MDPs only.",
    source="ours, based on QW23-offline Algorithm 2 and Jin, Yang, Wang 2021",
    privacies=("zcdp", "approximate", "none"),
    baseline="dp-pevi",
    fields=(
        LAMBDA,
        Field("C", "float", 0.1, "factor of sqrt(d) |phi| in the penalty, as in DP-VAPVI", 0.0, 1000.0),
        *(f for f in CONSTANTS if f.name in ("c1", "c2")),
    ),
    public=("sizes", "features"),
    families=families,
    errors=errors,
    plan=plan,
    unproved=lambda params: UNPROVED,
)
