"""The table: a row for every learner, at one number of users on one problem; as data, as CSV and for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dprl.landscape.entry import (
    BUDGET,
    PROBLEMS,
    TARGET,
    Entry,
    LandscapeProblem,
    absent,
    bound_of,
    paper,
    year,
)
from dprl.landscape.table import Cell, Landscape, NoisePromise
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import OWN
from dprl.metrics import median_band
from dprl.privacy import PRIVATIZERS
from dprl.simulation.axes import REPORTS
from dprl.simulation.pairs import uncovered
from dprl.theory import Bound
from dprl.words import human, interval, percent, promise, proves, rough, to_the

CONSTANTS = {
    "anytime": "anytime bonus",
    "paper": "paper constants",
    "practical": "constants of its own",
    OWN: "its own bonus, not proved",
}
TRUSTS = ("central", "shuffle", "local")


@dataclass(frozen=True)
class Row:
    """A learner under one kind of trust, on one problem, at one K.

    Attributes:
        regret, low, high: the median over seeds with its 95% interval; NaN where there is no run.
        share: of K V*, all there is to lose.
        growth: exponent of K with which regret grew since the K before, NaN where that is not known.
        lower: what no algorithm with this privacy model stays below here and on one neighbour; NaN where none is known.
        why: why there is no run, "" where there is.
    """

    entry: Entry
    cell: Cell
    K: int
    regret: float
    low: float
    high: float
    share: float
    growth: float
    lower: float
    bound: Bound | None
    paper_noise: NoisePromise | None
    why: str

    @property
    def learner(self) -> str:
        """Its title."""
        return ALGORITHMS[self.entry.learner].title

    @property
    def trust(self) -> str:
        """In words."""
        return PRIVATIZERS[self.entry.privacy].title

    @property
    def needed(self) -> float:
        """Users that it takes."""
        return self.cell.needed[0]

    @property
    def above(self) -> float:
        """How many times the lower bound the median is."""
        return self.regret / self.lower

    @property
    def mechanism(self) -> str:
        """How its noise is drawn, and whose reports a row counts; "" without noise, or where it was not run."""
        found = self.cell.proved
        if found is None:
            return ""
        spec = self.entry.spec(PROBLEMS[self.cell.problem], int(self.cell.at[-1]))
        return ", ".join(filter(None, (found.mechanism, REPORTS.get(spec.reports))))

    @property
    def proved(self) -> str:
        """What is proved for it as it was run."""
        found = self.cell.proved
        return (
            "" if found is None else f"{proves(found.epsilon, found.delta)}-{found.model}: {found.mechanism}"
        )

    @property
    def claimed(self) -> str:
        """What its paper says of it."""
        said = []
        if self.bound:
            said.append(f"regret {self.bound.formula} ({self.bound.paper})")
        if self.paper_noise:
            claims, own = self.paper_noise.claimed, (self.paper_noise.epsilon, self.paper_noise.delta)
            said.append(
                f"for noise as in the paper {promise(*claims)} is claimed, and {proves(*own)} is proved"
            )
        if self.uncovered:
            said.append(self.uncovered)
        return "; ".join(said) or "no bound of a paper is listed for this privacy model"

    @property
    def uncovered(self) -> str:
        """What its bonus does not cover of the noise that it was run with, in sentences."""
        return uncovered(self.entry.learner, self.entry.privacy, "calibrated", self.entry.bonus)

    @property
    def note(self) -> str:
        """What else to know of it, in a few words."""
        needed = "not run" if np.isnan(self.needed) else "more than 10¹⁵" if np.isinf(self.needed) else ""
        rebuilt = "our reconstruction" if ALGORITHMS[self.entry.learner].reconstructed else ""
        return ", ".join(filter(None, (rebuilt, needed, "optimism not proved" if self.uncovered else "")))

    @property
    def measured(self) -> str:
        """What runs say of it."""
        if self.why:
            return f"not run: {self.why}"
        lost = f"{percent(self.share)} of K·V* lost at K = {human(self.K)}"
        told = users_words(self.cell)
        said = f"{lost}. {told[0].upper()}{told[1:]}."
        if np.isnan(self.growth):
            return said
        if abs(self.growth) < 0.005:
            return f"{said} Regret has stopped growing."
        return f"{said} Regret grew like {to_the('K', self.growth)} since the K before."


def users_words(cell: Cell) -> str:
    """How many users it takes, in words."""
    needed, low, high = cell.needed
    goal = f"an average episode loses at most {percent(TARGET)} of V*"
    if np.isnan(needed):
        return "not run"
    if np.isinf(needed):
        return f"{goal} beyond {human(float(cell.at[-1]))} users only, if ever"
    if needed <= cell.at[0]:
        return f"{goal} from {human(float(cell.at[0]))} users or fewer"
    ends = float(f"{low:.2g}"), float(f"{high:.2g}")
    users = f"{rough(needed)} users"
    return f"{goal} from {interval(users, *ends) if ends[0] < ends[1] else users}"


def in_table(entry: Entry) -> bool:
    """Whether it is in the table, and not only what that is held against."""
    return entry.privacy in TRUSTS


def rows(table: Landscape, problem: str, K: int, as_in_paper: bool = False) -> list[Row]:
    """Of one problem at one K, one of the table's. as_in_paper: with the papers' constants, else with the default."""
    found = []
    for entry in table.entries.values():
        wanted = entry.bonus == "paper" if as_in_paper else entry.default
        if wanted and in_table(entry):
            found.append(_table_row(table, entry, table.cells[entry.key, problem], K))
    return found


def _table_row(table: Landscape, entry: Entry, cell: Cell, K: int) -> Row:
    places = {int(k): i for i, k in enumerate(cell.at)}
    nothing = (np.nan, np.nan, np.nan)
    at = places.get(K)
    found = nothing if at is None else tuple(float(v[0]) for v in median_band(cell.regret[:, [at]]))
    median, low, high = found
    growth = np.nan
    if at:
        then, now = np.median(cell.regret[:, [at - 1, at]], axis=0)
        growth = (
            float(np.log(now / then) / np.log(cell.at[at] / cell.at[at - 1])) if then > 0 < now else np.nan
        )
    why = "" if at is not None else cell.refused.get(K, "this was not run")
    noise = table.paper_noise.get(f"{entry.learner}:{entry.privacy}")
    share = median / (K * cell.v_star)
    known = table.lower.get((cell.problem, entry.privacy, K))
    lower = known.regret if known else np.nan
    return Row(entry, cell, K, median, low, high, share, growth, lower, bound_of(entry), noise, why)


COLUMNS = (
    "problem", "K", "learner", "trust", "mechanism", "constants", "regret (median)", "low (95%)", "high (95%)",
    "share of K V* lost", "users needed", "needed, low (95%)", "needed, high (95%)", "exponent since the K before",
    "lower bound", "times the lower bound", "bound on regret", "exponent of the bound", "year", "source", "proved",
    "claimed", "measured", "why not",
)  # fmt: skip


def record(row: Row) -> tuple[object, ...]:
    """A row as data, in the order of COLUMNS."""
    learner = ALGORITHMS[row.entry.learner]
    problem = PROBLEMS[row.cell.problem]
    return (
        problem.title, row.K, row.learner, row.trust, row.mechanism, CONSTANTS.get(row.entry.bonus, row.entry.bonus),
        row.regret, row.low, row.high, row.share, *row.cell.needed, row.growth, row.lower, row.above,
        row.bound.formula if row.bound else "", row.bound.growth if row.bound else np.nan, year(learner),
        paper(learner), row.proved, row.claimed, row.measured, row.why,
    )  # fmt: skip


def frame(found: list[Row]) -> pd.DataFrame:
    """Rows as a table, in their order."""
    return pd.DataFrame([record(row) for row in found], columns=list(COLUMNS))


def all_rows(table: Landscape) -> pd.DataFrame:
    """Every learner, set of constants, problem and K, a row each."""
    found = [
        _table_row(table, entry, table.cells[entry.key, problem], K)
        for problem in PROBLEMS
        for entry in table.entries.values()
        if in_table(entry) and (entry.key, problem) in table.cells
        for K in table.users
    ]
    return frame(found)


def terminal_text(table: Landscape) -> str:
    """For a terminal: for each problem and trust the learners, those that need the fewest users first."""
    lines = [
        f"Every private algorithm at {promise(*BUDGET)} proved; "
        f"users needed until an average episode loses at most {percent(TARGET)} of V*:"
    ]
    for key, problem in PROBLEMS.items():
        lines.append(f"{problem.title} ({size_words(problem)})")
        for trust in TRUSTS:
            lines.append(f"  {PRIVATIZERS[trust].title}")
            lines += [f"    {line}" for line in _lines(table, key, trust)]
    return "\n".join(lines)


def _lines(table: Landscape, problem: str, trust: str) -> Iterator[str]:
    found = [row for row in rows(table, problem, table.users[-1]) if row.entry.privacy == trust]
    for row in sorted(found, key=lambda row: (np.isnan(row.needed), row.needed)):
        yield f"{row.learner}: {users_words(row.cell) if not row.cell.why else f'not run, {row.cell.why}'}"
    for learner, why in absent(trust).items():
        yield f"{ALGORITHMS[learner].title}: {why}"


def size_words(problem: LandscapeProblem) -> str:
    """S = 8, A = 3, H = 8."""
    S, A, H, _ = problem.size
    return f"S = {human(S)}, A = {human(A)}, H = {human(H)}"
