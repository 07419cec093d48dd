"""The runs and answers of lessons, which come with the program or were computed for a teacher."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from dprl.fields import SpecError
from dprl.lessons import ORDER, Lesson, Step
from dprl.messages import filled, messages
from dprl.metrics.curves import Evidence, RunCurves
from dprl.simulation import spec_from_dict
from pages.shared.results import answers
from pages.shared.results.bundled import asset, bundled_papers, bundled_scores
from pages.shared.results.status import Runs

# The fields of each answer in lessons.json; other answers come from the files of other pages.
OWN = {
    "promise": ("deltas", "epsilons", "false", "missed"),
    "guarantee": ("claimed_epsilon", "claimed_delta", "proved_epsilon", "proved_delta"),
    "widths": ("users", "rows"),
}
RUNS = Runs(("home", "examples", "offline"))
SAID = messages("lessons")["page"]


class KnownRuns(Mapping[Any, RunCurves]):
    """The curves of all finished runs, each with V*."""

    def __getitem__(self, spec: Any) -> RunCurves:
        run = RUNS.curves(spec)
        if (
            run.noise_std is None
            and spec != spec.baseline()
            and (card := answers.guarantee(spec)) is not None
        ):
            run = replace(run, noise_std=card.noise_std)
        return replace(run, v_star=answers.v_star(spec) or math.nan)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("Ask for a run by its spec; the store has too many to list.")

    def __len__(self) -> int:
        raise TypeError("Ask for a run by its spec; the store has too many to count.")


def unknown(lesson: Lesson) -> list[Any]:
    """Return the runs of a lesson that have to be computed before it can be played."""
    specs = dict.fromkeys(spec for step in lesson.steps for spec in step.specs)
    return [spec for spec in specs if RUNS.bundled(spec) is None and spec in RUNS.missing([spec])]


def fault(lesson: Lesson) -> str:
    """Explain why a teacher's lesson cannot be played with its finished runs; "" if it can."""
    for number, step in enumerate(lesson.steps if lesson.key not in ORDER else (), 1):
        try:
            truth = step.truth(evidence())
            step.found(evidence()), step.why(evidence())
            if isinstance(truth, float) and not math.isfinite(truth):
                return filled(SAID["no_answer"], number=number)
        except ValueError:  # NumPy's message would be about arrays
            return filled(SAID["no_curve"], number=number)
        except (LookupError, TypeError) as error:
            return filled(SAID["no_chart"], number=number, chart=step.chart.kind.key, error=error)
    return ""


@cache
def evidence() -> Evidence:
    """Return the evidence that lessons are judged by; files are read once."""
    asked: dict[tuple[str, Any], Any] = dict(bundled_papers().evidence.answers)
    asked |= {
        ("scores", spec): {"first": scores.first, "second": scores.second}
        for spec, scores in bundled_scores().items()
    }
    for entry in asset("lessons"):
        asked[entry["question"], spec_from_dict(entry["spec"])] = entry["answer"]
    return Evidence(KnownRuns(), asked)


def valid(step: Step, text: str) -> bool:
    """Return whether a text is a whole answer to a question."""
    try:
        step.prediction.parse(text)
    except SpecError:
        return False
    return True
