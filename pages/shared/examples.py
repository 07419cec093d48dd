"""Ready-made comparisons that Online offers or that the home page draws."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from dprl.simulation import RunSpec
from pages.shared.visitor.links import Curve


class ExploreExample(NamedTuple):
    """A comparison worth looking at, described by a sentence of Markdown."""

    title: str
    say: str
    curves: tuple[Curve, ...]


def _curves(*specs: RunSpec) -> tuple[Curve, ...]:
    return tuple(map(Curve, specs))


BASE = RunSpec()
HOME_BUDGETS = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)
HOME_EPISODES = 10**15


@cache
def trust(epsilon: float, episodes: int) -> ExploreExample:
    """Compare a trusted curator, a trusted shuffler, no trusted party, and no privacy at one epsilon."""
    base = BASE.replace(epsilon=epsilon, episodes=episodes)
    return ExploreExample(
        "Which privacy model?",
        f"The same ε = {epsilon:g} with a trusted curator, a trusted shuffler, and no trusted party.",
        _curves(*(base.replace(privacy=p) for p in ("none", "central", "shuffle", "local"))),
    )


def home_specs() -> list[RunSpec]:
    """Return all runs that the home page draws."""
    return list(dict.fromkeys(curve.spec for e in HOME_BUDGETS for curve in trust(e, HOME_EPISODES).curves))


MIXTURE = RunSpec(
    environment="linear-mixture", algorithm="ucrl-vtr", privacy="central", episodes=10**12, seeds=10
)
LOCK = RunSpec(environment="linear-mdp", algorithm="lsvi-ucb", privacy="central", episodes=10**10, seeds=5)
FIRST = trust(1.0, HOME_EPISODES)  # the comparison that Online shows at first
EXAMPLES = (
    FIRST,
    ExploreExample(
        "Five privacy budgets",
        "The smaller ε is, the more users the algorithm needs.",
        _curves(
            *(
                spec.replace(episodes=10**7)
                for spec in (BASE.baseline(), *(BASE.replace(epsilon=e) for e in (10.0, 3.0, 1.0, 0.3, 0.1)))
            )
        ),
    ),
    ExploreExample(
        "Better mechanisms",
        "Three kinds of noise at ε = 1: Laplace as in the paper, with (2, 0) proved, calibrated Laplace, and "
        "calibrated Gaussian.",
        (
            Curve(BASE.baseline()),
            Curve(BASE, "Gaussian, optimal: (1, 10⁻⁶) proved"),
            Curve(BASE.replace(mechanism="laplace-tree"), "Laplace tree: (1, 10⁻⁶) proved"),
            Curve(BASE.replace(calibration="paper"), "Laplace tree: as in the paper"),
        ),
    ),
    ExploreExample(
        "Known features",
        "UCRL-VTR is given the features of transitions, and learns a few weights. With a trusted curator and "
        "ε = 1, an average episode loses under 1% of V* once there are 10 million users. With no trusted party, this "
        "needs over 1 trillion users.",
        _curves(
            MIXTURE.baseline(),
            *(MIXTURE.replace(privacy=p, epsilon=e) for p in ("central", "local") for e in (1.0, 10.0)),
        ),
    ),
    ExploreExample(
        "A linear MDP",
        "Here the values are linear in the features. LSVI-UCB repeats its regression over all users in every batch, "
        "with new noise. For the local model no such algorithm is known.",
        _curves(LOCK.baseline(), *(LOCK.replace(epsilon=e) for e in (1.0, 10.0))),
    ),
)


def example_specs() -> list[RunSpec]:
    """Return all runs in the examples that the home page does not draw."""
    shown = set(home_specs())
    found = dict.fromkeys(curve.spec for example in EXAMPLES for curve in example.curves)
    return [spec for spec in found if spec not in shown]
