"""DP-APVI (Qiao, Wang 2023 (offline), Algorithm 1) and APVI, its version without noise: pessimism on released counts.

With E = 0, the penalty of `apvi` has no lower-order term (the penalty of Yin and Wang has 14 H iota/(3 n)), so a pair
that was visited once has no variance and no penalty. The constant C3 adds such a term.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np

from dprl.fields import Field
from dprl.learners.offline.learner import (
    Learned,
    OfflineLearner,
    OfflineProblem,
    PaperNoise,
    Plan,
    decided,
    sums_once,
)
from dprl.mdp import counts
from dprl.mdp.tabular import Array
from dprl.statistics import DATASET, REWARDS

COUNTS = DATASET.family


def plan(problem: OfflineProblem) -> Plan:
    """Run Algorithm 1 of Qiao and Wang (2023, offline). Steps start at h = 0, so the cap in line 7 is H - h.

    If rewards are not known (our extension), we estimate their means from a third family of noisy sums, and the penalty
    also covers the errors. If n~ > E, |n~ - n| <= E, and the noise in a sum of rewards is at most E_r/2, then the mean
    of the n rewards is within (E_r/2 + E)/n~ of the released mean. By Hoeffding, the expected reward is within
    sqrt(iota/(2n)) of the mean of the n rewards, for all (h, s, a) with probability 1 - beta. Here n >= n~ - E.
    """
    released = yield DATASET  # line 2: eq. 3
    if problem.rewards is not None:
        return iterated(problem, released, problem.rewards, np.zeros(problem.rewards.shape))
    sums = yield REWARDS
    E, E_r = (problem.errors.get(name, 0.0) for name in (COUNTS, REWARDS.family))
    n = counts.visits(released)
    known = n > E
    safe, certain = np.where(known, n, 1.0), np.where(known, n - E, 1.0)
    r = np.where(known, np.clip(sums / safe, 0.0, 1.0), 0.0)
    doubt = np.sqrt(_iota(problem) / (2 * certain)) + (E_r / 2 + E) / safe
    return iterated(problem, released, r, np.where(known, doubt, 0.0))


def _iota(problem: OfflineProblem) -> float:
    S, A, H, _ = problem.size
    return log(H * S * A / problem.beta)  # line 2


def iterated(problem: OfflineProblem, released: Array, r: Array, doubt: Array) -> Learned:
    """Run pessimistic value iteration on released counts. The rewards r [H, S, A] are too high by at most `doubt`."""
    E, p, iota = problem.errors.get(COUNTS, 0.0), problem.params, _iota(problem)
    S, A, H, _ = problem.size
    n = counts.visits(released)
    known = n > E
    safe = np.where(known, n, 1.0)
    P = np.where(known[..., None], counts.transitions(released) / safe[..., None], 1 / S)  # eq. 5
    Q_hat, Gamma, Q = np.zeros((H, S, A)), np.zeros((H, S, A)), np.zeros((H, S, A))
    V, policy = np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    for h in range(H - 1, -1, -1):  # line 3
        PV = P[h] @ V[h + 1]
        Q_hat[h] = r[h] + PV  # line 4
        if p["pessimism"] == "hoeffding":
            spread = np.full((S, A), float(H) ** 2)  # after Theorem 3.4
        else:
            spread = (P[h] * (V[h + 1] - PV[..., None]) ** 2).sum(-1)  # Var_{P~}(V~_{h+1})
        certain = np.where(known[h], n[h] - E, 1.0)
        width = p["C1"] * np.sqrt(spread * iota / certain)
        rest = (p["C2"] * S * H * E + p["C3"] * H) * iota / safe[h]
        Gamma[h] = np.where(known[h], width + rest + doubt[h], p["C"] * H)  # line 5
        Q[h] = np.clip(Q_hat[h] - Gamma[h], 0.0, H - h)  # lines 6 and 7
        policy[h], V[h] = decided(problem, Q[h], n[h], E)  # line 8
    return Learned(policy, Q_hat, Gamma, Q, V)  # line 10


def errors(
    problem: OfflineProblem, mechanism: str, scales: Mapping[str, float], calibration: str
) -> dict[str, float]:
    """Return the noise bound E for each family of sums: with probability 1 - beta, all |noise| <= E/2 (Lemma C.2).

    For `paper`, E_rho = 4 sqrt(H ln(4HS^2A/beta)/rho), which is 2 sigma sqrt(2 ln(4HS^2A/beta)). For Laplace noise the
    paper has O~(H/epsilon), and the union bound gives (8H/epsilon) ln(2HS^2A/beta). `calibrated` uses exact quantiles.
    """
    from scipy.special import ndtri

    S, A, H, _ = problem.size
    if calibration == "paper":
        tails = {
            "gaussian": sqrt(2 * log(4 * H * S**2 * A / problem.beta)),
            "laplace": log(2 * H * S**2 * A / problem.beta),
        }
    else:
        each = problem.beta / (DATASET.draws(problem.size) + REWARDS.draws(problem.size) * (len(scales) > 1))
        tails = {"gaussian": -float(ndtri(each / 2)), "laplace": -log(each)}
    return {name: 2 * scale * tails[mechanism] for name, scale in scales.items()}


PAPER_NOISE = {
    "zcdp": PaperNoise(
        scales=lambda problem, rho: {COUNTS: sqrt(2 * problem.size.H / rho)},  # eq. 2
        formula="N(0, 2H/rho) on every count n and m",
        sources=("QW23-offline equation 2 and Lemma C.1",),
    ),
    "pure": PaperNoise(
        scales=lambda problem, epsilon: {COUNTS: 4 * problem.size.H / epsilon},
        formula="Laplace(4H/epsilon) on every count n and m",
        sources=("QW23-offline, after Theorem 3.4",),
    ),
}


def _constant(name: str, default: float, help: str) -> Field:
    return Field(name, "float", default, help, low=0.0, high=1000.0)


CONSTANTS = (
    Field(
        "pessimism", "choice", "bernstein",
        "basis of the penalty: the variance of values (bernstein), or their range H (hoeffding)",
        choices=("bernstein", "hoeffding"),
    ),
    _constant(
        "C1", sqrt(2), "factor of sqrt(Var iota/(n - E)) in the penalty (of H sqrt(iota/(n - E)) with hoeffding)"
    ),
    _constant("C2", 16.0, "factor of S H E iota/n in the penalty"),
    _constant("C", 1.0, "penalty for at most E visits, in units of H; above 1 in the paper; 1 or more sets Q to 0"),
    _constant("C3", 0.0, "factor of H iota/n in the penalty; 0 in the paper, but 7/3 in its proof (equation 22)"),
)  # fmt: skip


def unproved(params: Mapping[str, Any]) -> str:
    """Explain why the proof does not cover these constants (Lemmas C.6 and C.10), or return "" if it does."""
    smaller = [
        f"{f.name} = {params[f.name]:g}" for f in CONSTANTS if f.name in LEAST and params[f.name] < f.default
    ]
    return (
        f"the proof needs constants at least as large as the paper's, but here {', '.join(smaller)}"
        if smaller
        else ""
    )


def unproved_without_noise(params: Mapping[str, Any]) -> str:
    """Explain why the proof for exact counts does not cover these constants, or return "" if it does."""
    if params["C3"] < 7 / 3 - 1e-9:
        return "as in the paper, the penalty lacks a term of order 1/n; the proof needs one, with C3 = 7/3"
    return unproved(params)


LEAST = ("C1", "C2", "C")
SHOWN = {"visits": lambda released: counts.visits(released[0]), "rewards": lambda released: released[1]}

DP_APVI = OfflineLearner(
    key="dp-apvi",
    title="DP-APVI",
    summary="Offline, tabular: pessimistic value iteration on private counts, with a Bernstein penalty.",
    source="QW23-offline Algorithm 1",
    privacies=("zcdp", "pure", "approximate"),
    baseline="apvi",
    fields=CONSTANTS,
    public=("sizes", "rewards"),
    families=lambda problem, calibration: sums_once(problem, DATASET, "counts n and m"),
    paper_noise=PAPER_NOISE,
    errors=errors,
    plan=plan,
    shown=SHOWN,
    unproved=unproved,
)

APVI = replace(
    DP_APVI,
    key="apvi",
    title="APVI",
    summary="Offline, tabular: DP-APVI without noise.",
    source="QW23-offline Algorithm 1 with E = 0; after Yin, Wang 2021",
    privacies=("none",),
    paper_noise={},
    unproved=unproved_without_noise,
)
