"""A lesson as data: steps, each with a question, a prediction, and what runs say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dprl.figures.lessons import Frame
from dprl.lessons.prediction import Order, Prediction
from dprl.messages import messages
from dprl.metrics.curves import Evidence
from dprl.papers import SpecSeries


@dataclass(frozen=True)
class DrawnSeries:
    """A series of a chart; until: as far as it is drawn before the answer is shown, 0 for not at all."""

    series: SpecSeries
    until: float = np.inf


@dataclass(frozen=True)
class Plot(Frame):
    """What is drawn of a step, and where."""

    drawn: tuple[DrawnSeries, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """One thing to try: a view of another page.

    Attributes:
        say: what to try, in a few words.
        page: explore, offline, linear, attack, tradeoffs or users.
        specs: what is compared there.
        view: what of its view is not as usual.
    """

    say: str
    page: str
    specs: tuple[Any, ...]
    view: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Step:
    """One question.

    Attributes:
        title: a few words.
        prediction: what is asked, and how it is answered.
        specs: the runs that answer it.
        plot(evidence): the chart.
        truth(evidence): the answer, of the prediction's kind.
        found(evidence): what was measured, in a sentence with its numbers.
        why: the reason, in a sentence.
        attempt: what to try.
        questions: what else is asked of specs, see simulation.kinds.
    """

    title: str
    prediction: Prediction
    specs: tuple[Any, ...]
    plot: Callable[[Evidence], Plot]
    truth: Callable[[Evidence], Any]
    found: Callable[[Evidence], str]
    why: str
    attempt: Attempt
    questions: tuple[tuple[str, Any], ...] = ()

    @property
    def environment(self) -> tuple[str, Mapping[str, Any]]:
        """Of the runs that answer it: its key, and its parameters."""
        spec = next(iter((*self.specs, *(spec for _, spec in self.questions))))
        spec = getattr(spec, "run", spec)
        return spec.environment, spec.environment_params

    def score(self, text: str, evidence: Evidence) -> float:
        """What a guess, or the beginning of an order, is worth, from 0 to 1. Raises SpecError where it is neither."""
        prediction: Any = self.prediction
        return float(prediction.score(self._read(text), self.truth(evidence)))

    def off(self, text: str, evidence: Evidence) -> str:
        """How far off a guess is, in words, or the beginning of an order. Raises SpecError where it is neither."""
        prediction: Any = self.prediction  # which judges what it has read itself
        return str(prediction.verdict(self._read(text), self.truth(evidence)))

    def together(self, texts: Sequence[str], evidence: Evidence) -> str:
        """How far off a class is, in a sentence or two; texts: whole answers, at least one. Raises SpecError."""
        prediction: Any = self.prediction
        return str(prediction.together([prediction.parse(text) for text in texts], self.truth(evidence)))

    def _read(self, text: str) -> Any:
        return (
            self.prediction.begun(text) if isinstance(self.prediction, Order) else self.prediction.parse(text)
        )


@dataclass(frozen=True, eq=False)
class Lesson:
    """About five minutes. key: its name in links; say: what it is about, in a sentence; needs: what one should know."""

    key: str
    title: str
    say: str
    needs: str
    steps: tuple[Step, ...]

    @property
    def recap(self) -> tuple[str, ...]:
        """What is to be remembered of it, in three sentences."""
        return tuple(messages("lessons")["recap"][self.key])

    def met(self, at: int) -> tuple[str, Mapping[str, Any]] | None:
        """The environment that the step at a place, from 0, is the first to be about; None where there is none."""
        here = self.steps[at].environment
        return here if not at or self.steps[at - 1].environment != here else None
