"""Whether the noise that RLSVI explores with hides its users, and what it costs beside noise that is proved to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.claims.claim import Evidence, Plot, Series, Setting, problem
from dprl.claims.regret import USERS
from dprl.learners import ALGORITHMS
from dprl.metrics import Finding, Measured, at_most, of_threshold, t_interval
from dprl.simulation import RunSpec
from dprl.simulation.prepare import size_of
from dprl.words import human

MOST = 10_000.0  # the largest epsilon of a spec: beyond it calibrated noise is given less than is claimed


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


def claimed(spec: RunSpec) -> float:
    """The epsilon that is claimed of a run of RLSVI."""
    stated = ALGORITHMS[spec.algorithm].stated
    assert stated is not None
    return stated(size_of(spec), spec.episodes)[0]


def sizes(spec: RunSpec) -> str:
    """In letters."""
    size = size_of(spec)
    return f"S = {size.S}, A = {size.A}, H = {size.H}, K = {human(spec.episodes)}"


def attacked(spec: RunSpec) -> Setting:
    """What others are told tells two of a user's episodes apart by no more than is claimed."""

    def judge(evidence: Evidence) -> Finding:
        answer = evidence.answers[spec]
        choosing, measuring = np.array(answer["told"])
        return at_most(of_threshold(choosing, measuring, answer["delta"]), answer["claimed"])

    return Setting(
        f"Scripted users · {sizes(spec)}",
        "budget ε found in what another user is told",
        f"at most {human(claimed(spec))}",
        (spec,),
        judge,
        question="exploration",
        form="share",
    )


def published(spec: RunSpec) -> Setting:
    """What the drawn values of one state and action reveal, exactly, if they were published."""

    def judge(evidence: Evidence) -> Finding:
        answer = evidence.answers[spec]
        exact = answer["values"]
        return at_most(Measured(exact, exact, exact), answer["claimed"])

    return Setting(
        f"One state that only one user visits · {sizes(spec)}",
        "budget ε of drawn values, if they were published",
        f"at most {human(claimed(spec))}",
        (spec,),
        judge,
        question="exploration",
        form="share",
    )


def calibrated(spec: RunSpec, bonus: str) -> RunSpec:
    """DP-UCBVI with a trusted agent at the budget that is claimed of a run of RLSVI, or MOST."""
    stated = ALGORITHMS[spec.algorithm].stated
    assert stated is not None
    epsilon, delta, _ = stated(size_of(spec), spec.episodes)
    return RunSpec(
        environment=spec.environment, environment_params=spec.environment_params, episodes=spec.episodes,
        epsilon=min(float(f"{epsilon:.3g}"), MOST), delta=delta, bonus=bonus, seeds=spec.seeds,
    )  # fmt: skip


def costs(runs: Sequence[RunSpec], place: int, bonus: str = "anytime") -> Setting:
    """RLSVI loses no more than calibrated noise does at the same budget, by its run at a place among several K.

    bonus: of DP-UCBVI, the one that is proved, or the paper's constants; those of RLSVI are its paper's.
    """
    mine = runs[place]
    other = calibrated(mine, bonus)
    constants = "" if bonus == "anytime" else " · paper constants"

    def judge(evidence: Evidence) -> Finding:
        ratios = np.log(evidence.runs[mine].ends / evidence.runs[other].ends)
        value, low, high = (float(np.exp(x)) for x in t_interval(ratios))
        return at_most(Measured(value, low, high), 1.0)

    def draw(evidence: Evidence) -> Plot:
        x = np.array([float(run.episodes) for run in runs])
        series = []
        for label, specs in (
            ("RLSVI", list(runs)),
            ("DP-UCBVI at the claimed ε", [calibrated(run, bonus) for run in runs]),
        ):
            rows = np.column_stack(
                [evidence.runs[s].ends / s.episodes / evidence.runs[s].v_star for s in specs]
            )
            series.append(Series(specs[0], label, x, rows, one_budget=label == "RLSVI"))
        return Plot(
            "What an average episode has lost, each K a run", USERS, "Share of V* lost", tuple(series)
        )

    return Setting(
        f"{problem(mine)} · K = {human(mine.episodes)} · ε = {human(other.epsilon or 0.0)}{constants}",
        "regret over that of calibrated noise at this ε",
        "at most 1 (not in the paper)",
        tuple(spec for run in runs for spec in (run, calibrated(run, bonus))),
        judge,
        draw,
        whole=False,
        form="ratio",
    )
