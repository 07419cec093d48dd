"""Ready-made comparisons that Online offers or that the home page draws."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from dprl.messages import messages
from dprl.simulation import RunSpec
from pages.shared.visitor.links import Curve


class ExploreExample(NamedTuple):
    """A comparison worth looking at, described by a sentence of Markdown."""

    title: str
    say: str
    curves: tuple[Curve, ...]


def _example(key: str, *curves: Curve) -> ExploreExample:
    return ExploreExample(**messages("pages")["examples"][key], curves=curves)


def _budgets(base: RunSpec, *epsilon: float) -> tuple[Curve, ...]:
    """Return the run without privacy and a run at each of these budgets."""
    return (Curve(base.baseline()), *(Curve(base.replace(epsilon=each)) for each in epsilon))


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
        tuple(Curve(base.replace(privacy=p)) for p in ("none", "central", "shuffle", "local")),
    )


def home_specs() -> list[RunSpec]:
    """Return all runs that the home page draws."""
    return list(dict.fromkeys(curve.spec for e in HOME_BUDGETS for curve in trust(e, HOME_EPISODES).curves))


MIXTURE = RunSpec(
    environment="linear-mixture", algorithm="ucrl-vtr", privacy="central", episodes=10**12, seeds=10
)
LOCK = RunSpec(environment="linear-mdp", algorithm="lsvi-ucb", privacy="central", episodes=10**10, seeds=5)
FIRST = trust(1.0, HOME_EPISODES)  # the comparison that Online shows at first
SLOW = ("gymnasium", "linear-synthetic")  # environments whose first runs take too long for a draft
EXAMPLES = (
    FIRST,
    _example("budgets", *_budgets(BASE.replace(episodes=10**7), 10.0, 3.0, 1.0, 0.3, 0.1)),
    _example(
        "mechanisms",
        Curve(BASE.baseline()),
        Curve(BASE, "Gaussian, optimal: (1, 10⁻⁶) proved"),
        Curve(BASE.replace(mechanism="laplace-tree"), "Laplace tree: (1, 10⁻⁶) proved"),
        Curve(BASE.replace(calibration="paper"), "Laplace tree: as in the paper"),
    ),
    _example(
        "features", *_budgets(MIXTURE, 1.0, 10.0), *_budgets(MIXTURE.replace(privacy="local"), 1.0, 10.0)[1:]
    ),
    _example("linear", *_budgets(LOCK, 1.0, 10.0)),
)


def example_specs() -> list[RunSpec]:
    """Return all runs in the examples that the home page does not draw, and the first runs in slow environments."""
    shown = set(home_specs())
    found = dict.fromkeys(curve.spec for example in EXAMPLES for curve in example.curves)
    first = [c.spec.replace(environment=key, environment_params={}) for key in SLOW for c in FIRST.curves]
    return [spec for spec in (*found, *first) if spec not in shown]
