"""Bounds on regret and on mistakes for tabular problems, each as its paper states it."""

from __future__ import annotations

from dprl.theory.bound import Bound, BoundTerm

_INHOMOGENEOUS = "time-inhomogeneous MDP, rewards in [0, 1]"
_PURE = "any ε > 0, pure (δ = 0)"
_CHOWDHURY = "Chowdhury, Zhou 2022, in Qiao, Wang 2023, Table 1"

# Terms shared by many rows, in episodes (T = K*H).
_LEADING = BoundTerm(S=0.5, A=0.5, H=1.5, K=0.5)  # sqrt(S A H^2 T)
_HOEFFDING = BoundTerm(S=0.5, A=0.5, H=2, K=0.5)  # sqrt(S A H^3 T)
_HOEFFDING_S = BoundTerm(S=1, A=0.5, H=2, K=0.5)  # sqrt(S^2 A H^3 T)
_CENTRAL = BoundTerm(S=2, A=1, H=3, epsilon=-1)  # S^2 A H^3 / eps
_LOCAL = BoundTerm(S=2, A=1, H=3, K=0.5, epsilon=-1)  # S^2 A sqrt(H^5 T) / eps


def _pure(key: str, title: str, paper: str, model: str, *terms: BoundTerm, note: str = "") -> Bound:
    return Bound(key, title, paper, model, "ε", terms, f"{_INHOMOGENEOUS}; {_PURE}{note}")


def _free(key: str, title: str, paper: str, term: BoundTerm, note: str = "") -> Bound:
    return Bound(key, title, paper, "none", "", (term,), f"{_INHOMOGENEOUS}{note}")


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
    _free(
        "ucbvi",
        "UCBVI (Bernstein)",
        "Azar et al. 2017, in Qiao, Wang 2023, footnote 1",
        _LEADING,
        ", which costs a factor √H; lower-order terms left out",
    ),
    _free(
        "ubev",
        "UBEV",
        "Dann et al. 2017, in Vietri et al. 2020, section 1",
        _HOEFFDING,
        "; lower-order terms left out",
    ),
    _free("apeve", "APEVE", "Bai et al. 2025, Theorem 6 with E = 0", BoundTerm(S=1, A=0.5, H=2.5, K=0.5)),
    _pure(
        "pucb",
        "PUCB",
        "Vietri et al. 2020, Theorem 4; Luyo et al. 2021, Table 1",
        "central",
        *(_HOEFFDING, BoundTerm(S=1, A=1, H=3, epsilon=-1), _CENTRAL),
        note="; as Vietri et al. state it",
    ),
    _pure(
        "pucb-restated",
        "PUCB, restated",
        "Qiao, Wang 2023, Table 1",
        "central",
        *(_HOEFFDING_S, _CENTRAL),
        note="; √S more than Vietri et al. state, as Chowdhury and Zhou discuss",
    ),
    _pure("private-ucb-po-jdp", "Private-UCB-PO", _CHOWDHURY, "central", _HOEFFDING_S, _CENTRAL),
    _pure("private-ucb-vi-jdp", "Private-UCB-VI", _CHOWDHURY, "central", _HOEFFDING, _CENTRAL),
    _pure("dp-ucbvi-jdp", "DP-UCBVI", "Qiao, Wang 2023, Theorem 5.2", "central", _LEADING, _CENTRAL),
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
        f"{_INHOMOGENEOUS}; ε below 1; approximate, with the failure probability β as δ; "
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
        f"{_INHOMOGENEOUS}, translated by a factor of √H in the first term; {_PURE}",
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
    _pure("private-ucb-po-ldp", "Private-UCB-PO", _CHOWDHURY, "local", _HOEFFDING_S, _LOCAL),
    _pure("private-ucb-vi-ldp", "Private-UCB-VI", _CHOWDHURY, "local", _HOEFFDING, _LOCAL),
    _pure("dp-ucbvi-ldp", "DP-UCBVI", "Qiao, Wang 2023, Theorem 5.7", "local", _LEADING, _LOCAL),
)

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
    ),
    Bound(
        "jdp-pac-lower",
        "Lower bound, mistakes",
        "Vietri et al. 2020, Theorem 5",
        "central",
        "ε",
        (BoundTerm(S=1, A=1, H=2, alpha=-2), BoundTerm(S=1, A=1, H=1, alpha=-1, epsilon=-1, log="1/beta")),
        "some MDP, on average over runs, for algorithms that are right with probability 1 − β, β below 1/8; "
        "the paper's logarithm is kept, though its printed proof gives less",
        upper=False,
        of="mistakes",
    ),
)
