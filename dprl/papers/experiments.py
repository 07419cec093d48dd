"""The experiments on the papers' main claims, each with its runs and its threshold.

All settings have the same thresholds: an exponent must be within FLAT of a theorem's, a share of v* within 1% (5% at
the size of the paper's figure), and an order must hold in the whole interval. The first setting has the paper's problem
and size, if the paper states them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dprl.papers import hard, offline, privacy, regret
from dprl.papers.claim import Claim
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec

SEEDS = 10
PROBLEMS = ("riverswim", "gridworld", "chain", "clinic", "random", "hard-jdp")
QW_ONLINE = "Qiao, Wang 2023 (online)"
VIETRI = "Vietri et al. 2020"
LEAST = (
    "Noise is calibrated to (ε, 10⁻⁶), the bonus is proved valid, and ε = 1 unless stated otherwise. Everything else "
    "is at its default."
)
EARLY = (
    "If two neighbouring curves both lose more than half of V*, nothing has been learned yet, so their order means "
    "nothing."
)

# The paper's algorithm with no trusted party.
EVERYBODY = {"privacy": "local", "mechanism": "gaussian", "reports": "all"}

TRUSTS = ("central", "shuffle", "local")
Chains = Sequence[Sequence[RunSpec]]


def at(environment: str, episodes: int, **changes: Any) -> RunSpec:
    """Return a run of DP-UCBVI with a trusted curator and epsilon = 1, except for the given changes."""
    return RunSpec(environment=environment, episodes=episodes, **{"seeds": SEEDS, **changes})


def by_trust(base: RunSpec) -> Chains:
    """Return runs in the figure's order: no privacy, a curator with a large and a small budget, no trusted party."""
    return [[base.baseline(), base.replace(epsilon=10.0), base, base.replace(privacy="local")]]


def by_budget(base: RunSpec) -> Chains:
    """Return, for each privacy model, runs from the largest budget to the smallest."""
    return [
        [base.replace(privacy=model, epsilon=epsilon) for epsilon in (10.0, 1.0, 0.1)] for model in TRUSTS
    ]


ORDER = Claim(
    "order-of-trust",
    "Privacy models in order",
    "Regret is lowest without privacy and highest with no trusted party. With a trusted curator it is in between, and "
    "a small budget costs more than a large one.",
    f"{QW_ONLINE}, Figure 1: RiverSwim, H = 20, K = 50,000, 5 runs",
    f"{LEAST} The large budget is ε = 10, and the small one is ε = 1, as it is with no trusted party. The "
    "paper's figure states no ε, no bonus and no schedule: all three are ours. With the bonus and noise that the "
    f"paper states, every curve is still flat at the figure's K. {EARLY}",
    "The lower a curve, the smaller the share of V* that an average episode has lost.",
    (
        regret.order(by_trust(at("riverswim", 50_000, seeds=20)), "the figure's K, our ε and bonus"),
        *(regret.order(by_trust(at(name, 10**12))) for name in PROBLEMS),
    ),
)

ADDITIVE = Claim(
    "jdp-additive",
    "With a trusted curator, privacy costs once",
    "The privacy cost is additive: as the number K of users grows, it grows at most like a power of log K.",
    f"{QW_ONLINE}, Theorem 5.2",
    f"{LEAST} The bound is on the whole regret. A cost counts as flat if it grows at most like K^0.1 from K/10 to K.",
    "A privacy cost that no longer grows is a flat line at the right end.",
    (
        regret.flattens(at("riverswim", 10**15)),
        regret.flattens(at("riverswim", 10**15, epsilon=0.1), (at("riverswim", 10**15),), "ε = 0.1"),
        *(regret.flattens(at(name, 10**12)) for name in PROBLEMS[1:]),
        regret.flattens(at("riverswim", 10**15, bonus="paper"), note="paper constants"),
    ),
)

MULTIPLICATIVE = Claim(
    "ldp-multiplicative",
    "With no trusted party, privacy costs again and again",
    "The privacy cost is multiplicative: it keeps growing with the number K of users, but no faster than √K.",
    f"{QW_ONLINE}, Theorem 5.7 (upper bound) and Section 7 (multiplicative)",
    f"{LEAST} Even if the cost stops growing, √K is an upper bound: one environment has a gap between actions, which "
    "enough users reveal. The paper's algorithm adds up everybody's reports, each with Gaussian noise. Our default "
    "is a different algorithm; the page Trade-offs shows its cost for up to 10^15 users.",
    "The privacy cost with no trusted party, next to the cost with a trusted curator. If a line still rises at the "
    "right end, the cost still grows.",
    tuple(regret.goes_on(at(name, 10**15, **EVERYBODY), (at(name, 10**15),)) for name in PROBLEMS),
)

BUDGETS = Claim(
    "larger-budget",
    "A larger budget costs less",
    "In every privacy model, a larger ε means less regret.",
    f"{QW_ONLINE}, Section 7",
    f"{LEAST} We compare neighbouring budgets: ε is 10, 1 and 0.1. Runs with a shuffler are ours. {EARLY}",
    "A darker curve (a lighter one on a dark page) is more private, and lies above the next curve of its colour.",
    (
        *(regret.order(by_budget(at(name, 10**15))) for name in ("riverswim", "chain", "clinic", "random")),
        regret.order(by_budget(at("riverswim", 10**6))),
    ),
)

