"""What is compared, and on what: taken from the registry, so that a learner that is added there is in the table.

A run is planned for its K: its noise is calibrated to K users, its constants and its schedule know K. So regret at K is
read off a run of K users, never off a longer one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.learners import ALGORITHMS, Learner
from dprl.metrics import FEWEST_FOR_MEDIAN
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec, estimate
from dprl.theory import BOUNDS, Bound
from dprl.words import duration

BUDGET = (1.0, 1e-6)  # epsilon and delta that every run proves
SEEDS = FEWEST_FOR_MEDIAN  # the fewest of which a median has an interval
TARGET = 0.1  # share of V* that an average episode may lose
DECADES = tuple(10**k for k in range(3, 16))
# Where a crossing is looked for, in the words of Trade-offs: eight runs a decade.
GRID = tuple(round(10 ** (j / 8)) for j in range(8 * 3, 8 * 15 + 1))
MOST_SECONDS = 120.0  # of one core, for all seeds of one run


@dataclass(frozen=True)
class LandscapeProblem:
    """An environment at one size. key: of it in links."""

    key: str
    title: str
    environment: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int, int, int]:
        """S, A, H and d, which is S A where nothing is linear."""
        S, A, H, d = (*ENVIRONMENTS[self.environment].size(**self._whole()), 0)[:4]
        return S, A, H, d or S * A

    def _whole(self) -> dict[str, Any]:
        return dict(
            RunSpec(environment=self.environment, environment_params=dict(self.params)).environment_params
        )


# Two that every tabular learner can take, one small enough for a list of all policies, and two with features, one of
# each kind.
PROBLEMS = {
    problem.key: problem
    for problem in (
        LandscapeProblem("clinic", "Clinic", "clinic"),
        LandscapeProblem("chain", "Combination lock", "chain"),
        LandscapeProblem("random-tiny", "Random MDP, tiny", "random", {"S": 2, "A": 2, "H": 3}),
        LandscapeProblem("linear-mixture", "Linear mixture", "linear-mixture"),
        LandscapeProblem("linear-mdp", "Linear MDP (lock)", "linear-mdp"),
    )
}


@dataclass(frozen=True)
class Entry:
    """A learner under one kind of trust, with one set of constants.

    Attributes:
        learner: key of it.
        privacy: whom to trust: central, shuffle or local; none for the learner that all are held against.
        bonus: a set of constants that it offers.
        default: whether that is the one it has by default.
    """

    learner: str
    privacy: str
    bonus: str
    default: bool

    @property
    def key(self) -> str:
        """Of it in links."""
        return f"{self.learner}:{self.privacy}:{self.bonus}"

    def spec(self, problem: LandscapeProblem, K: int) -> RunSpec:
        """Its run of K users, with all else by default. Raises SpecError where it cannot be run."""
        epsilon, delta = BUDGET
        noise = (
            {}
            if self.privacy == "none"
            else {"calibration": "calibrated", "epsilon": epsilon, "delta": delta}
        )
        return RunSpec(
            environment=problem.environment,
            environment_params=dict(problem.params),
            algorithm=self.learner,
            privacy=self.privacy,
            bonus=self.bonus,
            episodes=K,
            seeds=SEEDS,
            **noise,  # type: ignore[arg-type]
        )

    def checked(self, problem: LandscapeProblem, K: int) -> tuple[RunSpec | None, str]:
        """The run, or None and why there is none."""
        try:
            spec = self.spec(problem, K)
        except SpecError as error:
            return None, str(error).partition(": ")[2]
        seconds = estimate(spec).seconds * spec.seeds
        if seconds > MOST_SECONDS:
            return None, f"too slow: {SEEDS} seeds would take {duration(seconds)}."
        return spec, ""


def entries() -> list[Entry]:
    """Every learner of the registry that has privacy models, under each of them, and the first of them without."""
    private = [learner for learner in ALGORITHMS.values() if set(learner.privacies) - {"none"}]
    found = []
    for learner in private:
        models = [model for model in PRIVATIZERS if model in learner.privacies]
        for model in models:
            if model != "none" or learner is private[0]:
                found += [Entry(learner.key, model, bonus, i == 0) for i, bonus in enumerate(learner.bonuses)]
    return found


def absent(model: str) -> dict[str, str]:
    """The private learners that do not have this privacy model, each with why."""
    found = {}
    for learner in ALGORITHMS.values():
        if set(learner.privacies) - {"none"} and model not in learner.privacies:
            found[learner.key] = learner.refused.get(model, f"{learner.title} is not offered with it")
    return found


def bound_of(entry: Entry) -> Bound | None:
    """The bound on regret that a paper proves of the learner under this kind of trust."""
    for key in (f"{entry.learner}-{suffix}" for suffix in ("jdp", "sdp", "ldp")):
        if key in BOUNDS and BOUNDS[key].model == entry.privacy:
            return BOUNDS[key]
    found = BOUNDS.get(entry.learner)
    return found if found and found.upper and found.model == entry.privacy and found.of == "regret" else None


# How sources of learners are abbreviated where they are cited.
PAPERS = {
    "QW23-online": "Qiao, Wang 2023",
    "V20": "Vietri et al. 2020",
    "B25": "Bai et al. 2025",
    "L21": "Luyo et al. 2021",
}


def paper(learner: Learner) -> str:
    """Where it is from, with authors and year."""
    return re.sub("|".join(PAPERS), lambda found: PAPERS[found[0]] + ",", learner.source, count=1)


def year(learner: Learner) -> int | None:
    """Of the paper that is named first."""
    found = re.search(r"\b(?:19|20)\d\d\b", paper(learner))
    return int(found[0]) if found else None
