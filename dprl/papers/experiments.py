"""The experiments on the papers' main claims, each with its runs and its threshold.

All settings have the same thresholds: an exponent must be within FLAT of a theorem's, a share of v* within 1% (5% at
the size of the paper's figure), and an order must hold in the whole interval. The first setting has the paper's problem
and size, if the paper states them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dprl.papers import hard, offline, privacy, regret
from dprl.papers.claim import claim_of
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec

SEEDS = 10
PROBLEMS = ("riverswim", "gridworld", "chain", "clinic", "random", "hard-jdp")

# The paper's algorithm with no trusted party.
EVERYBODY = {"privacy": "local", "mechanism": "gaussian", "reports": "all"}

TRUSTS = ("central", "shuffle", "local")
Chains = Sequence[Sequence[RunSpec]]


def at(environment: str, episodes: int, **changes: Any) -> RunSpec:
    """Return a run of DP-UCBVI with a trusted curator and epsilon = 1, except for the given changes."""
    return RunSpec(environment=environment, episodes=episodes, **{"seeds": SEEDS, **changes})


def by_trust(base: RunSpec) -> Chains:
    """Return runs from most to least trust: no privacy, a curator with a large and a small budget, no trusted party."""
    return [[base.baseline(), base.replace(epsilon=10.0), base, base.replace(privacy="local")]]


def by_budget(base: RunSpec) -> Chains:
    """Return a list of runs for each privacy model, from the largest budget to the smallest."""
    return [
        [base.replace(privacy=model, epsilon=epsilon) for epsilon in (10.0, 1.0, 0.1)] for model in TRUSTS
    ]


ORDER = claim_of(
    "order-of-trust",
    (
        regret.order(by_trust(at("riverswim", 50_000, seeds=20)), "the figure's K, our ε and bonus"),
        *(regret.order(by_trust(at(name, 10**12))) for name in PROBLEMS),
    ),
)

ADDITIVE = claim_of(
    "jdp-additive",
    (
        regret.flattens(at("riverswim", 10**15)),
        regret.flattens(at("riverswim", 10**15, epsilon=0.1), (at("riverswim", 10**15),), "ε = 0.1"),
        *(regret.flattens(at(name, 10**12)) for name in PROBLEMS[1:]),
        regret.flattens(at("riverswim", 10**15, bonus="paper"), note="paper constants"),
    ),
)

MULTIPLICATIVE = claim_of(
    "ldp-multiplicative",
    tuple(regret.goes_on(at(name, 10**15, **EVERYBODY), (at(name, 10**15),)) for name in PROBLEMS),
)

BUDGETS = claim_of(
    "larger-budget",
    (
        *(regret.order(by_budget(at(name, 10**15))) for name in ("riverswim", "chain", "clinic", "random")),
        regret.order(by_budget(at("riverswim", 10**6))),
    ),
)

LINEAR = OfflineSpec(
    environment="linear-synthetic", algorithm="dp-vapvi", behaviour="first:0.6", n=10**6, seeds=SEEDS
)
TABULAR = OfflineSpec(algorithm="dp-apvi", behaviour="mixture:0.7", n=10**10, seeds=SEEDS)
OFFLINE = claim_of(
    "offline-converges",
    (
        offline.near_its_baseline(LINEAR.replace(rho=25.0), 1000, 0.05),
        offline.near_its_baseline(LINEAR.replace(rho=25.0), 10**6, 0.01),
        offline.near_its_baseline(LINEAR.replace(rho=1.0), 10**6, 0.01),
        offline.near_its_baseline(TABULAR, 10**10, 0.01),
        offline.nearer([LINEAR.baseline(), *(LINEAR.replace(rho=rho) for rho in (25.0, 1.0, 0.1))], 10**5),
        offline.nearer([LINEAR.replace(rho=25.0), LINEAR.replace(algorithm="pevi")], 10**6),
        offline.nearer([TABULAR.baseline(), *(TABULAR.replace(rho=rho) for rho in (1.0, 0.1, 0.01))], 10**8),
    ),
)

PUCB = RunSpec(algorithm="pucb", mechanism="laplace-tree", delta=0.0, bonus="paper", schedule="geometric:0.002",
               epsilon=0.1, episodes=10**10, seeds=20)  # fmt: skip
ANYTIME = RunSpec(mechanism="laplace-tree", delta=0.0, epsilon=0.1, episodes=10**10, seeds=20)
BOTH = PUCB, ANYTIME
GAPS = (0.0125, 0.025, 0.05, 0.1)
EPSILONS = (0.03, 0.1, 0.3, 1.0)


MISTAKES = claim_of(
    "mistakes",
    (
        *(hard.in_power([hard.instance(one.baseline(), gap) for gap in GAPS], "α") for one in BOTH),
        *(hard.in_power([hard.instance(one, gap) for gap in GAPS], "α") for one in BOTH),
        *(hard.in_power([hard.instance(one.replace(epsilon=e), 0.1) for e in EPSILONS], "ε") for one in BOTH),
    ),
)

LOWER = claim_of(
    "lower-bound",
    tuple(
        hard.above_the_bound([hard.instance(learner.replace(epsilon=e), gap, arms) for e in EPSILONS])
        for learner, gap, arms in (
            (ANYTIME, 0.1, 3),
            (PUCB, 0.1, 3),
            (ANYTIME, 0.025, 3),
            (ANYTIME, 0.1, 1),
            (ANYTIME, 0.1, 7),
        )
    ),
)

MIXTURE = RunSpec(environment="linear-mixture", algorithm="ucrl-vtr", seeds=SEEDS)
BATCHES = RunSpec(environment="linear-mdp", algorithm="lsvi-ucb", seeds=5)
NOBODY = MIXTURE.replace(privacy="local", epsilon=10.0)
EIGHT = MIXTURE.replace(environment_params={"d": 8, "S": 4, "H": 10})


def over(base: RunSpec, first: int, last: int, shrinking: bool = False) -> list[RunSpec]:
    """Return runs with 10^first to 10^last users K. If `shrinking`, the gap between actions falls like 1/sqrt(K)."""
    runs = [base.replace(episodes=10**k) for k in range(first, last + 1)]
    if not shrinking:
        return runs
    even = 1 / base.environment_params["d"]
    lead = base.environment_params["share"] - even
    return [
        run.replace(environment_params={**base.environment_params, "share": even + lead * 10.0 ** (-k / 2)})
        for k, run in enumerate(runs)
    ]


EXPONENTS = claim_of(
    "linear-exponents",
    (
        regret.in_users(over(MIXTURE, 8, 12), 0.5),
        regret.in_users(over(EIGHT, 9, 12), 0.5),
        regret.in_users(over(MIXTURE, 8, 12, shrinking=True), 0.5, "gap like 1/√K"),
        regret.in_users(over(NOBODY, 11, 14), 0.75),
        regret.in_users(over(NOBODY, 12, 15, shrinking=True), 0.75, "gap like 1/√K"),
        regret.in_users(over(BATCHES, 8, 11), 0.6),
        regret.in_users(over(MIXTURE.replace(algorithm="ucrl-vtr-plus"), 8, 12), 0.5),
        regret.in_users(over(NOBODY.replace(algorithm="ucrl-vtr-plus"), 11, 14), 0.75),
        regret.in_users(over(BATCHES.replace(mechanism="laplace-tree", delta=0.0), 8, 11), 2 / 3, "δ = 0"),
    ),
)

ELIMINATION = RunSpec(
    environment="random", environment_params={"S": 2, "A": 2, "H": 3}, algorithm="sdp-pe", episodes=10**14,
    seeds=SEEDS,
)  # fmt: skip
SHUFFLED = at("riverswim", 10**15, privacy="shuffle")
SHUFFLE = claim_of(
    "shuffle-between",
    (
        regret.flattens(ELIMINATION),
        *(regret.flattens(at(name, 10**15, privacy="shuffle")) for name in ("riverswim", "chain", "clinic")),
        regret.in_budget([ELIMINATION.replace(epsilon=epsilon) for epsilon in EPSILONS]),
        regret.in_budget([SHUFFLED.replace(epsilon=epsilon) for epsilon in EPSILONS]),
        *(
            regret.order([[at(name, 10**12).replace(privacy=model) for model in TRUSTS]])
            for name in ("riverswim", "chain", "clinic")
        ),
    ),
)

COLLUSIONS = [AttackSpec(run=RunSpec(seeds=1), root_seed=seed) for seed in range(30)]
ONE_DRAW = claim_of(
    "one-draw",
    (
        privacy.recovered(COLLUSIONS, "one", "One draw for all releases"),
        privacy.recovered(COLLUSIONS, "tree", "A tree"),
    ),
)

TEN = (
    ORDER, ADDITIVE, MULTIPLICATIVE, BUDGETS, OFFLINE, MISTAKES, LOWER, EXPONENTS, SHUFFLE, ONE_DRAW,
)  # fmt: skip
