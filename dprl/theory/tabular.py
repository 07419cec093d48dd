"""Bounds on regret and on mistakes for tabular problems, each as its paper states it."""

from __future__ import annotations

from dprl.theory.bound import Bound, BoundTerm

_INHOMOGENEOUS = "time-inhomogeneous MDP, rewards in [0, 1]"
_PURE = "any ε > 0, pure (δ = 0)"

# Terms shared by many rows, in episodes (T = K*H).
_LEADING = BoundTerm(S=0.5, A=0.5, H=1.5, K=0.5)  # sqrt(S A H^2 T)
_HOEFFDING = BoundTerm(S=0.5, A=0.5, H=2, K=0.5)  # sqrt(S A H^3 T)
_HOEFFDING_S = BoundTerm(S=1, A=0.5, H=2, K=0.5)  # sqrt(S^2 A H^3 T)
_CENTRAL = BoundTerm(S=2, A=1, H=3, epsilon=-1)  # S^2 A H^3 / eps
_LOCAL = BoundTerm(S=2, A=1, H=3, K=0.5, epsilon=-1)  # S^2 A sqrt(H^5 T) / eps

REGRET = (
    Bound(
        "minimax",
        "Lower bound",
        "Jin et al. 2018, in Qiao, Wang 2023, Table 1",
        "none",
        "",
        (_LEADING,),
        f"some {_INHOMOGENEOUS}; no algorithm does better on all of them",
        upper=False,
    ),
    Bound(
        "ucbvi",
        "UCBVI (Bernstein)",
        "Azar et al. 2017, in Qiao, Wang 2023, footnote 1",
        "none",
        "",
        (_LEADING,),
        f"{_INHOMOGENEOUS}, which costs a factor √H; lower-order terms left out",
    ),
    Bound(
        "ubev",
        "UBEV",
        "Dann et al. 2017, in Vietri et al. 2020, section 1",
        "none",
        "",
        (_HOEFFDING,),
        f"{_INHOMOGENEOUS}; lower-order terms left out",
    ),
    Bound(
        "apeve",
        "APEVE",
        "Bai et al. 2025, Theorem 6 with E = 0",
        "none",
        "",
        (BoundTerm(S=1, A=0.5, H=2.5, K=0.5),),
        _INHOMOGENEOUS,
    ),
    Bound(
        "pucb",
        "PUCB",
        "Vietri et al. 2020, Theorem 4; Luyo et al. 2021, Table 1",
        "central",
        "ε",
        (_HOEFFDING, BoundTerm(S=1, A=1, H=3, epsilon=-1), _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PURE}; as Vietri et al. state it",
    ),
    Bound(
        "pucb-restated",
        "PUCB, restated",
        "Qiao, Wang 2023, Table 1",
        "central",
        "ε",
        (_HOEFFDING_S, _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PURE}; √S more than Vietri et al. state, as Chowdhury and Zhou discuss",
    ),
    Bound(
        "private-ucb-po-jdp",
        "Private-UCB-PO",
        "Chowdhury, Zhou 2022, in Qiao, Wang 2023, Table 1",
        "central",
        "ε",
        (_HOEFFDING_S, _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PURE}",
    ),
    Bound(
        "private-ucb-vi-jdp",
        "Private-UCB-VI",
        "Chowdhury, Zhou 2022, in Qiao, Wang 2023, Table 1",
        "central",
        "ε",
        (_HOEFFDING, _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PURE}",
    ),
    Bound(
        "dp-ucbvi-jdp",
        "DP-UCBVI",
        "Qiao, Wang 2023, Theorem 5.2",
        "central",
        "ε",
        (_LEADING, _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PURE}",
    ),
    Bound(
        "jdp-lower",
        "Lower bound",
        "Vietri et al. 2020, Theorem 6",
        "central",
        "ε",
        (BoundTerm(S=0.5, A=0.5, H=0.5, K=0.5), BoundTerm(S=1, A=1, H=1, epsilon=-1, log="K")),
        "some MDP, on average over runs; pure ε; K at least S^1.1; the paper's logarithm is kept",
        upper=False,
        from_S=1.1,
    ),
    Bound(
        "sdp-pe",
        "SDP-PE",
        "Bai et al. 2025, Theorem 11",
        "shuffle",
        "(ε, β)",
        (BoundTerm(S=1, A=0.5, H=2.5, K=0.5), BoundTerm(S=3, A=2, H=6, epsilon=-1)),
        f"{_INHOMOGENEOUS}; ε below 1; approximate, with the failure probability β in the place of δ; "
        "version 1 of the paper; version 3, of which we know only quoted parts, states √(SAH³K) + S³AH⁶/ε",
        epsilon_below=1.0,
    ),
    Bound(
        "ldp-obi",
        "LDP-OBI",
        "Garcelon et al. 2021, in Qiao, Wang 2023, Table 1",
        "local",
        "ε",
        (_HOEFFDING_S, _LOCAL),
        f"{_INHOMOGENEOUS}, translated by a factor √H in the first term; {_PURE}",
    ),
    Bound(
        "ldp-obi-stationary",
        "LDP-OBI, stationary",
        "Garcelon et al. 2020, in Luyo et al. 2021, Table 1",
        "local",
        "ε",
        (BoundTerm(S=1, A=0.5, H=1.5, K=0.5), _LOCAL),
        f"the same dynamics at every step; {_PURE}",
    ),
    Bound(
        "private-ucb-po-ldp",
        "Private-UCB-PO",
        "Chowdhury, Zhou 2022, in Qiao, Wang 2023, Table 1",
        "local",
        "ε",
        (_HOEFFDING_S, _LOCAL),
        f"{_INHOMOGENEOUS}; {_PURE}",
    ),
    Bound(
        "private-ucb-vi-ldp",
        "Private-UCB-VI",
        "Chowdhury, Zhou 2022, in Qiao, Wang 2023, Table 1",
        "local",
        "ε",
        (_HOEFFDING, _LOCAL),
        f"{_INHOMOGENEOUS}; {_PURE}",
    ),
    Bound(
        "dp-ucbvi-ldp",
        "DP-UCBVI",
        "Qiao, Wang 2023, Theorem 5.7",
        "local",
        "ε",
        (_LEADING, _LOCAL),
        f"{_INHOMOGENEOUS}; {_PURE}",
    ),
)  # fmt: skip

MISTAKES = (
    Bound(
        "pucb-pac",
        "PUCB, mistakes",
        "Vietri et al. 2020, Theorem 3",
        "central",
        "ε",
        (BoundTerm(S=1, A=1, H=4, alpha=-2), BoundTerm(S=2, A=1, H=4, alpha=-1, epsilon=-1)),
        f"episodes more than α suboptimal; {_INHOMOGENEOUS}; {_PURE}; α at most H",
        of="mistakes",
        alpha_to_H=True,
    ),
    Bound(
        "jdp-pac-lower",
        "Lower bound, mistakes",
        "Vietri et al. 2020, Theorem 5",
        "central",
        "ε",
        (BoundTerm(S=1, A=1, H=2, alpha=-2), BoundTerm(S=1, A=1, H=1, alpha=-1, epsilon=-1, log="1/beta")),
        "some MDP, on average over runs, for algorithms right with probability 1 − β, β below 1/8; "
        "the paper's logarithm is kept, though its printed proof gives less",
        upper=False,
        of="mistakes",
        beta_below=1 / 8,
    ),
)  # fmt: skip
