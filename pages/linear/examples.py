"""Comparisons worth looking at: the one that the page opens with, and those that its buttons offer."""

from __future__ import annotations

from dprl.environments import ENVIRONMENTS
from dprl.simulation import RunSpec
from pages.linear.view import LinearView
from pages.shared.comparison.record import Example

BASE = RunSpec(
    environment="linear-mixture", algorithm="ucrl-vtr", privacy="central", episodes=10**12, seeds=10
)
AS_IN_PAPER = BASE.replace(episodes=10**15, bonus="paper", calibration="paper", delta=1e-6)
VALUES = RunSpec(environment="linear-mdp", algorithm="lsvi-ucb", privacy="central", episodes=10**10, seeds=5)
DECADES = 7  # numbers of users, tenfold apart, of the problems that get harder
SHRINKS = 0.5  # what tells actions apart is K to the minus this


def _budgets(base: RunSpec, *epsilons: float) -> tuple[RunSpec, ...]:
    return tuple(base.replace(epsilon=epsilon) for epsilon in epsilons)


EXAMPLES = (
    Example(
        "Which privacy model?",
        "At ε = 1 an average episode loses under 1% of V* from 10 million users on with a trusted curator. With no "
        "trusted party it takes over 1 trillion users.",
        (BASE.baseline(), *_budgets(BASE, 1.0, 10.0), *_budgets(BASE.replace(privacy="local"), 1.0, 10.0)),
        LinearView(measure="share"),
    ),
    Example(
        "Budgets",
        "With a trusted curator, a tenth of the budget ε takes about ten times the users.",
        (BASE.baseline(), *_budgets(BASE, 0.1, 1.0, 10.0)),
        LinearView(measure="share"),
    ),
    Example(
        "The paper's constants",
        "From how many users on are the paper's noise and constants informative? Beside them stands "
        "calibrated noise for the same ε = 1 in the same tree, with the anytime bonus.",
        (
            AS_IN_PAPER.baseline(),
            AS_IN_PAPER,
            AS_IN_PAPER.replace(privacy="local", calibration="paper", delta=1e-6),
            BASE.replace(episodes=10**15, mechanism="gaussian-tree"),
        ),
        LinearView(measure="share"),
    ),
    Example(
        "Is the bound reached?",
        "On one environment regret flattens. When actions differ less for more users, regret grows like √K.",
        (BASE.baseline(), BASE, BASE.replace(privacy="local")),
        LinearView(tab="exponents", problem="harder"),
    ),
    Example(
        "Linear MDP",
        "Here the values are linear in the features. LSVI-UCB repeats its regression over all users in every "
        "batch, with new noise. For the local model no such algorithm is known.",
        (VALUES.baseline(), *_budgets(VALUES, 1.0, 10.0)),
        LinearView(measure="share"),
    ),
)
DEFAULT = EXAMPLES[0].specs


def harder(spec: RunSpec) -> tuple[RunSpec, ...]:
    """Runs with fewer users, tenfold apart, up to this one's K, each on a problem where what tells actions apart is as
    K^-SHRINKS: at the fewest users it is this one's own. Nothing where no parameter of the environment does that."""
    narrowed = ENVIRONMENTS[spec.environment].narrowed
    sizes = [spec.episodes // 10**i for i in reversed(range(DECADES)) if spec.episodes // 10**i >= 1000]
    if narrowed is None or len(sizes) < 2:
        return ()
    found = []
    for K in sizes:
        changed = narrowed((sizes[0] / K) ** SHRINKS, **spec.environment_params)
        params = {**spec.environment_params, **changed}
        found.append(spec.replace(episodes=K, environment_params=params))
    return tuple(found)
