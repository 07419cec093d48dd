"""Comparisons worth looking at: the one that the page opens with, and those that its buttons offer."""

from __future__ import annotations

from dprl.environments import ENVIRONMENTS
from dprl.simulation import RunSpec
from pages.linear.view import LinearView
from pages.shared.comparison.record import Example

BASE = RunSpec(
    environment="linear-mixture", algorithm="ucrl-vtr", privacy="central", episodes=10**12, seeds=10
)
PRINTED = BASE.replace(episodes=10**15, bonus="paper", calibration="paper", delta=1e-6)
VALUES = RunSpec(environment="linear-mdp", algorithm="lsvi-ucb", privacy="central", episodes=10**10, seeds=5)
DECADES = 7  # numbers of users, tenfold apart, of the problems that get harder
SHRINKS = 0.5  # what tells actions apart is K to the minus this


def _budgets(base: RunSpec, *epsilons: float) -> tuple[RunSpec, ...]:
    return tuple(base.replace(epsilon=epsilon) for epsilon in epsilons)


EXAMPLES = (
    Example(
        "Which privacy model?",
        "The same ε = 1 costs users: with a trusted curator an average episode loses below 1% of V* from 10 million of "
        "them on, with no trusted party only beyond 1 trillion.",
        (BASE.twin(), *_budgets(BASE, 1.0, 10.0), *_budgets(BASE.replace(privacy="local"), 1.0, 10.0)),
        LinearView(),
    ),
    Example(
        "Budgets",
        "A trusted curator at ε = 10, 1 and 0.1: ten times less budget takes about ten times the users.",
        (BASE.twin(), *_budgets(BASE, 0.1, 1.0, 10.0)),
        LinearView(),
    ),
    Example(
        "The paper's constants",
        "From which K on do the paper's noise and constants say something? Beside them, at the same ε = 1, the noise "
        "that proves it in the same tree, with the bonus that is proved at all times.",
        (
            PRINTED.twin(),
            PRINTED,
            PRINTED.replace(privacy="local", calibration="paper", delta=1e-6),
            BASE.replace(episodes=10**15, mechanism="gaussian-tree"),
        ),
        LinearView(),
    ),
    Example(
        "Where it can be met",
        "On one problem regret flattens. Where actions differ less, the more users there are, it grows like √K.",
        (BASE.twin(), BASE, BASE.replace(privacy="local")),
        LinearView(tab="exponents", problem="harder"),
    ),
    Example(
        "Linear MDP",
        "Here values themselves are linear: LSVI-UCB regresses them anew from all users in every batch, and each time "
        "noise is added. How that can be done with no trusted party is an open problem.",
        (VALUES.twin(), *_budgets(VALUES, 1.0, 10.0)),
        LinearView(),
    ),
    Example(
        "Plan rarely",
        "At the same ε = 1, who plans only when the released sums say that much has changed needs less noise: of 10 "
        "billion users an average episode loses 0.005% of V*, in batches 0.06%.",
        tuple(
            spec
            for learner in ("lsvi-ucb", "lsvi-ucb-rare", "lsvi-ucb-plus-plus")
            for spec in (VALUES.twin().replace(algorithm=learner), VALUES.replace(algorithm=learner))
        ),
        LinearView(),
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
