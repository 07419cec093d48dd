"""DP-VAPVI (Qiao, Wang 2023 (offline), Algorithm 2) and VAPVI, its version without noise (after Yin et al. 2022).

Both run variance-weighted least squares on a linear MDP with public features, and learn the rewards from data. The
paper splits the data set into halves, one for variances and one for values, but not in its simulations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np

from dprl.fields import Field
from dprl.learners.offline.learner import Learned, OfflineLearner, OfflineProblem, PaperNoise, Plan
from dprl.learners.offline.linear import LAMBDA, UNPROVED, UNPROVED_WITHOUT_NOISE, feature_norms, raised
from dprl.mdp.tabular import Array
from dprl.statistics.family import Family
from dprl.statistics.regression import Gram, Moment, bounded_gram, bounded_moment, gram_change, moment_change


def plan(problem: OfflineProblem) -> Plan:
    """Run Algorithm 2 of Qiao and Wang (2023). Steps start at h = 0, so H - h + 1 in the paper is H - h here."""
    phi, p, E = _features(problem), problem.params, problem.errors
    S, A, H, _ = problem.size
    d, lam, first, second = phi.shape[-1], p["lambda"], 0, int(halves(p))
    K = problem.n - problem.n // 2 if halves(p) else problem.n
    eye, one = np.eye(d), np.ones((S, A))
    Q_hat, Gamma, Q = np.zeros((H, S, A)), np.zeros((H, S, A)), np.zeros((H, S, A))
    V, policy, repaired = np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64), 0
    for h in range(H - 1, -1, -1):  # line 3
        name = f"gram {h}"
        gram = yield Gram(name, first, h, phi, one)
        Sigma, bad = raised(gram + (lam + E.get(name, 0.0) / 2) * eye, lam)  # line 4
        repaired += bad
        square = yield Moment(f"square {h}", first, h, phi, one, V[h + 1] ** 2, False)
        beta = np.linalg.solve(Sigma, square)  # line 5
        value = yield Moment(f"value {h}", first, h, phi, one, V[h + 1].copy(), False)
        theta = np.linalg.solve(Sigma, value)  # line 6
        Var = np.clip(phi @ beta, 0, (H - h) ** 2) - np.clip(phi @ theta, 0, H - h) ** 2  # line 7
        sigma2 = np.maximum(1.0, Var)  # line 8
        name = f"weighted gram {h}"
        gram = yield Gram(name, second, h, phi, 1 / sigma2)
        Lambda, bad = raised(gram + (lam + E.get(name, 0.0) / 2) * eye, lam)  # line 9
        repaired += bad
        target = yield Moment(f"target {h}", second, h, phi, 1 / sigma2, V[h + 1].copy(), True)
        w = np.linalg.solve(Lambda, target)  # line 10
        Gamma[h] = p["C"] * sqrt(d) * feature_norms(phi, Lambda) + p["D"] / max(K, 1)  # line 11
        Q_hat[h] = phi @ w
        Q[h] = np.clip(Q_hat[h] - Gamma[h], 0, H - h)  # lines 12 and 13
        policy[h] = Q[h].argmax(-1)  # line 14; the lowest of equally good actions
        V[h] = Q[h].max(-1)
    return Learned(policy, Q_hat, Gamma, Q, V, repaired)  # line 16


def halves(params: Mapping[str, Any]) -> bool:
    """Return whether variances and values are learned from separate halves of the data set."""
    return bool(params["data"] == "halves")


def _features(problem: OfflineProblem) -> Array:
    if problem.features is None:
        raise ValueError("this algorithm needs features")
    return problem.features


def families(problem: OfflineProblem, calibration: str) -> tuple[Family, ...]:
    """Return the sums to release: five per step, from the last step to the first.

    For `paper`, sensitivities are bounds for all features of norm at most 1 and values of at most H, under replace-one.
    For `calibrated`, they hold for these features and for values of at most H - h - 1 at step h + 1 (1 if that is 0).
    Each half's budget is then divided among its releases in proportion to the 2/3 power of H - h.
    """
    phi, H, paper = _features(problem), problem.size.H, calibration == "paper"
    second = int(halves(problem.params))
    matrix = bounded_gram() if paper else gram_change(phi)
    asked = []
    for h in range(H - 1, -1, -1):
        top, reach = (H, H) if paper else (max(H - h - 1, 1), H - h)  # the largest V and r + V
        square, value, target = (
            bounded_moment(most) if paper else moment_change(phi, most) for most in (top**2, top, reach)
        )
        for name, what, half, changes in (
            ("gram", "the sums of phi phi^T", 0, matrix),
            ("square", "the sums of phi V^2", 0, square),
            ("value", "the sums of phi V", 0, value),
            ("weighted gram", "the sums of phi phi^T / sigma^2", second, matrix),
            ("target", "the sums of phi (r + V) / sigma^2", second, target),
        ):
            asked.append((f"{name} {h}", f"{what} at step {h}", half, changes, (H - h) ** (2 / 3)))
    total = [sum(share for _, _, half, _, share in asked if half == which) for which in (0, 1)]
    return tuple(
        Family(
            name, what, replaced, blanked, half=half, weight=sqrt(replaced.l2_squared * total[half] / share)
        )
        for name, what, half, (replaced, blanked), share in asked
    )


def matrix_error(problem: OfflineProblem, scale: float) -> float:
    """Return E for a Gram matrix: with high probability, the spectral norm of its noise is at most E/2 (Appendix A).

    E = sqrt(d/rho_0) (2 + (ln(5 c1 H/delta)/(c2 d))^(2/3)) if scale = 1/sqrt(4 rho_0). The paper leaves c1 and c2 open.
    """
    d, p = _features(problem).shape[-1], problem.params
    log_term = log(5 * p["c1"] * problem.size.H / problem.beta) / (p["c2"] * d)
    return float(2 * scale * sqrt(d) * (2 + max(log_term, 0.0) ** (2 / 3)))


def errors(
    problem: OfflineProblem, mechanism: str, scales: Mapping[str, float], calibration: str
) -> dict[str, float]:
    """Return the noise bound E of each Gram matrix: twice the bound on the spectral norm of its noise."""
    return {name: matrix_error(problem, scale) for name, scale in scales.items() if "gram" in name}


def paper_scales(problem: OfflineProblem, rho: float) -> dict[str, float]:
    """Return the noise scale of each family of sums in Algorithm 2, line 2, with rho_0 = rho/(5H)."""
    H = problem.size.H
    rho_0 = rho / (5 * H)
    each = {
        "gram": sqrt(1 / (4 * rho_0)),
        "square": sqrt(2 * H**4 / rho_0),
        "value": sqrt(2 * H**2 / rho_0),
        "weighted gram": sqrt(1 / (4 * rho_0)),
        "target": sqrt(2 * H**2 / rho_0),
    }
    return {f"{name} {h}": scale for h in range(H - 1, -1, -1) for name, scale in each.items()}


PAPER_NOISE = {
    "zcdp": PaperNoise(
        scales=paper_scales,
        formula="with rho_0 = rho/(5H): on each matrix (Z + Z^T)/sqrt 2, Z of N(0, 1/(4 rho_0)); on each vector of "
        "squares N(0, 2H^4/rho_0), on the other vectors N(0, 2H^2/rho_0)",
        sources=("QW23-offline Algorithm 2, line 2, and Appendix A",),
    )
}

CONSTANTS = (
    Field(
        "data", "choice", "halves", "whether variances and values come from separate halves or from all of the data",
        choices=("halves", "whole"),
    ),
    LAMBDA,
    Field("C", "float", 0.1, "factor of sqrt(d) |phi| in the penalty, left open by the paper", 0.0, 1000.0),
    Field("D", "float", 0.0, "numerator of D/K in the penalty; the paper's D is undefined if kappa is 0", 0.0, 1e12),
    Field("c1", "float", 1.0, "constant in the logarithm ln(5 c1 H/delta) in E, left open by the paper", 0.001, 1000.0),
    Field("c2", "float", 1.0, "the logarithm in E is divided by c2 d; left open by the paper", 0.001, 1000.0),
)  # fmt: skip

DP_VAPVI = OfflineLearner(
    key="dp-vapvi",
    title="DP-VAPVI",
    summary="Offline, linear: pessimistic, variance-weighted least squares on private sums; for linear MDPs only.",
    source="QW23-offline Algorithm 2",
    privacies=("zcdp", "approximate"),
    baseline="vapvi",
    fields=CONSTANTS,
    public=("sizes", "features"),
    families=families,
    paper_noise=PAPER_NOISE,
    errors=errors,
    plan=plan,
    unproved=lambda params: UNPROVED,
    halves=halves,
)

VAPVI = replace(
    DP_VAPVI,
    key="vapvi",
    title="VAPVI",
    summary="Offline, linear: DP-VAPVI without noise.",
    source="QW23-offline Algorithm 2 without noise; after Yin et al. 2022",
    privacies=("none",),
    fields=tuple(f for f in CONSTANTS if f.name not in ("c1", "c2")),
    paper_noise={},
    unproved=lambda params: UNPROVED_WITHOUT_NOISE,
)
