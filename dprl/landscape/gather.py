"""The computing: a run for every learner, problem and number of users, and then a search between two of these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dprl.claims.report import version
from dprl.fields import SpecError
from dprl.landscape.entry import DECADES, GRID, PROBLEMS, SEEDS, TARGET, Entry, LandscapeProblem, entries
from dprl.landscape.lower import all_bounds
from dprl.landscape.table import Cell, Landscape, NoisePromise, by_place
from dprl.metrics import search
from dprl.simulation import RunSpec, answered, kinds, online

Array = NDArray[np.float64]
Compute = Callable[[Sequence[RunSpec]], Mapping[RunSpec, Array]]  # regret at the end of each, [seeds]


@dataclass
class LearnerWork:
    """A learner on a problem, while it is computed. users: K of the table; specs, refused: by K; ends: of runs that are
    known, by K."""

    entry: Entry
    problem: LandscapeProblem
    v_star: float
    users: Sequence[int]
    specs: dict[int, RunSpec] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    ends: dict[int, Array] = field(default_factory=dict)

    def add(self, K: int) -> None:
        """Looks at whether there is a run of K users."""
        if K in self.specs or K in self.refused:
            return
        spec, why = self.entry.checked(self.problem, K)
        if spec is None:
            self.refused[K] = why
        else:
            self.specs[K] = spec

    @property
    def run(self) -> list[int]:
        """K of the table that there are runs of."""
        return [K for K in self.users if K in self.specs]

    def look(self, K: int) -> Array | None:
        """What an average episode of a run of K users loses, [seeds]; None while it is not known."""
        self.add(K)
        return self.ends[K] / K if K in self.ends else None

    def needed(self) -> search.UsersFound | None:
        """The search for the users that it takes, as far as it has come; None where it takes more than there are."""
        known = self.run
        lost = np.array([self.ends[K].mean() / K for K in known])
        above = np.flatnonzero(~(lost <= TARGET * self.v_star))
        if len(above) and above[-1] == len(known) - 1:
            return None
        first = known[above[-1]] if len(above) else known[0]
        last = known[min(above[-1] + 1, len(known) - 1)] if len(above) else known[0]
        grid = [K for K in GRID if first <= K <= 10 * last and K <= known[-1]]
        crossing = search.stays_below(np.array(known, float), lost, TARGET * self.v_star)
        return search.search_users(
            self.look, TARGET * self.v_star, grid, round(crossing), search.bootstrap(SEEDS)
        )

    def cell(self, proved: NoisePromise | None) -> Cell:
        """When all is known."""
        known = self.run
        needed = (np.nan, np.nan, np.nan)
        if known:
            found = self.needed()
            needed = (np.inf, np.inf, np.inf) if found is None else (found.needed, found.low, found.high)
        regret = np.array([self.ends[K] for K in known]).T if known else np.zeros((0, 0))
        refused = {K: why for K, why in self.refused.items() if K in self.users}
        at = np.array(known, float)
        return Cell(self.entry.key, self.problem.key, at, regret, self.v_star, refused, needed, proved)


def run_promise(spec: RunSpec) -> NoisePromise:
    """What the noise of a run claims and proves."""
    card = answered(kinds.answer("guarantee", spec))
    return NoisePromise(
        card["model"],
        card["mechanism"],
        float(f"{card['proved_epsilon']:.4g}"),
        card["proved_delta"],
        (card["claimed_epsilon"], card["claimed_delta"]),
    )


def proofs(found: Iterable[LearnerWork]) -> dict[tuple[str, str, str], NoisePromise]:
    """By learner, trust and problem what the noise of the largest run proves; constants do not matter to it."""
    promises: dict[tuple[str, str, str], NoisePromise] = {}
    for work in found:
        key = (work.entry.learner, work.entry.privacy, work.problem.key)
        if work.entry.privacy != "none" and work.run and key not in promises:
            promises[key] = run_promise(work.specs[work.run[-1]])
    return promises


def paper_promises(found: Iterable[LearnerWork]) -> dict[str, NoisePromise]:
    """By learner and trust, what noise as in the paper claims and proves, on the first problem that has a run of it."""
    promises: dict[str, NoisePromise] = {}
    for work in found:
        name = f"{work.entry.learner}:{work.entry.privacy}"
        if work.entry.privacy == "none" or not work.run or name in promises:
            continue
        spec = work.specs[work.run[-1]]
        try:  # mechanism and delta are chosen anew, as papers state some mechanisms and not others
            told = spec.to_dict() | {
                "calibration": "paper",
                "mechanism": None,
                "delta": None,
                "reports": None,
            }
            promises[name] = run_promise(RunSpec.from_dict(told))
        except SpecError:
            continue
    return promises


def gather_landscape(
    compute: Compute,
    problems: Collection[LandscapeProblem] = tuple(PROBLEMS.values()),
    chosen: Sequence[Entry] | None = None,
    users: Sequence[int] = DECADES,
) -> Landscape:
    """Runs all there is to run, and reads off it. compute: see Compute; chosen: all learners unless said; users: K of
    the table, powers of ten."""
    found = []
    learners = entries() if chosen is None else chosen
    for problem in problems:
        params = dict(problem.params)
        v_star = online.v_star(RunSpec(environment=problem.environment, environment_params=params))
        for entry in learners:
            work = LearnerWork(entry, problem, v_star, users)
            for K in users:
                work.add(K)
            found.append(work)
    asked = [(work, K) for work in found for K in work.run]
    while asked:
        ends = compute([work.specs[K] for work, K in asked])
        for work, K in asked:
            work.ends[K] = ends[work.specs[K]]
        asked = []
        for work in found:
            looked = work.needed() if work.run else None
            if looked is not None and looked.pending is not None and looked.pending in work.specs:
                asked.append((work, looked.pending))
    proved = proofs(found)
    cells = [
        work.cell(proved.get((work.entry.learner, work.entry.privacy, work.problem.key))) for work in found
    ]
    return Landscape(
        version(),
        tuple(users),
        {entry.key: entry for entry in learners},
        {(cell.entry, cell.problem): cell for cell in cells},
        paper_promises(found),
        by_place(all_bounds(problems, users)),
    )


def added(
    known: Landscape, compute: Compute, problems: Collection[LandscapeProblem] = tuple(PROBLEMS.values())
) -> Landscape:
    """A table with those of today's learners that it does not have, of which alone anything is run; the others stay as
    they were computed. compute: see Compute."""
    today = entries()
    missing = [entry for entry in today if entry.key not in known.entries]
    found = gather_landscape(compute, problems, missing, known.users)
    cells = dict(known.cells) | dict(found.cells)
    return Landscape(
        known.version,
        known.users,
        {entry.key: entry for entry in today},
        {key: cells[key] for key in ((entry.key, problem.key) for problem in problems for entry in today)},
        dict(known.paper_noise) | dict(found.paper_noise),
        found.lower,
    )
