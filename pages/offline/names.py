"""Names and looks of runs on data sets."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dprl.figures.looks import CurveStyle, numbered
from dprl.figures.regret import distinct
from dprl.learners import OFFLINE
from dprl.messages.labels import called, phrase
from dprl.research.series import comparable, style_of_data
from dprl.simulation import OfflineSpec
from dprl.simulation.datasets import BEHAVIOURS, split_behaviour
from dprl.words import count, percent, plural, promise
from pages.shared.names import CALIBRATION, episodes_each, places_apart, shared_problem, told_apart


def titles(specs: Sequence[OfflineSpec]) -> list[str]:
    """Return a distinct title for each run as plain text; it names the environment if there are several."""
    labels = [place + label(spec) for place, spec in zip(places_apart(specs), specs, strict=True)]
    return distinct(told_apart(specs, labels))


def label(spec: OfflineSpec) -> str:
    """Return a short name with the learner and the budget."""
    return called(
        OFFLINE[spec.algorithm].title,
        promise_words(spec),
        episodes_each(spec),
        phrase("rewards") if spec.rewards == "learned" else "",
    )


def promise_words(spec: OfflineSpec) -> str:
    """Describe the guarantee in a few words."""
    if spec.rho is not None:
        return f"ρ = {spec.rho:g}"
    if spec.epsilon is None:
        return "no privacy"
    return f"ε = {spec.epsilon:g}" if spec.delta is None else f"(ε, δ) = {promise(spec.epsilon, spec.delta)}"


def behaviour(text: str) -> str:
    """Describe a behaviour policy in a caption."""
    key, argument, _ = split_behaviour(text)
    return BEHAVIOURS[key].said.format(percent(float(argument or 0)))


def in_common(specs: Sequence[OfflineSpec]) -> str:
    """Describe the settings that all runs share, as plain text."""
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
        parts.append(plural(first.seeds, "data set of each size", "data sets of each size"))
    return " · ".join(parts)


def kinds(specs: Sequence[OfflineSpec]) -> list[CurveStyle]:
    """Return distinct styles for the curves. A curator is trusted, so they have the central model's colours."""
    return numbered([style_of_data(spec) for spec in specs])


def most_private(specs: Sequence[OfflineSpec]) -> int:
    """Return the index of the run with the strongest guarantee; the first if there are several."""
    return min(range(len(specs)), key=lambda i: comparable(specs[i]) or math.inf)
