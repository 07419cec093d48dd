"""What runs on data sets are called, and what their looks say."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dprl.figures.looks import CurveStyle, numbered
from dprl.figures.regret import distinct
from dprl.learners import OFFLINE
from dprl.privacy.curator import PROMISES
from dprl.simulation import OfflineSpec, UploadSpec
from dprl.simulation.datasets import BEHAVIOURS, split_behaviour
from dprl.words import count, percent, plural, promise
from pages.shared.names import CALIBRATION, episodes_each, shared_problem, told_apart

DELTA = 1e-6  # at which budgets of different promises are compared


def titles(specs: Sequence[OfflineSpec]) -> list[str]:
    """A title for each, plain text, no two alike."""
    return distinct(told_apart(specs, [label(spec) for spec in specs]))


def label(spec: OfflineSpec) -> str:
    """Learner and budget in a few words."""
    return f"{OFFLINE[spec.algorithm].title}, {promise_words(spec)}{episodes_each(spec)}"


def promise_words(spec: OfflineSpec | UploadSpec) -> str:
    """What is promised, in a few words."""
    if spec.rho is not None:
        return f"ρ = {spec.rho:g}"
    if spec.epsilon is None:
        return "no privacy"
    return f"ε = {spec.epsilon:g}" if spec.delta is None else f"(ε, δ) = {promise(spec.epsilon, spec.delta)}"


def behaviour(text: str) -> str:
    """A behaviour policy in a caption."""
    key, argument, _ = split_behaviour(text)
    return BEHAVIOURS[key].said.format(percent(float(argument or 0)))


def in_common(specs: Sequence[OfflineSpec]) -> str:
    """What all share and a reader needs to know, plain text."""
    first = specs[0]
    parts = shared_problem(specs)
    if len({spec.behaviour for spec in specs}) == 1:
        parts.append(behaviour(first.behaviour))
    calibrations = {spec.calibration for spec in specs if spec.calibration}
    if len(calibrations) == 1:
        parts.append(CALIBRATION[calibrations.pop()])
    if len({spec.n for spec in specs}) == 1:
        parts.append(f"n up to {count(first.n)}")
    if len({spec.seeds for spec in specs}) == 1:
        parts.append(plural(first.seeds, "data set") + " of each size")
    return " · ".join(parts)


def comparable(spec: OfflineSpec) -> float | None:
    """About the epsilon of its promise at DELTA, by which colours are as private as on other pages; None without one.

    Of rho-zCDP rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016, Proposition 1.3); of others their own.
    """
    if spec.rho is not None:
        return spec.rho + 2 * math.sqrt(spec.rho * math.log(1 / DELTA))
    return spec.epsilon


def kinds(specs: Sequence[OfflineSpec]) -> list[CurveStyle]:
    """What gives the curves their looks, no two alike. The curator is trusted, as a central agent is."""
    return numbered([kind(spec) for spec in specs])


def kind(spec: OfflineSpec) -> CurveStyle:
    """What gives a curve its look, alone."""
    noises = [(promise.key, size) for promise in PROMISES.values() for size in ("paper", "tight")]
    twins = list(dict.fromkeys(learner.twin for learner in OFFLINE.values()))
    learner = twins.index(OFFLINE[spec.algorithm].twin)
    if spec.calibration is None:
        return CurveStyle("none", learner=learner)
    return CurveStyle("central", comparable(spec), noises.index((spec.privacy, spec.calibration)), learner)


def most_private(specs: Sequence[OfflineSpec]) -> int:
    """Which of them promises most; of several the first."""
    return min(range(len(specs)), key=lambda i: comparable(specs[i]) or math.inf)
