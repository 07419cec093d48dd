"""Comparisons worth looking at: the one that the page opens with, and those that its buttons offer."""

from __future__ import annotations

from dprl.simulation import OfflineSpec
from pages.shared.comparison.record import Example
from pages.shared.offline.settings import CLINIC

AS_IN_PAPER = CLINIC.replace(algorithm="dp-apvi", n=10**10, rho=0.1)
LINEAR = OfflineSpec(
    environment="linear-synthetic", algorithm="dp-vapvi", behaviour="first:0.6", n=10**6, seeds=10
)


def _budgets(base: OfflineSpec, *rho: float) -> tuple[OfflineSpec, ...]:
    """Without privacy, then at budgets of zero-concentrated privacy."""
    return (base.baseline(), *(base.replace(rho=each) for each in rho))


EXAMPLES = (
    Example(
        "Three budgets",
        "How many records does a private algorithm need in a synthetic clinic?",
        _budgets(CLINIC, 0.01, 0.1, 1.0),
    ),
    Example(
        "Other guarantees",
        "The same data under zero-concentrated, pure and approximate privacy.",
        (
            CLINIC.baseline(),
            CLINIC.replace(rho=0.1),
            CLINIC.replace(privacy="pure", epsilon=1.0),
            CLINIC.replace(privacy="approximate", epsilon=1.0),
        ),
    ),
    Example(
        "A rare state",
        "In RiverSwim, when all users act at random, hardly any user reaches the far end.",
        _budgets(
            OfflineSpec(environment="riverswim", behaviour="uniform", n=10**8, seeds=10), 0.01, 0.1, 1.0
        ),
    ),
    Example(
        "The paper's constants",
        "The penalty of DP-APVI, as in the paper, holds for any data. It needs a thousand times the records of "
        "DP-KL-LCB.",
        (*_budgets(AS_IN_PAPER, 0.01, 0.1, 1.0), AS_IN_PAPER.replace(algorithm="dp-kl-lcb", rho=0.1)),
    ),
    Example(
        "Linear: the paper's range",
        "The paper shows n up to 1,000 on a linear environment. Where does its claim hold?",
        _budgets(LINEAR, 25.0, 1.0, 0.1),
    ),
    Example(
        "Two releases for five",
        "The paper's DP-VAPVI beside our DP-PEVI, at the same proved budget.",
        (
            LINEAR.baseline(),
            LINEAR.replace(rho=1.0),
            LINEAR.replace(algorithm="dp-pevi", rho=0.8),
        ),
    ),
)
DEFAULT = EXAMPLES[0].specs
