"""Bounds on the loss of a policy learned from a data set of K trajectories (n in the tabular part of the paper).

The papers state the leading terms for each instance. Here they are replaced by their maximum: for a tabular problem by
Cauchy-Schwarz, the law of total variance over an episode (at most H^2), and d^pi/d^mu <= 1/d_m on the optimal policy's
states; for a linear one with features of norm at most 1, variances of at most H^2, and the smallest eigenvalue kappa.
"""

from __future__ import annotations

from dprl.theory.bound import Bound, BoundTerm

_TABULAR = "tabular, rewards known; the behaviour policy visits all that the optimal policy does; large K, worst case"
_LINEAR = "linear MDP with d features, rewards known; large K, worst case"

# sqrt(H^3 / (n d_m)), and H^3 / (n d_m)
_APVI = (BoundTerm(H=1.5, K=-0.5, coverage=-0.5), BoundTerm(H=3, K=-1, coverage=-1))
_VAPVI = BoundTerm(d=0.5, H=2, K=-0.5, kappa=-0.5)  # H^2 sqrt(d / (kappa K))

SUBOPTIMALITY = (
    Bound(
        "apvi",
        "APVI",
        "Yin, Wang 2021, Theorem 4.1, in Qiao, Wang 2023 (offline), section 3",
        "none",
        "",
        _APVI,
        _TABULAR,
        of="suboptimality",
    ),
    Bound(
        "dp-apvi",
        "DP-APVI",
        "Qiao, Wang 2023 (offline), Theorem 3.4",
        "central",
        "ρ-zCDP",
        (*_APVI, BoundTerm(S=1, H=2.5, K=-1, coverage=-1, rho=-0.5)),
        _TABULAR,
        of="suboptimality",
    ),
    Bound(
        "dp-apvi-pure",
        "DP-APVI, Laplace",
        "Qiao, Wang 2023 (offline), after Theorem 3.4",
        "central",
        "ε",
        (*_APVI, BoundTerm(S=1, H=3, K=-1, coverage=-1, epsilon=-1)),
        f"{_TABULAR}; pure (δ = 0)",
        of="suboptimality",
    ),
    Bound(
        "vapvi",
        "VAPVI",
        "Yin et al. 2022, Theorem 3.2, in Qiao, Wang 2023 (offline), section 4",
        "none",
        "",
        (_VAPVI,),
        f"{_LINEAR}; lower-order terms left out",
        world="linear",
        of="suboptimality",
    ),
    Bound(
        "dp-vapvi",
        "DP-VAPVI",
        "Qiao, Wang 2023 (offline), Theorem 4.1",
        "central",
        "ρ-zCDP",
        (_VAPVI, BoundTerm(d=1, H=5.5, K=-1, kappa=-1.5, rho=-0.5)),
        f"{_LINEAR}; of the lower-order terms the one with ρ",
        world="linear",
        of="suboptimality",
    ),
)  # fmt: skip
