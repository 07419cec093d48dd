"""Experiments on hard instances for joint differential privacy: mistakes on bandits with one best arm.

Arm 0 is the best, and every other arm loses alpha/2, so regret divided by alpha/2 is the number of mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.learners import ALGORITHMS
from dprl.metrics.curves import Array, Evidence
from dprl.metrics.verdicts import Finding, every_more_than, fewest_pulls
from dprl.papers.claim import Setting, SettingPlot, SpecSeries, heading
from dprl.papers.regret import Points, exponent_of, inverse, trust_label
from dprl.simulation import RunSpec
from dprl.words import human

ARM_0_IS_BEST = {1: 1, 3: 11, 7: 23}  # the environment's seed for each number of worse arms


def instance(learner: RunSpec, gap: float, arms: int = 3) -> RunSpec:
    """Return a run on a bandit with `arms` worse arms, each of which pays `gap` less per episode than the best arm."""
    params = {"n": 1, "m": arms, "alpha": 2 * gap, "H": 2, "seed": ARM_0_IS_BEST[arms]}
    return learner.replace(environment="hard-jdp", environment_params=params)


def gap_of(spec: RunSpec) -> float:
    """Return how much less a worse arm pays than the best arm."""
    return float(spec.environment_params["alpha"]) / 2


def mistakes(evidence: Evidence, spec: RunSpec) -> Array:
    """Return how often a run plays worse arms, [seeds]."""
    return evidence.runs[spec].ends / gap_of(spec)


def extra(evidence: Evidence, spec: RunSpec) -> Array:
    """Return how many more times a run plays worse arms than its non-private baseline does, [seeds]."""
    return mistakes(evidence, spec) - mistakes(evidence, spec.baseline())


def setting_heading(spec: RunSpec, *notes: str) -> str:
    """Return a heading with the number of arms, the algorithm, the notes, and the number of users."""
    arms = int(spec.environment_params["m"]) + 1
    title = ALGORITHMS[spec.algorithm].title
    return heading(f"A bandit of {arms} arms", title, *notes, f"K = {human(spec.episodes)}")


def in_power(specs: Sequence[RunSpec], symbol: str) -> Setting:
    """Test that suboptimal episodes grow at most like 1/α^2, and those added by privacy like 1/α or 1/ε (`symbol`)."""
    first, private = specs[0], specs[0].baseline() != specs[0]
    constant = trust_label(first) if symbol == "α" else f"α = {gap_of(first):g}"

    def points(evidence: Evidence) -> Points:
        x = inverse(specs) if symbol == "ε" else np.array([1 / gap_of(spec) for spec in specs])
        of = extra if private else mistakes
        return x, np.column_stack([of(evidence, spec) for spec in specs])

    return exponent_of(
        points,
        1.0 if private else 2.0,
        specs,
        title=setting_heading(first, constant),
        statistic=f"exponent of {'extra ' * private}suboptimal episodes in 1/{symbol}",
        labels=(
            f"Suboptimal episodes{' that privacy adds' * private}",
            f"1/{symbol}",
            "Episodes more than α suboptimal",
        ),
    )


def pulls(evidence: Evidence, spec: RunSpec) -> Array:
    """Return how often a run plays each worse arm, [seeds]."""
    return mistakes(evidence, spec) / int(spec.environment_params["m"])


def fewest(spec: RunSpec) -> float:
    """Return the theorem's lower bound on the plays of each worse arm."""
    return fewest_pulls(spec.epsilon or np.inf, gap_of(spec), spec.beta or 0.0)


def above_the_bound(specs: Sequence[RunSpec]) -> Setting:
    """Test that the mean number of plays of each worse arm is never below the theorem's lower bound, at any budget."""

    def judge(evidence: Evidence) -> Finding:
        return every_more_than(np.array([pulls(evidence, spec) / fewest(spec) for spec in specs]), 1.0)

    def draw(evidence: Evidence) -> SettingPlot:
        x = inverse(specs)
        rows = np.column_stack([pulls(evidence, spec) for spec in specs])
        return SettingPlot(
            "Plays of each worse arm",
            "1/ε",
            "Pulls of a worse arm",
            (SpecSeries(specs[0], ALGORITHMS[specs[0].algorithm].title, x, rows, one_budget=False),),
            ("lower bound", x, np.array([fewest(spec) for spec in specs])),
        )

    return Setting(
        setting_heading(specs[0], f"α = {gap_of(specs[0]):g}"),
        "smallest ratio of mean pulls to the lower bound",
        "more than 1",
        tuple(specs),
        judge,
        draw,
        whole=False,
        form="ratio",
    )
