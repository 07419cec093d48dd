"""Experiments on the papers' own noise, and on the figures that show their measurements."""

from __future__ import annotations

from typing import Any

from dprl.papers import offline, privacy, regret
from dprl.papers.claim import Claim
from dprl.papers.experiments import ELIMINATION, LINEAR, QW_ONLINE, VIETRI, at, by_trust
from dprl.simulation import OfflineSpec, RunSpec

# Noise, bonus and releases as in each paper.
AS_PRINTED: dict[str, Any] = {"calibration": "paper", "bonus": "paper", "episodes": 50_000, "seeds": 1}
PURE: dict[str, Any] = {"mechanism": "laplace-tree", "delta": 0.0}
READ = (
    "Our accountant computes (ε, δ) or ρ for replacing one user's whole trajectory, which is how the "
    "papers define neighbours. We run no algorithm for this."
)


def printed(key: str, title: str, says: str, source: str, why: str, *specs: RunSpec | OfflineSpec) -> Claim:
    """Return the claim that a paper's noise has the guarantee stated there, with a setting for each spec."""
    return Claim(key, title, says, source, f"{READ} {why}", "", tuple(map(privacy.proves, specs)))


PRINTED = (
    printed(
        "noise-tabular",
        "Laplace noise on counts",
        "Laplace noise as in the paper gives the claimed ε.",
        f"{QW_ONLINE}, Lemmas 5.1 and 5.6; {VIETRI}, Claim 1",
        "The papers count one unit of change in each step and kind of count. Replacing a trajectory removes one visit "
        "and adds another: two units. So the claimed ε needs twice the noise. The claim holds if a user is zeroed out.",
        RunSpec(**AS_PRINTED, **PURE),
        RunSpec(**AS_PRINTED, privacy="local", mechanism="laplace", delta=0.0),
        RunSpec(**AS_PRINTED, **PURE, algorithm="pucb"),
    ),
    printed(
        "noise-shuffled",
        "Shuffled bits",
        "Shuffled bits as in the paper, sent separately, give the claimed (ε, β).",
        "Bai et al. 2025, Lemmas 10 and 42",
        "The paper's own composition gives only (2ε, 6Hβ), but our accountant composes the bits themselves. Each bit "
        "must be a separate message, which Algorithm 4 does not require. The lemmas are for ε < 1, but ε = 1 here.",
        ELIMINATION.replace(**AS_PRINTED),
        RunSpec(**AS_PRINTED, privacy="shuffle"),
    ),
    printed(
        "noise-linear",
        "Gaussian noise on features",
        "Gaussian noise as in the paper gives the claimed (ε, δ).",
        "Luyo et al. 2021, Corollaries 5, 6, 10 and 11, Theorem 8",
        "The theorems need ε < 1, but ε = 1 here.",
        *(
            RunSpec(**AS_PRINTED, environment="linear-mixture", algorithm=name, privacy=model)
            for name in ("ucrl-vtr", "ucrl-vtr-plus")
            for model in ("central", "local")
        ),
        RunSpec(**AS_PRINTED, environment="linear-mdp", algorithm="lsvi-ucb"),
    ),
    printed(
        "noise-offline",
        "Gaussian noise on a data set",
        "Gaussian noise as in the paper gives the claimed ρ.",
        "Qiao, Wang 2023 (offline), Lemmas C.1 and D.1",
        "Features have norm 1 here, as the proof requires, but the paper's own example reaches √7.",
        OfflineSpec(n=1000, seeds=1),
        LINEAR.replace(n=1000, seeds=1),
    ),
)

SEEN: dict[str, Any] = {"calibration": "paper", "bonus": "paper", "episodes": 10**12, "seeds": 40}
LOCAL: dict[str, Any] = {"privacy": "local", "mechanism": "laplace", "delta": 0.0}
IN_RUNS = "Noise and bonus are the paper's, and β = 0.1. Noise is checked at every release, values at about 30 of them."


def everywhere(**changes: Any) -> list[RunSpec]:
    """Return a run in each of four environments, with the settings SEEN and these changes."""
    return [
        RunSpec(environment=name, **SEEN, **changes) for name in ("riverswim", "chain", "clinic", "random")
    ]


