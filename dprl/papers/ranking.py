"""The number of users that every private algorithm needs at the same proved guarantee in the same environments.

A run's noise, constants and policy updates depend on its K, so regret at K never comes from a longer run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.metrics import search
from dprl.metrics.curves import FEWEST_FOR_MEDIAN, Array
from dprl.papers.report import version
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.runs.database import setting
from dprl.simulation import RunSpec, estimate, kinds, online
from dprl.simulation.axes import REPORTS
from dprl.words import human, percent, promise, rough

Compute = Callable[[Sequence[RunSpec]], Mapping[RunSpec, Array]]  # final regret of each run, [seeds]

KEY = "algorithms"  # argument of `dprl reproduce` for the ranking
SAYS = "Users needed by every private algorithm at the same proved guarantee and in the same environments."
BUDGET = (1.0, 1e-6)  # epsilon and delta that every run proves
SEEDS = FEWEST_FOR_MEDIAN
TARGET = 0.1  # share of V* that an average episode may lose
TRUSTS = ("central", "shuffle", "local")
DECADES = tuple(10**k for k in range(3, 16))
GRID = tuple(round(10 ** (j / 8)) for j in range(8 * 3, 8 * 15 + 1))  # numbers of users to try
MOST_SECONDS = 120.0  # on one core, for all seeds of one run


@dataclass(frozen=True)
class RankedEnvironment:
    """An environment of a given size; `key` is its name in links."""

    key: str
    title: str
    environment: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def base(self) -> RunSpec:
        """Return a spec with this environment and defaults for everything else."""
        return RunSpec(environment=self.environment, environment_params=dict(self.params))

    @property
    def size(self) -> str:
        """Return the environment's size as text, such as S = 8, A = 3, H = 8."""
        S, A, H = ENVIRONMENTS[self.environment].size(**self.base.environment_params)[:3]
        return f"S = {human(S)}, A = {human(A)}, H = {human(H)}"


# Two environments for tabular algorithms, one small enough to list all policies, and one for each kind of linear model
PROBLEMS = {
    problem.key: problem
    for problem in (
        RankedEnvironment("clinic", "Clinic", "clinic"),
        RankedEnvironment("chain", "Combination lock", "chain"),
        RankedEnvironment("random-tiny", "Random MDP, tiny", "random", {"S": 2, "A": 2, "H": 3}),
        RankedEnvironment("linear-mixture", "Linear mixture", "linear-mixture"),
        RankedEnvironment("linear-mdp", "Linear MDP (lock)", "linear-mdp"),
    )
}


@dataclass(frozen=True)
class Rank:
    """The rank of one algorithm under one privacy model in one environment.

    episodes is K of its longest run. needed is the number of users from which an average episode loses at most TARGET
    of V*, in the mean over seeds, with the 95% bootstrap interval from low to high. All three may be infinite.
    """

    problem: str
    algorithm: str
    privacy: str
    episodes: int
    needed: float
    low: float
    high: float

    @property
    def spec(self) -> RunSpec:
        """Return the spec of the algorithm's longest run."""
        return ranked_spec(self.problem, self.algorithm, self.privacy, self.episodes)

    @property
    def title(self) -> str:
        """Return the algorithm's title, with a note if it is our reconstruction."""
        learner = ALGORITHMS[self.algorithm]
        return f"{learner.title} (our reconstruction)" if learner.reconstructed else learner.title

    @property
    def mechanism(self) -> str:
        """Describe the noise mechanism and the reports that each row of counts includes."""
        spec = self.spec
        parts = (MECHANISMS[str(spec.mechanism)].title, REPORTS.get(spec.reports))
        return ", ".join(filter(None, parts))

    @property
    def words(self) -> str:
        """Return the number of users needed as a text, such as "more than 1,000 users"."""
        if np.isinf(self.needed):
            return f"more than {human(self.episodes)} users"
        fewer = " or fewer" if self.needed <= DECADES[0] else ""
        return f"{rough(self.needed)} users{fewer}"


