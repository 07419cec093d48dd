"""PEVI (Jin, Yang, Wang 2021, Algorithm 2): non-private pessimistic planning by unweighted least squares."""

from __future__ import annotations

import numpy as np

from dprl.fields import Field
from dprl.learners.offline.learner import Learned, OfflineLearner, OfflineProblem, Plan
from dprl.learners.offline.linear import LAMBDA, UNPROVED_WITHOUT_NOISE, feature_norms, raised
from dprl.statistics.regression import Gram, Moment


def plan(problem: OfflineProblem) -> Plan:
    """Run Algorithm 2 of Jin, Yang and Wang (2021). The penalty is C d H |phi|; C includes the paper's logarithm."""
    phi, p = problem.features, problem.params
    assert phi is not None
    S, A, H, _ = problem.size
    d, one = phi.shape[-1], np.ones((S, A))
    Q_hat, Gamma, Q = np.zeros((H, S, A)), np.zeros((H, S, A)), np.zeros((H, S, A))
    V, policy = np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    for h in range(H - 1, -1, -1):
        gram = yield Gram("gram", 0, h, phi, one)
        Lambda, _ = raised(gram + p["lambda"] * np.eye(d), p["lambda"])
        w = np.linalg.solve(Lambda, (yield Moment("target", 0, h, phi, one, V[h + 1].copy(), True)))
        Gamma[h] = p["C"] * d * H * feature_norms(phi, Lambda)
        Q_hat[h] = phi @ w
        Q[h] = np.clip(Q_hat[h] - Gamma[h], 0, H - h)
        policy[h] = Q[h].argmax(-1)
        V[h] = Q[h].max(-1)
    return Learned(policy, Q_hat, Gamma, Q, V)


PEVI = OfflineLearner(
    key="pevi",
    title="PEVI",
    summary="Offline, linear: pessimistic least squares without weights or noise.",
    source="Jin, Yang, Wang 2021, Algorithm 2, in QW23-offline section 6",
    privacies=("none",),
    baseline="pevi",
    fields=(
        LAMBDA,
        Field("C", "float", 0.1, "factor of d H |phi| in the penalty, left open by the paper", 0.0, 1000.0),
    ),
    public=("sizes", "features"),
    families=lambda problem, calibration: (),
    errors=lambda problem, mechanism, scales, calibration: {},
    plan=plan,
    unproved=lambda params: UNPROVED_WITHOUT_NOISE,
)