CENTRAL, NOBODY, PUCB_SEEN = everywhere(**PURE), everywhere(**LOCAL), everywhere(**PURE, algorithm="pucb")
SHUFFLED = everywhere(privacy="shuffle")
BOUNDS_KEPT = (
    Claim(
        "noise-within-error",
        "Noise stays within its bound",
        "With the stated probability, all the noise in a run stays within the error bound E.",
        f"{QW_ONLINE}, Assumption 3.1 and Lemmas 5.1, 5.4 and 5.6; {VIETRI}, Theorem 12; Bai et al. 2025, "
        "Assumption 4",
        IN_RUNS,
        "",
        (
            *(privacy.share_of_runs("covered", runs) for runs in (CENTRAL, NOBODY, PUCB_SEEN, SHUFFLED)),
            *(privacy.share_of_runs("consistent", runs) for runs in (CENTRAL, NOBODY)),
        ),
    ),
    Claim(
        "optimism",
        "Values are optimistic",
        "The estimated value of every action is at least as high as its true value, with the stated probability.",
        f"{QW_ONLINE}, Lemma C.11; {VIETRI}, Theorem 14; Luyo et al. 2021, Lemmas 15 and 22",
        IN_RUNS,
        "",
        (
            *(privacy.share_of_runs("optimistic", runs) for runs in (CENTRAL, NOBODY, PUCB_SEEN)),
            *(
                privacy.share_of_runs(
                    "optimistic", [RunSpec(environment=place, algorithm=name, **{**SEEN, "seeds": 100})]
                )
                for place, name in (
                    ("linear-mixture", "ucrl-vtr"),
                    ("linear-mixture", "ucrl-vtr-plus"),
                    ("linear-mdp", "lsvi-ucb"),
                )
            ),
        ),
    ),
)

# The papers' figures of measurements, with their own settings and with more data.
FIGURE_1 = at(
    "riverswim", 50_000, seeds=5, mechanism="laplace-tree", calibration="paper", bonus="paper", schedule="episodic"
)  # fmt: skip
FIGURE_1_CHAIN = [
    FIGURE_1.baseline(), FIGURE_1.replace(epsilon=10.0), FIGURE_1,
    FIGURE_1.replace(privacy="local", mechanism="laplace", calibration="paper"),
]  # fmt: skip
SMALL = LINEAR.replace(n=1000, seeds=5)
OPEN_OFFLINE = (
    "The paper leaves constants open, so we use our defaults. Features have norm 1, as the proof requires."
)


def methods(base: OfflineSpec) -> list[OfflineSpec]:
    """Return the runs of the first panel: no privacy, a large and a small budget, and an older algorithm."""
    return [base.baseline(), base.replace(rho=25.0), base.replace(rho=1.0), base.replace(algorithm="pevi")]


def budgets(base: OfflineSpec) -> list[OfflineSpec]:
    """Return the runs of the second panel: without privacy, then with budgets from the largest to the smallest."""
    return [base.baseline(), *(base.replace(rho=rho) for rho in (25.0, 5.0, 1.0, 0.1))]


FIGURES = (
    Claim(
        "figure-online-1",
        "The figure on RiverSwim",
        "At K = 50,000 the four curves lie in the order of the privacy models.",
        f"{QW_ONLINE}, Figure 1: RiverSwim, H = 20, K = 50,000, 5 runs",
        "Noise, bonus and a new policy for each user are as in Algorithm 1 and Section 5. The figure states no ε, "
        "so we chose 10 and 1. With these, every curve is flat. The last setting has our bonus and noise.",
        "The lower a curve, the smaller the share of V* that an average episode has lost.",
        (
            regret.order([FIGURE_1_CHAIN], "as in the paper"),
            regret.order(by_trust(at("riverswim", 10**12)), "our bonus and noise"),
        ),
    ),
    Claim(
        "figure-offline-1a",
        "DP-VAPVI against PEVI",
        "DP-VAPVI lies close to VAPVI, and below PEVI.",
        "Qiao, Wang 2023 (offline), Figure 1a: n up to 1,000, 5 runs",
        OPEN_OFFLINE,
        "The closer a private curve comes to the curve without privacy, the less privacy costs.",
        (
            offline.near_its_baseline(SMALL.replace(rho=25.0), 1000, 0.05),
            offline.nearer(methods(SMALL), 1000),
            offline.nearer(methods(LINEAR), 10**5),
        ),
    ),
    Claim(
        "figure-offline-1b",
        "Budgets of DP-VAPVI",
        "The larger ρ is, the less DP-VAPVI loses.",
        "Qiao, Wang 2023 (offline), Figure 1b: n up to 1,000, 5 runs",
        OPEN_OFFLINE,
        "The closer a private curve comes to the curve without privacy, the less privacy costs.",
        (offline.nearer(budgets(SMALL), 1000), offline.nearer(budgets(LINEAR), 10**5)),
    ),
)
