"""A claim of a paper as an experiment: what to run, what to read off the runs, and what that is held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.metrics import Finding
from dprl.sentences.claims import Form
from dprl.simulation import Spec, spec_from_dict

Array = NDArray[np.float64]

POINTS = 40  # kept of a curve
DIGITS = 6


@dataclass(frozen=True)
class Run:
    """What is kept of a finished run: what it measured at a few points.

    Attributes:
        at: [C]; the last is the spec's size.
        values: [seeds, C].
        v_star: the best value there is, NaN where there is none.
    """

    at: NDArray[np.int64]
    values: Array
    v_star: float

    @classmethod
    def of(cls, at: NDArray[np.int64], values: Array, v_star: float | None, whole: bool) -> Run:
        """Of a run as it was computed. What comes with the program is kept like this as well, so that both say the
        same, digit for digit. whole: the curve, too, at points evenly spread on a log scale, not its end alone."""
        targets = np.geomspace(at[0], at[-1], POINTS)
        targets[-1] = at[-1]  # not by rounding a little more
        points = np.unique(np.searchsorted(at, targets)) if whole else np.array([len(at) - 1])
        return cls(at[points], rounded(values[:, points]), np.nan if v_star is None else float(v_star))

    @property
    def ends(self) -> Array:
        """[seeds]."""
        return self.values[:, -1]

    def upto(self, size: int) -> Array:
        """[seeds] what was measured at one of the points."""
        (place,) = np.flatnonzero(self.at == size)
        found: Array = self.values[:, place]
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        v_star = None if np.isnan(self.v_star) else self.v_star
        return {"at": self.at.tolist(), "values": self.values.tolist(), "v_star": v_star}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Run:
        """What `to_dict` wrote."""
        v_star = given["v_star"]
        return cls(
            np.array(given["at"], np.int64), np.array(given["values"]), np.nan if v_star is None else v_star
        )


def rounded(values: Array) -> Array:
    """To DIGITS significant digits."""
    return np.array([[float(f"{value:.{DIGITS}g}") for value in row] for row in values])


@dataclass(frozen=True)
class Series:
    """Values of several seeds, rows [seeds, P], at x [P], drawn as runs like `spec` are.

    one_budget: not so where each point has a budget of its own.
    """

    spec: Spec
    label: str
    x: Array
    rows: Array
    one_budget: bool = True


@dataclass(frozen=True)
class Plot:
    """What is drawn of a setting. bound: what a theorem says, at x and y [P] each, under a name."""

    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    bound: tuple[str, Array, Array] | None = None


Runs = Mapping[Any, Run]
Answers = Mapping[Any, Any]


@dataclass(frozen=True)
class Evidence:
    """What claims are judged by: runs, and answers to what they ask, each by spec."""

    runs: Runs
    answers: Answers

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        runs = [{"spec": spec.to_dict(), **run.to_dict()} for spec, run in self.runs.items()]
        answers = [{"spec": spec.to_dict(), "answer": answer} for spec, answer in self.answers.items()]
        return {"runs": runs, "answers": answers}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Evidence:
        """What `to_dict` wrote. Raises SpecError."""
        return cls(
            {spec_from_dict(one["spec"]): Run.from_dict(one) for one in given["runs"]},
            {spec_from_dict(one["spec"]): one["answer"] for one in given["answers"]},
        )


@dataclass(frozen=True, eq=False)
class Setting:
    """Where a claim is looked at.

    Attributes:
        title: the problem, and what else is special.
        statistic: what is measured.
        asks: what the statistic is held against.
        specs: what is run.
        judge(evidence): the finding.
        draw(evidence): the chart.
        question: what is asked of `specs`, which are not run then (see simulation.kinds.Kind.questions).
        whole: whether curves are looked at, not only their ends.
        form: in which the statistic is written.
        over: what its interval is over, "" where it is worked out exactly.
    """

    title: str
    statistic: str
    asks: str
    specs: tuple[Any, ...]
    judge: Callable[[Evidence], Finding]
    draw: Callable[[Evidence], Plot] | None = None
    question: str = ""
    whole: bool = True
    form: Form = "exponent"
    over: str = "seeds"


@dataclass(frozen=True, eq=False)
class Claim:
    """A claim of a paper, and where it is put to the test.

    Attributes:
        key: its name on the command line and in links.
        title: a few words.
        says: the claim, in a sentence.
        source: paper and theorem.
        conditions: under which it is looked at, beyond what the settings say.
        seen: how the chart shows it, in a sentence; "" for a claim without one.
    """

    key: str
    title: str
    says: str
    source: str
    conditions: str
    seen: str
    settings: tuple[Setting, ...]

    @cached_property
    def runs(self) -> dict[Any, bool]:
        """What is run, and whether its whole curve is kept."""
        found: dict[Any, bool] = {}
        for setting in self.settings:
            for spec in () if setting.question else setting.specs:
                found[spec] = found.get(spec, False) or setting.whole
        return found

    @cached_property
    def questions(self) -> dict[Any, str]:
        """What is asked."""
        return {
            spec: setting.question for setting in self.settings if setting.question for spec in setting.specs
        }


def problem(spec: Any) -> str:
    """The environment of a spec with its parameters."""
    inside = ", ".join(
        f"{k} = {v:g}" for k, v in spec.environment_params.items() if isinstance(v, int | float)
    )
    return f"{ENVIRONMENTS[spec.environment].title} ({inside})"
