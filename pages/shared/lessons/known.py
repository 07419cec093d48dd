"""What lessons are about: runs and answers that come with the program."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from dprl.lessons import LESSONS
from dprl.metrics.curves import Evidence
from dprl.simulation import spec_from_dict
from pages.shared.results import answers
from pages.shared.results.bundled import asset, bundled
from pages.shared.results.evidence import bundled as claims
from pages.shared.results.evidence import bundled_scores as attacks

# What lessons.json has of each answer; others come from the files of other pages.
OWN = {
    "promise": ("deltas", "epsilons", "false", "missed"),
    "guarantee": ("claimed_epsilon", "claimed_delta", "proved_epsilon", "proved_delta"),
    "widths": ("users", "rows"),
}
FROM = ("home", "examples", "offline")  # the files of assets/ that have them


@cache
def evidence() -> Evidence:
    """All runs of all lessons; read once."""
    found: dict[Any, Any] = {}
    for name in reversed(FROM):
        found |= bundled(name)
    runs = {}
    for spec in {spec: None for lesson in LESSONS.values() for step in lesson.steps for spec in step.specs}:
        run, best = found[spec], answers.v_star(spec)
        assert best is not None  # known of every environment by default
        runs[spec] = replace(run, v_star=best)
    asked: dict[tuple[str, Any], Any] = dict(claims().evidence.answers)
    asked |= {
        ("scores", spec): {"first": scores.first, "second": scores.second}
        for spec, scores in attacks().items()
    }
    for entry in asset("lessons"):
        asked[entry["question"], spec_from_dict(entry["spec"])] = entry["answer"]
    return Evidence(runs, asked)