@dataclass(frozen=True)
class Ranking:
    """The ranks of all algorithms, and the version of the software that computed them."""

    version: Mapping[str, str]
    ranks: tuple[Rank, ...]

    def of(self, problem: str) -> list[Rank]:
        """Return the ranks in one environment, ordered by the number of users needed, smallest first."""
        return sorted((one for one in self.ranks if one.problem == problem), key=lambda one: one.needed)

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON data for `from_dict`; infinity becomes "more"."""
        ranks = [{k: "more" if v == np.inf else v for k, v in asdict(one).items()} for one in self.ranks]
        return {"version": dict(self.version), "ranks": ranks}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Ranking:
        """Restore a ranking from the output of `to_dict`."""
        ranks: list[dict[str, Any]] = [
            {k: np.inf if v == "more" else v for k, v in one.items()} for one in given["ranks"]
        ]
        return cls(given["version"], tuple(Rank(**one) for one in ranks))


def ranked_spec(problem: str, algorithm: str, privacy: str, K: int) -> RunSpec:
    """Return the run with K users and defaults for everything else. Raises SpecError if there is no such run."""
    epsilon, delta = BUDGET
    return PROBLEMS[problem].base.replace(
        algorithm=algorithm, privacy=privacy, calibration="calibrated", epsilon=epsilon, delta=delta,
        bonus=ALGORITHMS[algorithm].bonuses[0], episodes=K, seeds=SEEDS,
    )  # fmt: skip


def contenders() -> list[tuple[str, str]]:
    """Return all pairs of a private algorithm and a privacy model that it supports."""
    return [
        (learner.key, model)
        for learner in ALGORITHMS.values()
        for model in TRUSTS
        if model in learner.privacies
    ]


@dataclass
class Candidate:
    """An algorithm whose rank is being computed in one environment. `specs` and `ends` (final regret) have K as key."""

    problem: str
    algorithm: str
    privacy: str
    v_star: float
    specs: dict[int, RunSpec] = field(default_factory=dict)
    ends: dict[int, Array] = field(default_factory=dict)

    def add(self, K: int) -> None:
        """Add the run with K users unless it is impossible or too slow."""
        try:
            spec = ranked_spec(self.problem, self.algorithm, self.privacy, K)
        except SpecError:
            return
        if estimate(spec).seconds * spec.seeds <= MOST_SECONDS:
            self.specs.setdefault(K, spec)

    def look(self, K: int) -> Array | None:
        """Return the average loss per episode in a run with K users, [seeds]; None while it is unknown."""
        self.add(K)
        return self.ends[K] / K if K in self.ends else None

    def found(self) -> search.UsersFound | None:
        """Return the state of the search for the number of users needed, or None if even the largest K is too small."""
        most = TARGET * self.v_star
        lost = {K: float(self.ends[K].mean() / K) for K in sorted(self.specs) if K in DECADES}
        low, high = search.bracket(lost, most)
        if high is None:
            return None
        grid = [K for K in GRID if (low or high) <= K <= 10 * high and K <= max(lost)]
        crossing = search.stays_below(np.array([*lost], float), np.array([*lost.values()]), most)
        return search.search_users(self.look, most, grid, round(crossing), search.bootstrap(SEEDS))

    def rank(self) -> Rank:
        """Return the rank once all runs are known."""
        found = self.found()
        users = (np.inf,) * 3 if found is None else (found.needed, found.low, found.high)
        most = max(K for K in self.specs if K in DECADES)
        needed, low, high = (float(f"{value:.5g}") for value in users)
        return Rank(self.problem, self.algorithm, self.privacy, most, needed, low, high)


def rank(compute: Compute) -> Ranking:
    """Compute all runs and rank the algorithms. `compute` returns the final regret [seeds] of each run."""
    work = [
        Candidate(problem, *who, online.v_star(PROBLEMS[problem].base))
        for problem in PROBLEMS
        for who in contenders()
    ]
    for one in work:
        for K in DECADES:
            one.add(K)
    asked = [(one, K) for one in work for K in list(one.specs)]
    while asked:
        ends = compute([one.specs[K] for one, K in asked])
        for one, K in asked:
            one.ends[K] = ends[one.specs[K]]
        looks = [(one, one.found()) for one in work if one.specs]
        asked = [(one, look.pending) for one, look in looks if look and look.pending in one.specs]
    return Ranking(version(), tuple(one.rank() for one in work if one.specs))


def final_regret(spec: RunSpec) -> Array:
    """Return the final regret [seeds] without a trace, because a trace's guarantee may take long to compute."""
    found = np.empty(spec.seeds)
    for seed in range(spec.seeds):
        run = kinds.start(spec, seed)
        while not run.advance(1.0):
            pass
        found[seed] = run.curve().values[-1]
    return found


def _final(specs: Sequence[RunSpec]) -> list[Array]:
    return [final_regret(spec) for spec in specs]


@contextmanager
def workers(count: int, progress: Callable[[float], None] | None = None) -> Iterator[Compute]:
    """Yield a function that computes runs in `count` processes and calls `progress` with the completed share. Runs with
    the same noise are computed in the same process."""
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:

        def compute(specs: Sequence[RunSpec]) -> dict[RunSpec, Array]:
            groups: dict[Hashable, list[RunSpec]] = {}
            for spec in dict.fromkeys(specs):
                noise = (spec.environment, spec.algorithm, spec.privacy, spec.episodes)
                groups.setdefault(noise, []).append(spec)
            found: dict[RunSpec, Array] = {}
            for group, ends in zip(groups.values(), pool.map(_final, groups.values()), strict=True):
                found |= zip(group, ends, strict=True)
                if progress:
                    progress(len(found) / len(set(specs)))
            return found

        yield compute


def reproduce(progress: Callable[[float], None] | None) -> dict[str, Any]:
    """Compute and print the ranking, and return its file, keyed by name."""
    with workers(setting("DPRL_WORKERS", 2, 1, 256), progress) as compute:
        found = rank(compute)
    print(
        f"Users needed, with {promise(*BUDGET)} proved, for an average episode to lose at most {percent(TARGET)} of V*:"
    )
    for key, problem in PROBLEMS.items():
        print(f"{problem.title} ({problem.size})")
        for one in found.of(key):
            print(f"  {one.title}, {PRIVATIZERS[one.privacy].title}: {one.words}")
    return {f"{KEY}.json": found.to_dict()}
