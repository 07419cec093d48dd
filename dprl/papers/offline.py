"""Experiments on learning from private data sets: how close a private learner gets to its non-private baseline."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dprl.learners import OFFLINE
from dprl.metrics.curves import Array, Evidence
from dprl.metrics.verdicts import Finding, at_most, every_more_than, t_interval
from dprl.papers.claim import Setting, SettingPlot, environment_of, plot_of
from dprl.simulation import OfflineSpec
from dprl.words import human

TRAJECTORIES = "Trajectories n"
GAP = "Suboptimality v* − v<sup>π</sup> (reward an episode)"


def learner_label(spec: OfflineSpec) -> str:
    """Return a label with the title of a run's learner and its budget rho, if it has one."""
    name = OFFLINE[spec.algorithm].title
    return name if spec.rho is None else f"{name}, ρ = {spec.rho:g}"


def gap(evidence: Evidence, spec: OfflineSpec, n: int) -> Array:
    """Return the loss of the policy learned from n trajectories, [seeds], as a share of v*."""
    run = evidence.runs[spec]
    (place,) = np.flatnonzero(run.at == n)
    share: Array = run.values[:, place] / run.v_star
    return share


def whole_curve(evidence: Evidence, spec: Any) -> tuple[Array, Array]:
    """Return the checkpoints [C] of a run, and its values [seeds, C]."""
    run = evidence.runs[spec]
    return run.at.astype(float), run.values


def gaps(specs: Sequence[OfflineSpec]) -> Callable[[Evidence], SettingPlot]:
    """Return a function that plots the suboptimality of these runs against the size of the data set."""
    return plot_of(("Loss of the learned policy", TRAJECTORIES, GAP), specs, learner_label, whole_curve)


def near_its_baseline(spec: OfflineSpec, n: int, most: float) -> Setting:
    """Test that a private run loses at most the share `most` of v* more than its baseline, with n trajectories."""
    specs = (spec.baseline(), spec)
    return Setting(
        f"{environment_of(spec)} · {learner_label(spec)} · n = {human(n)}",
        "share of v* lost in addition to the loss without privacy",
        f"at most {most:g}",
        specs,
        lambda evidence: at_most(
            t_interval(gap(evidence, spec, n) - gap(evidence, spec.baseline(), n)), most
        ),
        gaps(specs),
        form="share",
    )


def nearer(specs: Sequence[OfflineSpec], n: int) -> Setting:
    """Test that, with n trajectories, each run loses less than the next run in `specs`."""

    def judge(evidence: Evidence) -> Finding:
        found = [gap(evidence, spec, n) for spec in specs]
        return every_more_than(np.array([more - less for less, more in itertools.pairwise(found)]), 0)

    names = " before ".join(learner_label(spec) for spec in specs)
    return Setting(
        f"{environment_of(specs[0])} · {names} · n = {human(n)}",
        "smallest difference between neighbours, as a share of v*",
        "more than 0",
        tuple(specs),
        judge,
        gaps(specs),
        form="share",
    )
