"""Experiments on the noise that the papers state, and on the figures that show their measurements."""

from __future__ import annotations

from typing import Any

from dprl.papers import offline, privacy, regret
from dprl.papers.claim import Claim, claim_of
from dprl.papers.experiments import ELIMINATION, LINEAR, at, by_trust
from dprl.simulation import OfflineSpec, RunSpec

# Noise, bonus and releases as in each paper.
AS_PRINTED: dict[str, Any] = {"calibration": "paper", "bonus": "paper", "episodes": 50_000, "seeds": 1}
PURE: dict[str, Any] = {"mechanism": "laplace-tree", "delta": 0.0}


def printed(key: str, *specs: RunSpec | OfflineSpec) -> Claim:
    """Return the claim that a paper's noise gives the guarantee stated there, with one setting for each spec."""
    return claim_of(key, tuple(map(privacy.proves, specs)))


PRINTED = (
    printed(
        "noise-tabular",
        RunSpec(**AS_PRINTED, **PURE),
        RunSpec(**AS_PRINTED, privacy="local", mechanism="laplace", delta=0.0),
        RunSpec(**AS_PRINTED, **PURE, algorithm="pucb"),
    ),
    printed("noise-shuffled", ELIMINATION.replace(**AS_PRINTED), RunSpec(**AS_PRINTED, privacy="shuffle")),
    printed(
        "noise-linear",
        *(
            RunSpec(**AS_PRINTED, environment="linear-mixture", algorithm=name, privacy=model)
            for name in ("ucrl-vtr", "ucrl-vtr-plus")
            for model in ("central", "local")
        ),
        RunSpec(**AS_PRINTED, environment="linear-mdp", algorithm="lsvi-ucb"),
    ),
    printed("noise-offline", OfflineSpec(n=1000, seeds=1), LINEAR.replace(n=1000, seeds=1)),
)

SEEN: dict[str, Any] = {"calibration": "paper", "bonus": "paper", "episodes": 10**12, "seeds": 40}
LOCAL: dict[str, Any] = {"privacy": "local", "mechanism": "laplace", "delta": 0.0}


def everywhere(**changes: Any) -> list[RunSpec]:
    """Return runs in four environments, with the settings SEEN and these changes."""
    return [
        RunSpec(environment=name, **SEEN, **changes) for name in ("riverswim", "chain", "clinic", "random")
    ]


CENTRAL, NOBODY, PUCB_SEEN = everywhere(**PURE), everywhere(**LOCAL), everywhere(**PURE, algorithm="pucb")
SHUFFLED = everywhere(privacy="shuffle")
BOUNDS_KEPT = (
    claim_of(
        "noise-within-error",
        (
            *(privacy.share_of_runs("covered", runs) for runs in (CENTRAL, NOBODY, PUCB_SEEN, SHUFFLED)),
            *(privacy.share_of_runs("consistent", runs) for runs in (CENTRAL, NOBODY)),
        ),
    ),
    claim_of(
        "optimism",
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


def methods(base: OfflineSpec) -> list[OfflineSpec]:
    """Return the runs of the first panel: no privacy, a large and a small budget, and an older algorithm."""
    return [base.baseline(), base.replace(rho=25.0), base.replace(rho=1.0), base.replace(algorithm="pevi")]


def budgets(base: OfflineSpec) -> list[OfflineSpec]:
    """Return the runs of the second panel: without privacy, then with budgets from the largest to the smallest."""
    return [base.baseline(), *(base.replace(rho=rho) for rho in (25.0, 5.0, 1.0, 0.1))]


FIGURES = (
    claim_of(
        "figure-online-1",
        (
            regret.order([FIGURE_1_CHAIN], "as in the paper"),
            regret.order(by_trust(at("riverswim", 10**12)), "our bonus and noise"),
        ),
    ),
    claim_of(
        "figure-offline-1a",
        (
            offline.near_its_baseline(SMALL.replace(rho=25.0), 1000, 0.05),
            offline.nearer(methods(SMALL), 1000),
            offline.nearer(methods(LINEAR), 10**5),
        ),
    ),
    claim_of(
        "figure-offline-1b", (offline.nearer(budgets(SMALL), 1000), offline.nearer(budgets(LINEAR), 10**5))
    ),
)
