"""A claim of a paper as an experiment: the runs, the statistic computed from them, and its threshold."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.metrics.curves import Array, Evidence
from dprl.metrics.verdicts import Finding
from dprl.sentences.papers import Form
from dprl.simulation import Spec

TRACES = "traces"  # a question about runs that is answered from their whole traces
TEXTS = tomllib.loads(Path(__file__).with_name("claims.toml").read_text("utf-8"))


@dataclass(frozen=True)
class SpecSeries:
    """A curve with rows [seeds, P] at x [P]. If its points have different budgets, `one_budget` is False."""

    spec: Spec
    label: str
    x: Array
    rows: Array
    one_budget: bool = True


@dataclass(frozen=True)
class SettingPlot:
    """The chart of a setting: its titles and curves and, if there is one, a theorem's bound as (name, x [P], y [P])."""

    title: str
    x_title: str
    y_title: str
    series: tuple[SpecSeries, ...]
    bound: tuple[str, Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class Setting:
    """A setting in which a claim is tested.

    Attributes:
        statistic: the measured quantity, in words.
        asks: the claimed value or threshold, in words.
        specs: the runs, or the specs that the question is about.
        question: the question about `specs` (simulation.kinds.Kind.questions), which are run only for TRACES.
        whole: True if whole curves are needed, and not only their ends.
        over: the sample over which its interval is computed, such as seeds.
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
    """A claim of a paper, with the settings in which it is tested.

    Attributes:
        key: its name on the command line and in links.
        conditions: the conditions of the test, in addition to those of the settings.
        seen: how the chart shows the claim, in one sentence; "" if there is no chart.
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
        """Return the runs of all settings, with True for each run that needs its whole curve."""
        found: dict[Any, bool] = {}
        for setting in self.settings:
            for spec in setting.specs if setting.question in ("", TRACES) else ():
                found[spec] = found.get(spec, False) or (setting.whole and not setting.question)
        return found

    @cached_property
    def questions(self) -> dict[Any, str]:
        """Return the question for each spec in the settings that ask one."""
        return {
            spec: setting.question for setting in self.settings if setting.question for spec in setting.specs
        }


def claim_of(key: str, settings: tuple[Setting, ...]) -> Claim:
    """Return the claim with its texts from claims.toml. Raises KeyError if they are missing."""
    texts = {name: text.format(**TEXTS["phrases"]) for name, text in TEXTS[key].items()}
    return Claim(**{"key": key, "seen": "", "settings": settings, **texts})


def plot_of(
    labels: tuple[str, str, str],
    specs: Sequence[Any],
    name: Callable[[Any], str],
    curve: Callable[[Evidence, Any], tuple[Array, Array]],
) -> Callable[[Evidence], SettingPlot]:
    """Return a function that draws one curve for each run: x [P] with values [seeds, P]."""
    return lambda evidence: SettingPlot(
        *labels, tuple(SpecSeries(spec, name(spec), *curve(evidence, spec)) for spec in specs)
    )


def heading(*parts: str) -> str:
    """Join the parts of a setting's title, without empty ones."""
    return " · ".join(filter(None, parts))


def baselined(specs: Sequence[Any]) -> tuple[Any, ...]:
    """Return the runs without duplicates, each preceded by its non-private baseline."""
    return tuple(dict.fromkeys(spec for one in specs for spec in (one.baseline(), one)))


def environment_of(spec: Any) -> str:
    """Describe the environment of a spec with its parameters."""
    inside = ", ".join(
        f"{k} = {v:g}" for k, v in spec.environment_params.items() if isinstance(v, int | float)
    )
    return f"{ENVIRONMENTS[spec.environment].called(spec.environment_params)} ({inside})"
