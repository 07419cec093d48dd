"""Whether the noise that RLSVI explores with hides its users, and what it costs beside noise that is proved to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dprl.claims.claim import Setting, SettingPlot, SpecSeries, environment_of
from dprl.claims.regret import USERS
from dprl.curves import Evidence
from dprl.learners import ALGORITHMS
from dprl.metrics import Finding, Measured, at_most, of_threshold, ratio
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.prepare import size_of
from dprl.words import human

# The budgets of a spec: beyond them calibrated noise is given another than is claimed.
LEAST, MOST = FIELDS["epsilon"].low or 0.0, FIELDS["epsilon"].high or np.inf
BLOCK = 0.002  # of the users so far play the policy of one draw: docs/notes/rlsvi.md
BLOCKS = f"geometric:{BLOCK:g}"
KEY = "rlsvi-private"  # of the claim
TOLD = "budget ε found in what another user is told"
FEWEST = 100  # users that anything is planned for


def scripted(H: int, K: int) -> RunSpec:
    """RLSVI of the size of the game of `simulation.exploration`."""
    params = {"S": 4, "A": 2, "H": H}
    return RunSpec(
        environment="random",
        environment_params=params,
        algorithm="rlsvi",
        schedule="episodic",
        episodes=K,
        seeds=1,
    )


def claimed_budget(spec: RunSpec) -> tuple[float, float, str]:
    """The epsilon that is claimed of a run of RLSVI, the delta, and by whom."""
    stated = ALGORITHMS[spec.algorithm].stated
    assert stated is not None
    return stated(size_of(spec), spec.episodes)


def claimed(spec: RunSpec) -> float:
    """The epsilon alone."""
    return claimed_budget(spec)[0]


def sizes_text(spec: RunSpec) -> str:
    """In letters."""
    size = size_of(spec)
    return f"S = {size.S}, A = {size.A}, H = {size.H}, K = {human(spec.episodes)}"


def attacked(spec: RunSpec) -> Setting:
    """What others are told tells two of a user's episodes apart by no more than is claimed."""

    def judge(evidence: Evidence) -> Finding:
        answer = evidence.answers["exploration", spec]
        choosing, measuring = np.array(answer["told"])
        return at_most(of_threshold(choosing, measuring, answer["delta"]), answer["claimed"])

    return Setting(
        f"Scripted users · {sizes_text(spec)}",
        TOLD,
        f"at most {human(claimed(spec))}",
        (spec,),
        judge,
        question="exploration",
        form="share",
        over="trials",
    )


def published(spec: RunSpec) -> Setting:
    """What the drawn values of one state and action reveal, exactly, if they were published."""

    def judge(evidence: Evidence) -> Finding:
        answer = evidence.answers["exploration", spec]
        exact = answer["values"]
        return at_most(Measured(exact, exact, exact), answer["claimed"])

    return Setting(
        f"One state that only one user visits · {sizes_text(spec)}",
        "budget ε of drawn values, if they were published",
        f"at most {human(claimed(spec))}",
        (spec,),
        judge,
        question="exploration",
        form="share",
        over="",
    )


def calibrated(spec: RunSpec, bonus: str) -> RunSpec:
    """DP-UCBVI with a trusted curator at the budget that is claimed of a run of RLSVI, or MOST."""
    epsilon, delta, _ = claimed_budget(spec)
    return RunSpec(
        environment=spec.environment, environment_params=spec.environment_params, episodes=spec.episodes,
        epsilon=min(float(f"{epsilon:.3g}"), MOST), delta=delta, bonus=bonus, seeds=spec.seeds,
        root_seed=spec.root_seed, structure=spec.structure, stationary=spec.stationary,
    )  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """Runs that are planned for the same K users.

    Attributes:
        own: RLSVI, whose own noise is all there is.
        calibrated: DP-UCBVI with a trusted curator at the budget that is claimed of the other.
    """

    own: RunSpec
    calibrated: RunSpec

    @property
    def users(self) -> int:
        """K."""
        return self.own.episodes

    @property
    def epsilon(self) -> float:
        """The budget of both, to three digits."""
        assert self.calibrated.epsilon is not None
        return self.calibrated.epsilon


@dataclass(frozen=True)
class Planned:
    """Pairs for ever more users.

    Attributes:
        beyond: Where they end: the first number of users, and the epsilon claimed for it, for which calibrated noise
            cannot be had; None where K of the problem comes first.
        delta, by: The other half of each budget, and who claims it of RLSVI.
    """

    pairs: tuple[Pair, ...]
    beyond: tuple[int, float] | None
    delta: float
    by: str


def planned(problem: RunSpec) -> Planned:
    """RLSVI beside calibrated noise at the budget that is claimed of it, for 100, 200, 500, ... users up to those of a
    run, whose environment, bonus and seeds they have.

    Raises:
        SpecError: DP-UCBVI cannot be run like that.
    """
    first = RunSpec(
        environment=problem.environment, environment_params=problem.environment_params, algorithm="rlsvi",
        schedule=BLOCKS, episodes=FEWEST, seeds=problem.seeds, root_seed=problem.root_seed,
        structure=problem.structure,
    )  # fmt: skip
    _, delta, by = claimed_budget(first)
    pairs, beyond = [], None
    for users in user_numbers(problem.episodes):
        own = first.replace(episodes=users)
        epsilon = claimed(own)
        if epsilon > MOST:
            beyond = users, epsilon
            break
        if epsilon >= LEAST:
            pairs.append(Pair(own, calibrated(own, problem.bonus)))
    return Planned(tuple(pairs), beyond, delta, by)


def user_numbers(most: int) -> Iterator[int]:
    """FEWEST users, twice, five times, ten times as many, and so on."""
    decade = FEWEST
    while decade <= most:
        yield from (factor * decade for factor in (1, 2, 5) if factor * decade <= most)
        decade *= 10


def costs(runs: Sequence[RunSpec], place: int, bonus: str = "anytime") -> Setting:
    """RLSVI loses no more than calibrated noise does at the same budget, by its run at a place among several K.

    bonus: of DP-UCBVI, the one that is proved, or the paper's constants; those of RLSVI are its paper's.
    """
    mine = runs[place]
    other = calibrated(mine, bonus)
    constants = "" if bonus == "anytime" else " · paper constants"

    def judge(evidence: Evidence) -> Finding:
        return at_most(ratio(evidence.runs[mine].ends, evidence.runs[other].ends), 1.0)

    def draw(evidence: Evidence) -> SettingPlot:
        x = np.array([float(run.episodes) for run in runs])
        series = []
        for label, specs in (
            ("RLSVI", list(runs)),
            ("DP-UCBVI at the claimed ε", [calibrated(run, bonus) for run in runs]),
        ):
            rows = np.column_stack(
                [evidence.runs[s].ends / s.episodes / evidence.runs[s].v_star for s in specs]
            )
            series.append(SpecSeries(specs[0], label, x, rows, one_budget=label == "RLSVI"))
        return SettingPlot(
            "What an average episode has lost, each K a run", USERS, "Share of V* lost", tuple(series)
        )

    return Setting(
        f"{environment_of(mine)} · K = {human(mine.episodes)} · ε = {human(other.epsilon or 0.0)}{constants}",
        "regret over that of calibrated noise at this ε",
        "at most 1 (not in the paper)",
        tuple(spec for run in runs for spec in (run, calibrated(run, bonus))),
        judge,
        draw,
        whole=False,
        form="ratio",
    )
