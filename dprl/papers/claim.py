"""A claim of a paper as an experiment: what to run, what to read off the runs, and what that is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.metrics import Finding
from dprl.metrics.curves import Array, Evidence
from dprl.sentences.papers import Form
from dprl.simulation import Spec

TRACES = "traces"  # a question about runs, which is answered from their whole traces


@dataclass(frozen=True)
class SpecSeries:
    """Values of several seeds, rows [seeds, P], at x [P], drawn as runs like `spec` are.

    one_budget: not so where each point has a budget of its own.
    """

    spec: Spec
    label: str
    x: Array
    rows: Array
    one_budget: bool = True


@dataclass(frozen=True)
class SettingPlot:
    """The drawing of a setting. bound: a theorem's values, at x and y [P] each, under a name."""

    title: str
    x_title: str
    y_title: str
    series: tuple[SpecSeries, ...]
    bound: tuple[str, Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class Setting:
    """A setting in which a claim is examined.

    Attributes:
        title: the problem, and its special features.
        statistic: what is measured.
        asks: what the statistic is held against.
        specs: what is run.
        judge(evidence): the finding.
        draw(evidence): the chart.
        question: what is asked of `specs` (see simulation.kinds.Kind.questions), which are run only for TRACES.
        whole: whether curves are looked at, not only their ends.
        form: in which the statistic is written.
        over: what its interval is over.
    """

    title: str
    statistic: str
    asks: str
    specs: tuple[Any, ...]
    judge: Callable[[Evidence], Finding]
    draw: Callable[[Evidence], SettingPlot] | None = None
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
        beside: the same asked of something of ours. It has a verdict of its own, and no part in this one.
    """

    key: str
    title: str
    says: str
    source: str
    conditions: str
    seen: str
    settings: tuple[Setting, ...]
    beside: Claim | None = None

    @cached_property
    def runs(self) -> dict[Any, bool]:
        """The runs, and whether their whole curves are kept."""
        found: dict[Any, bool] = {}
        for setting in self.settings:
            for spec in setting.specs if setting.question in ("", TRACES) else ():
                found[spec] = found.get(spec, False) or (setting.whole and not setting.question)
        return found | (self.beside.runs if self.beside else {})

    @cached_property
    def questions(self) -> dict[Any, str]:
        """The questions."""
        return {
            spec: setting.question for setting in self.settings if setting.question for spec in setting.specs
        }


def heading(*parts: str) -> str:
    """Return the title of a setting; empty parts are left out."""
    return " · ".join(filter(None, parts))


def baselined(specs: Sequence[Any]) -> tuple[Any, ...]:
    """Return the runs, each after its non-private baseline, once."""
    return tuple(dict.fromkeys(spec for one in specs for spec in (one.baseline(), one)))


def environment_of(spec: Any) -> str:
    """Describe the environment of a spec with its parameters."""
    inside = ", ".join(
        f"{k} = {v:g}" for k, v in spec.environment_params.items() if isinstance(v, int | float)
    )
    return f"{ENVIRONMENTS[spec.environment].called(spec.environment_params)} ({inside})"
