"""Bounds on the loss of a policy learned from a data set of K trajectories (n in the tabular part of the paper).

The papers' leading terms depend on the instance, and we replace them by their maximum. For tabular problems, this comes
from Cauchy-Schwarz, the law of total variance over an episode (at most H^2), and d^pi/d^mu <= 1/d_m on the optimal
policy's states; for linear ones, from norms of features up to 1, variances up to H^2, and the smallest eigenvalue.
"""

from __future__ import annotations

from dprl.theory.bound import Bound, BoundTerm

_TABULAR = (
    "tabular, rewards known; the behaviour policy goes wherever the optimal policy goes; large K, worst case"
)
_LINEAR = "linear MDP with d features, rewards known; large K, worst case"

# sqrt(H^3 / (n d_m)), and H^3 / (n d_m)
_APVI = (BoundTerm(H=1.5, K=-0.5, coverage=-0.5), BoundTerm(H=3, K=-1, coverage=-1))
_VAPVI = BoundTerm(d=0.5, H=2, K=-0.5, kappa=-0.5)  # H^2 sqrt(d / (kappa K))


def _loss(key: str, title: str, paper: str, budget: str, conditions: str, *terms: BoundTerm) -> Bound:
    world = "linear" if conditions.startswith(_LINEAR) else "tabular"
    model = "central" if budget else "none"
    return Bound(key, title, paper, model, budget, terms, conditions, world=world, of="suboptimality")


_PAPER = "Qiao, Wang 2023 (offline)"
SUBOPTIMALITY = (
    _loss("apvi", "APVI", f"Yin, Wang 2021, Theorem 4.1, in {_PAPER}, section 3", "", _TABULAR, *_APVI),
    _loss(
        "dp-apvi",
        "DP-APVI",
        f"{_PAPER}, Theorem 3.4",
        "ρ-zCDP",
        _TABULAR,
        *(*_APVI, BoundTerm(S=1, H=2.5, K=-1, coverage=-1, rho=-0.5)),
    ),
    _loss(
        "dp-apvi-pure",
        "DP-APVI, Laplace",
        f"{_PAPER}, after Theorem 3.4",
        "ε",
        f"{_TABULAR}; pure (δ = 0)",
        *(*_APVI, BoundTerm(S=1, H=3, K=-1, coverage=-1, epsilon=-1)),
    ),
    _loss(
        "vapvi",
        "VAPVI",
        f"Yin et al. 2022, Theorem 3.2, in {_PAPER}, section 4",
        "",
        f"{_LINEAR}; lower-order terms left out",
        _VAPVI,
    ),
    _loss(
        "dp-vapvi",
        "DP-VAPVI",
        f"{_PAPER}, Theorem 4.1",
        "ρ-zCDP",
        f"{_LINEAR}; of the lower-order terms, only the one with ρ",
        *(_VAPVI, BoundTerm(d=1, H=5.5, K=-1, kappa=-1.5, rho=-0.5)),
    ),
)