LINEAR = OfflineSpec(
    environment="linear-synthetic", algorithm="dp-vapvi", behaviour="first:0.6", n=10**6, seeds=SEEDS
)
TABULAR = OfflineSpec(algorithm="dp-apvi", behaviour="mixture:0.7", n=10**10, seeds=SEEDS)
OFFLINE = Claim(
    "offline-converges",
    "Offline, curves with and without privacy meet",
    "As the data set grows, DP-VAPVI loses hardly more than VAPVI, the same algorithm without privacy. It loses "
    "less than PEVI, an older algorithm.",
    "Qiao, Wang 2023 (offline), Figure 1: n up to 1,000",
    "Noise is as in the paper, with ρ = 25, 1 and 0.1. Open constants are ours. On RiverSwim we test DP-APVI.",
    "The closer a private curve comes to the curve without privacy, the less privacy costs.",
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


MISTAKES = Claim(
    "mistakes",
    "Suboptimal episodes added by privacy",
    "Without privacy, the number of episodes that lose more than α grows like 1/α² as α shrinks. Privacy adds a term "
    "that grows like 1/(εα).",
    f"{VIETRI}, Theorem 3 (PUCB)",
    "The noise is a Laplace tree, calibrated to (ε, 0). PUCB has the paper's constants and blocks of 0.2% of the "
    "users so far. The theorem is an upper bound with logarithms for PUCB; DP-UCBVI is our addition.",
    "The dotted line has the theorem's slope, and goes through the middle of the points.",
    (
        *(hard.in_power([hard.instance(one.baseline(), gap) for gap in GAPS], "α") for one in BOTH),
        *(hard.in_power([hard.instance(one, gap) for gap in GAPS], "α") for one in BOTH),
        *(hard.in_power([hard.instance(one.replace(epsilon=e), 0.1) for e in EPSILONS], "ε") for one in BOTH),
    ),
)

LOWER = Claim(
    "lower-bound",
    "Nobody gets below the bound",
    "Private algorithms play each worse arm at least ln(1/(4β))/(24εα) times, in expectation.",
    f"{VIETRI}, section 6, Lemma 8, for algorithms correct on every instance",
    "The noise is a Laplace tree, calibrated to (ε, 0), and β = 0.1. This is a check, not a proof: no algorithm here "
    "is proved correct on every instance, and we test only two kinds of algorithms.",
    "The dotted line is the bound, and the measured pulls lie above it.",
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
    """Return runs with 10^first to 10^last users. If `shrinking`, the gap between actions shrinks like 1/sqrt(K)."""
    runs = [base.replace(episodes=10**k) for k in range(first, last + 1)]
    if not shrinking:
        return runs
    even = 1 / base.environment_params["d"]
    lead = base.environment_params["share"] - even
    return [
        run.replace(environment_params={**base.environment_params, "share": even + lead * 10.0 ** (-k / 2)})
        for k, run in enumerate(runs)
    ]


EXPONENTS = Claim(
    "linear-exponents",
    "Growth of linear algorithms' regret",
    "Regret grows at most like √K with a trusted curator, K^(3/4) with no trusted party, and K^(3/5) for LSVI-UCB in "
    "batches (K^(2/3) with pure privacy).",
    "Luyo et al. 2021, Corollaries 5 and 6 (UCRL-VTR), 10 and 11 (UCRL-VTR+), Theorem 8 and Remark 2 (LSVI-UCB)",
    "Noise is calibrated to (ε, 10⁻⁶), and the bonus is proved valid. Only runs that lost less than half of V* count. "
    "With a gap between actions, regret grows less. The theorems need ε < 1, but here ε = 1, or 10 with local privacy.",
    "Each point is a separate run. The dotted line has the bound's slope, and goes through the middle of the points.",
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
SHUFFLE = Claim(
    "shuffle-between",
    "A shuffler stands in between",
    "With a trusted shuffler, the privacy cost is additive, grows like 1/ε, and lies between the costs with a "
    "trusted curator and with no trusted party.",
    "Bai et al. 2025, Theorem 11 (SDP-PE) and Section I (between)",
    f"{LEAST} The theorem needs ε < 1. The paper's SDP-PE runs in a small environment, and shuffled DP-UCBVI is ours.",
    "The shuffler's curve lies between the curves of the other two models, and is flat at the right end. The "
    "privacy cost has the slope of 1/ε.",
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
ONE_DRAW = Claim(
    "one-draw",
    "One draw of noise hides nobody",
    "If one draw of noise serves a whole counter, users t − 1 and t + 1 together can find user t's data exactly.",
    f"{VIETRI}, section 2.2",
    "There is one counter, and each of 8 users learns its count after their own turn. Six of these users come "
    "between two others. The second setting shows the repair: noise from a tree.",
    "",
    (
        privacy.recovered(COLLUSIONS, "one", "One draw for all releases"),
        privacy.recovered(COLLUSIONS, "tree", "A tree"),
    ),
)

TEN = (
    ORDER, ADDITIVE, MULTIPLICATIVE, BUDGETS, OFFLINE, MISTAKES, LOWER, EXPONENTS, SHUFFLE, ONE_DRAW,
)  # fmt: skip
