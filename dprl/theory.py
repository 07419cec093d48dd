"""What the papers prove: each bound on regret (and on mistakes) as a record that can be evaluated.

A bound is a sum of products of powers, so value, written formula and growth all come from one table of exponents.
The papers write O~(.) and Omega(.): constants are set to 1 here, and logarithms too, except where a formula prints
them as part of its result. So only slopes, ratios and crossing points mean something, not a bound's height.

Everything is stated in episodes: T = K*H steps where a paper counts steps (QW23-online: sqrt(S*A*H^2*T) is
H^(3/2)*sqrt(S*A*K)); V20 and L21 count episodes already, and V20 calls them T. No bound is cut off at K*H.

Papers: QW23-online (Qiao, Wang, AISTATS 2023), V20 (Vietri, Balle, Krishnamurthy, Wu, ICML 2020), L21 (Luyo,
Garcelon, Lazaric, Pirotta, 2021), B25 (Bai, Talebi, Zhao, Cheng, Chen, 2025). Pure: imports nothing else of dprl.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

MODELS = ("none", "central", "shuffle", "local")
WORLDS = ("tabular", "linear mixture", "linear")
FARTHEST = 1e60  # users beyond which no crossing is looked for


@dataclass(frozen=True)
class Setting:
    """What bounds are evaluated at. K, the episodes, may be an array; all else are single positive numbers.

    S, A, H: states, actions, steps; d: dimension of a linear representation; alpha, beta: of the bounds on mistakes,
    which count episodes more than alpha suboptimal, with probability at least 1 - beta.
    Raises ValueError, one sentence that names the parameter.
    """

    S: float
    A: float
    H: float
    K: Any
    epsilon: float = 1.0
    d: float = 10.0
    alpha: float = 0.1
    beta: float = 0.1

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            try:
                known = np.asarray(value, float)
            except (TypeError, ValueError, OverflowError):
                raise ValueError(f"{name} must be a positive number.") from None
            if (name != "K" and known.ndim) or not (np.isfinite(known) & (known > 0)).all():
                raise ValueError(f"{name} must be a positive, finite number.")
        if self.beta >= 1:
            raise ValueError("beta must be below 1: it is a probability.")

    def at(self, K: ArrayLike) -> Setting:
        """The same with other numbers of episodes."""
        return Setting(
            self.S, self.A, self.H, np.asarray(K, float), self.epsilon, self.d, self.alpha, self.beta
        )


@dataclass(frozen=True)
class Term:
    """A product of powers; each attribute is an exponent. C: of (C_w + 1), where C_w = sqrt(d) bounds the mixture's
    weights; log: "K" or "1/beta", for a factor ln(K) or ln(1/beta) that is printed."""

    S: float = 0
    A: float = 0
    H: float = 0
    K: float = 0
    d: float = 0
    C: float = 0
    epsilon: float = 0
    alpha: float = 0
    log: str = ""

    def value(self, at: Setting) -> Array:
        """The term with constant 1, in the shape of K."""
        K = np.asarray(at.K, float)
        factor = {"": 1.0, "K": np.log(K), "1/beta": math.log(1 / at.beta)}[self.log]
        powers = (at.S**self.S) * (at.A**self.A) * (at.H**self.H) * (at.d**self.d)
        powers *= (math.sqrt(at.d) + 1) ** self.C * at.epsilon**self.epsilon * at.alpha**self.alpha
        return np.asarray(powers * K**self.K * factor, float)

    @property
    def text(self) -> str:
        """As people write it: H²√(SAK), S²AH³/ε."""
        above, root, below = "", "", []
        for symbol, power in (
            ("(√d+1)", self.C),
            ("d", self.d),
            ("S", self.S),
            ("A", self.A),
            ("H", self.H),
            ("K", self.K),
        ):
            if power and _odd_halves(power):
                root += _raised(symbol, 2 * power)
            elif power:
                above += _raised(symbol, power)
        for symbol, power in (("ε", -self.epsilon), ("α", -self.alpha)):
            if power:
                below.append(f"√{symbol}" if power == 0.5 else _raised(symbol, power))
        if root:
            above += f"√({root})" if len(root) > 1 else f"√{root}"
        if self.log:
            above += " ln K" if self.log == "K" else " ln(1/β)"
        under = f"({''.join(below)})" if len(below) > 1 else "".join(below)
        return (above or "1") + (f"/{under}" if under else "")


def _odd_halves(power: float) -> bool:
    return float(2 * power).is_integer() and not float(power).is_integer()


def _raised(symbol: str, power: float) -> str:
    if power == 1:
        return symbol
    if float(power).is_integer():
        return symbol + str(int(power)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    for below in (3, 4, 5):
        if float(round(power * below, 9)).is_integer():
            return f"{symbol}^({round(power * below)}/{below})"
    raise ValueError(f"the exponent {power} has no written form")


@dataclass(frozen=True)
class Bound:
    """One proved bound.

    key: its name in links; title: the algorithm, or "Lower bound"; paper: authors, year, theorem or table; upper:
    whether regret stays below it, or some problem has at least it; model: privacy model (none, central, shuffle,
    local); world: what it is proved for; budget: the guarantee of its algorithm, "" without privacy; terms: the sum;
    conditions: in words; of: what it bounds, "regret" or "mistakes" (episodes more than alpha suboptimal);
    epsilon_below, beta_below: proved only for smaller epsilon, beta; alpha_to_H: proved only for alpha up to H;
    from_S: proved only for K >= S^from_S.
    """

    key: str
    title: str
    paper: str
    upper: bool
    model: str
    world: str
    budget: str
    terms: tuple[Term, ...]
    conditions: str
    of: str = "regret"
    epsilon_below: float = math.inf
    beta_below: float = math.inf
    alpha_to_H: bool = False
    from_S: float = 0.0

    def value(self, at: Setting) -> Array:
        """The bound, reward lost (or a number of episodes) in all, in the shape of K."""
        return self.non_private(at) + self.price(at)

    def non_private(self, at: Setting) -> Array:
        """The terms without epsilon: what is lost by learning."""
        return self._sum(at, private=False)

    def price(self, at: Setting) -> Array:
        """The terms with epsilon: what privacy adds."""
        return self._sum(at, private=True)

    def _sum(self, at: Setting, private: bool) -> Array:
        total = np.zeros(np.shape(at.K))
        for term in self.terms:
            if bool(term.epsilon) == private:
                total = total + term.value(at)
        return np.asarray(total, float)

    @property
    def formula(self) -> str:
        """The bound as it is written, in episodes."""
        sign = "Õ" if self.upper else "Ω"
        return f"{sign}({' + '.join(term.text for term in self.terms)})"

    def unmet(self, at: Setting) -> str:
        """The condition of its theorem that a setting breaks, in words; "" if none does. K: a single number."""
        if at.epsilon >= self.epsilon_below:
            return f"proved for ε below {self.epsilon_below:g}"
        if at.beta >= self.beta_below:
            return f"proved for β below {self.beta_below:g}"
        if self.alpha_to_H and at.alpha > at.H:
            return f"proved for α up to H = {at.H:g}"
        if float(at.K) < at.S**self.from_S:
            return f"proved for K from S^{self.from_S:g}"
        return ""

    def informative_from(self, at: Setting) -> float:
        """The number of episodes from which an upper bound on regret stays below K*H, the most that can be lost.

        Infinite beyond FARTHEST; 1 if it always does; NaN for what bounds something else, or from below.
        """
        if not self.upper or self.of != "regret":
            return math.nan
        return _falls_to(1.0, lambda K: self.value(at.at(K)) / (K * at.H))

    def free_from(self, at: Setting) -> float:
        """The number of episodes from which the price of privacy is at most the non-private part.

        Infinite where it never comes to that, or grows beyond it again; NaN for what is not an upper bound on regret
        made of both.
        """
        both = {bool(term.epsilon) for term in self.terms} == {True, False}
        if not both or not self.upper or self.of != "regret":
            return math.nan
        return _falls_to(1.0, lambda K: self.price(at.at(K)) / self.non_private(at.at(K)))


def _falls_to(level: float, share: Any) -> float:
    """The K in [1, FARTHEST] from which `share`, monotone in K up to a first hump, stays at or below a level."""
    log_k = np.linspace(0.0, math.log(FARTHEST), 2001)
    above = np.flatnonzero(share(np.exp(log_k)) > level)
    if len(above) == 0:
        return 1.0
    last = above[-1]
    if last == len(log_k) - 1:
        return math.inf
    low, high = log_k[last], log_k[last + 1]
    for _ in range(60):
        middle = (low + high) / 2
        if float(share(np.exp(middle))) > level:
            low = middle
        else:
            high = middle
    return float(np.exp(high))


_INHOMOGENEOUS = "time-inhomogeneous MDP, rewards in [0, 1]"
_PRINTED = "any ε > 0, pure (δ = 0)"
_MIXTURE = "linear mixture of d known models, C_w = √d, rewards known"

# The terms that many rows share, in episodes (T = K*H).
_LEADING = Term(S=0.5, A=0.5, H=1.5, K=0.5)  # sqrt(S A H^2 T)
_HOEFFDING = Term(S=0.5, A=0.5, H=2, K=0.5)  # sqrt(S A H^3 T)
_HOEFFDING_S = Term(S=1, A=0.5, H=2, K=0.5)  # sqrt(S^2 A H^3 T)
_CENTRAL = Term(S=2, A=1, H=3, epsilon=-1)  # S^2 A H^3 / eps
_LOCAL = Term(S=2, A=1, H=3, K=0.5, epsilon=-1)  # S^2 A sqrt(H^5 T) / eps
_VTR = Term(d=1, H=2, K=0.5)  # d H^2 sqrt(K)

_ROWS = (
    Bound(
        "minimax",
        "Lower bound",
        "Jin et al. 2018, in Qiao, Wang 2023, Table 1",
        False,
        "none",
        "tabular",
        "",
        (_LEADING,),
        f"some {_INHOMOGENEOUS}; no learner does better on all of them",
    ),
    Bound(
        "ucbvi",
        "UCBVI (Bernstein)",
        "Azar et al. 2017, in Qiao, Wang 2023, footnote 1",
        True,
        "none",
        "tabular",
        "",
        (_LEADING,),
        f"{_INHOMOGENEOUS}, which costs a factor √H; lower-order terms left out",
    ),
    Bound(
        "ubev",
        "UBEV",
        "Dann et al. 2017, in Vietri et al. 2020, section 1",
        True,
        "none",
        "tabular",
        "",
        (_HOEFFDING,),
        f"{_INHOMOGENEOUS}; lower-order terms left out",
    ),
    Bound(
        "apeve",
        "APEVE",
        "Bai et al. 2025, Theorem 6 with E = 0",
        True,
        "none",
        "tabular",
        "",
        (Term(S=1, A=0.5, H=2.5, K=0.5),),
        _INHOMOGENEOUS,
    ),
    Bound(
        "pucb",
        "PUCB",
        "Vietri et al. 2020, Theorem 4; Luyo et al. 2021, Table 1",
        True,
        "central",
        "tabular",
        "ε",
        (_HOEFFDING, Term(S=1, A=1, H=3, epsilon=-1), _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PRINTED}; as Vietri et al. print it",
    ),
    Bound(
        "pucb-restated",
        "PUCB, restated",
        "Qiao, Wang 2023, Table 1",
        True,
        "central",
        "tabular",
        "ε",
        (_HOEFFDING_S, _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PRINTED}; √S more than Vietri et al. print, as Chowdhury and Zhou discuss",
    ),
    Bound(
        "private-ucb-po-jdp",
        "Private-UCB-PO",
        "Chowdhury, Zhou 2021, in Qiao, Wang 2023, Table 1",
        True,
        "central",
        "tabular",
        "ε",
        (_HOEFFDING_S, _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PRINTED}",
    ),
    Bound(
        "private-ucb-vi-jdp",
        "Private-UCB-VI",
        "Chowdhury, Zhou 2021, in Qiao, Wang 2023, Table 1",
        True,
        "central",
        "tabular",
        "ε",
        (_HOEFFDING, _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PRINTED}",
    ),
    Bound(
        "dp-ucbvi-jdp",
        "DP-UCBVI",
        "Qiao, Wang 2023, Theorem 5.2",
        True,
        "central",
        "tabular",
        "ε",
        (_LEADING, _CENTRAL),
        f"{_INHOMOGENEOUS}; {_PRINTED}",
    ),
    Bound(
        "jdp-lower",
        "Lower bound",
        "Vietri et al. 2020, Theorem 6",
        False,
        "central",
        "tabular",
        "ε",
        (Term(S=0.5, A=0.5, H=0.5, K=0.5), Term(S=1, A=1, H=1, epsilon=-1, log="K")),
        "some MDP, on average over runs; pure ε; K at least S^1.1; its logarithm is printed and kept",
        from_S=1.1,
    ),
    Bound(
        "sdp-pe",
        "SDP-PE",
        "Bai et al. 2025, Theorem 11",
        True,
        "shuffle",
        "tabular",
        "(ε, β)",
        (Term(S=1, A=0.5, H=2.5, K=0.5), Term(S=3, A=2, H=6, epsilon=-1)),
        f"{_INHOMOGENEOUS}; ε below 1; approximate, with the failure probability β in the place of δ",
        epsilon_below=1.0,
    ),
    Bound(
        "ldp-obi",
        "LDP-OBI",
        "Garcelon et al. 2021, in Qiao, Wang 2023, Table 1",
        True,
        "local",
        "tabular",
        "ε",
        (_HOEFFDING_S, _LOCAL),
        f"{_INHOMOGENEOUS}, translated by a factor √H in the first term; {_PRINTED}",
    ),
    Bound(
        "ldp-obi-stationary",
        "LDP-OBI, stationary",
        "Garcelon et al. 2020, in Luyo et al. 2021, Table 1",
        True,
        "local",
        "tabular",
        "ε",
        (Term(S=1, A=0.5, H=1.5, K=0.5), _LOCAL),
        f"the same dynamics at every step; {_PRINTED}",
    ),
    Bound(
        "private-ucb-po-ldp",
        "Private-UCB-PO",
        "Chowdhury, Zhou 2021, in Qiao, Wang 2023, Table 1",
        True,
        "local",
        "tabular",
        "ε",
        (_HOEFFDING_S, _LOCAL),
        f"{_INHOMOGENEOUS}; {_PRINTED}",
    ),
    Bound(
        "private-ucb-vi-ldp",
        "Private-UCB-VI",
        "Chowdhury, Zhou 2021, in Qiao, Wang 2023, Table 1",
        True,
        "local",
        "tabular",
        "ε",
        (_HOEFFDING, _LOCAL),
        f"{_INHOMOGENEOUS}; {_PRINTED}",
    ),
    Bound(
        "dp-ucbvi-ldp",
        "DP-UCBVI",
        "Qiao, Wang 2023, Theorem 5.7",
        True,
        "local",
        "tabular",
        "ε",
        (_LEADING, _LOCAL),
        f"{_INHOMOGENEOUS}; {_PRINTED}",
    ),
    Bound(
        "ucrl-vtr",
        "UCRL-VTR",
        "Ayoub et al. 2020, in Luyo et al. 2021, section 2",
        True,
        "none",
        "linear mixture",
        "",
        (_VTR,),
        _MIXTURE,
    ),
    Bound(
        "ucrl-vtr-plus",
        "UCRL-VTR+",
        "Zhou et al. 2021, in Luyo et al. 2021, section 2",
        True,
        "none",
        "linear mixture",
        "",
        (Term(d=1, H=1.5, K=0.5),),
        f"{_MIXTURE}; d at least H",
    ),
    Bound(
        "ucrl-vtr-jdp",
        "UCRL-VTR",
        "Luyo et al. 2021, Corollary 5",
        True,
        "central",
        "linear mixture",
        "(ε, δ)",
        (_VTR, Term(C=1, d=0.75, H=2.25, K=0.5, epsilon=-0.5)),
        f"{_MIXTURE}; ε and δ below 1",
        epsilon_below=1.0,
    ),
    Bound(
        "ucrl-vtr-ldp",
        "UCRL-VTR",
        "Luyo et al. 2021, Corollary 6",
        True,
        "local",
        "linear mixture",
        "(ε, δ)",
        (_VTR, Term(C=1, d=0.75, H=2.5, K=0.75, epsilon=-0.5)),
        f"{_MIXTURE}; ε and δ below 1",
        epsilon_below=1.0,
    ),
    Bound(
        "ucrl-vtr-jdp-pure",
        "UCRL-VTR, Laplace",
        "Luyo et al. 2021, Remark 1 and Appendix D.1",
        True,
        "central",
        "linear mixture",
        "ε",
        (_VTR, Term(C=1, d=1, H=2.5, K=0.5, epsilon=-0.5)),
        f"{_MIXTURE}; ε below 1, pure (δ = 0)",
        epsilon_below=1.0,
    ),
    Bound(
        "ucrl-vtr-ldp-pure",
        "UCRL-VTR, Laplace",
        "Luyo et al. 2021, Remark 1 and Appendix D.1",
        True,
        "local",
        "linear mixture",
        "ε",
        (_VTR, Term(C=1, d=1, H=2.5, K=0.75, epsilon=-0.5)),
        f"{_MIXTURE}; ε below 1, pure (δ = 0)",
        epsilon_below=1.0,
    ),
    Bound(
        "ucrl-vtr-plus-jdp",
        "UCRL-VTR+",
        "Luyo et al. 2021, Corollary 10",
        True,
        "central",
        "linear mixture",
        "(ε, δ)",
        (
            Term(C=2, H=3.5, d=2.5, epsilon=-1),
            Term(C=1, H=2.5, d=1.25, K=0.25, epsilon=-0.5),
            Term(C=1, H=2.25, d=2, K=0.25, epsilon=-0.5),
            Term(C=1, H=1.75, d=1.25, K=0.5, epsilon=-0.5),
            Term(C=1, H=2.25, d=0.75, K=0.5, epsilon=-0.5),
        ),
        f"{_MIXTURE}; ε and δ below 1; printed without a part free of ε, which these terms exceed there",
        epsilon_below=1.0,
    ),
    Bound(
        "ucrl-vtr-plus-ldp",
        "UCRL-VTR+",
        "Luyo et al. 2021, Corollary 11",
        True,
        "local",
        "linear mixture",
        "(ε, δ)",
        (
            Term(C=2, H=4, d=2.5, K=0.5, epsilon=-1),
            Term(C=1, H=2.75, d=1.25, K=0.5, epsilon=-0.5),
            Term(C=1, H=2.5, d=2, K=0.5, epsilon=-0.5),
            Term(C=1, H=2, d=1.25, K=0.75, epsilon=-0.5),
            Term(C=1, H=2.5, d=0.75, K=0.75, epsilon=-0.5),
        ),
        f"{_MIXTURE}; ε and δ below 1; printed without a part free of ε, which these terms exceed there",
        epsilon_below=1.0,
    ),
    Bound(
        "lsvi-ucb",
        "LSVI-UCB",
        "Jin et al. 2020, in Luyo et al. 2021, section 2",
        True,
        "none",
        "linear",
        "",
        (Term(d=1.5, H=2, K=0.5),),
        "linear MDP with d features",
    ),
    Bound(
        "lsvi-ucb-jdp",
        "LSVI-UCB in batches",
        "Luyo et al. 2021, Theorem 8",
        True,
        "central",
        "linear",
        "(ε, δ)",
        (Term(d=1.5, H=2, K=0.5), Term(d=1.6, H=2.2, K=0.6, epsilon=-0.4)),
        "linear MDP with d features, rewards known; ε and δ below 1; for local privacy it is an open question",
        epsilon_below=1.0,
    ),
    Bound(
        "lsvi-ucb-jdp-unbatched",
        "LSVI-UCB, not in batches",
        "Luyo et al. 2021, Remarks 3 and 7",
        True,
        "central",
        "linear",
        "(ε, δ)",
        (Term(d=1.5, H=2, K=0.5), Term(d=1.25, H=2.25, K=0.75, epsilon=-0.5)),
        "as in batches; a remark with its reason, not a theorem",
        epsilon_below=1.0,
    ),
    Bound(
        "lsvi-ucb-jdp-pure",
        "LSVI-UCB in batches, Laplace",
        "Luyo et al. 2021, Remark 2 and Appendix E.3",
        True,
        "central",
        "linear",
        "ε",
        (Term(d=1.5, H=2, K=0.5), Term(d=5 / 3, H=7 / 3, K=2 / 3, epsilon=-1 / 3)),
        "linear MDP with d features, rewards known; ε below 1, pure (δ = 0)",
        epsilon_below=1.0,
    ),
    Bound(
        "pucb-pac",
        "PUCB, mistakes",
        "Vietri et al. 2020, Theorem 3",
        True,
        "central",
        "tabular",
        "ε",
        (Term(S=1, A=1, H=4, alpha=-2), Term(S=2, A=1, H=4, alpha=-1, epsilon=-1)),
        f"episodes more than α suboptimal; {_INHOMOGENEOUS}; {_PRINTED}; α at most H",
        of="mistakes",
        alpha_to_H=True,
    ),
    Bound(
        "jdp-pac-lower",
        "Lower bound, mistakes",
        "Vietri et al. 2020, Theorem 5",
        False,
        "central",
        "tabular",
        "ε",
        (Term(S=1, A=1, H=2, alpha=-2), Term(S=1, A=1, H=1, alpha=-1, epsilon=-1, log="1/beta")),
        "some MDP, on average over runs, for learners right with probability 1 − β, β below 1/8; "
        "its logarithm is printed and kept",
        of="mistakes",
        beta_below=1 / 8,
    ),
)  # fmt: skip

BOUNDS: dict[str, Bound] = {row.key: row for row in _ROWS}
