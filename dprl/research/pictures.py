"""Charts of online runs, of runs on data sets, or of runs on your own file, with the dashboard's figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dprl import metrics
from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError, check_type, shown
from dprl.figures import picture, steps, style
from dprl.figures.looks import marked, numbered
from dprl.metrics.curves import RunCurves
from dprl.research.series import (
    learned_picture,
    mistakes_picture,
    mistakes_series,
    price_picture,
    price_series,
    regret_picture,
    style_of,
    style_of_data,
    suboptimality_picture,
)
from dprl.sentences import offline as sentences
from dprl.sentences import uploads
from dprl.simulation import OfflineSpec, RunSpec, Trace, UploadSpec

if TYPE_CHECKING:
    from dprl.figures.regret import Measure

MISTAKES = "suboptimal episodes"
# The measures that can be drawn for each kind of runs, the default first.
MEASURES = {
    RunSpec.kind: ("regret", "share", "regret per episode", "privacy cost", MISTAKES),
    OfflineSpec.kind: ("suboptimality", "privacy cost"),
}
Traces = Mapping[str, Trace[Any]]


@dataclass(frozen=True, repr=False)
class Picture(picture.Picture):
    """A chart for a script or a notebook.

    Attributes:
        figure: the Plotly figure.
        alt: the kind of chart, in words.
        see: a sentence about the data shown; `see_markdown` is the same sentence in Markdown.
        table: the numbers drawn.
    """

    see_markdown: str = ""


def told_plainly(found: picture.Picture) -> Picture:
    """Return a picture with its sentence as plain text."""
    plain = re.sub(r"\*\*|\\(.)", lambda mark: mark[1] or "", found.see)
    return Picture(found.figure, found.alt, plain.replace("\N{NO-BREAK SPACE}", " "), found.table, found.see)


def kind_of_all(traces: Traces) -> str:
    """Return the kind that all runs share. Raises SpecError if they differ, or if the kind has no chart."""
    kinds = list(dict.fromkeys(str(trace.spec.kind) for trace in traces.values()))
    if len(kinds) > 1:
        raise SpecError(
            "traces", f"{' and '.join(kinds)} runs have no chart in common; give runs of one kind."
        )
    if kinds[0] not in MEASURES:
        raise SpecError("traces", f"{kinds[0]} runs have no chart; give {', '.join(MEASURES)} runs.")
    return kinds[0]


def check_drawable(kind: str, measure: str | None, statistic: str, log_x: bool) -> None:
    """Raise SpecError if runs of this kind have no chart with these settings."""
    check_type("measure", measure, str | None, f"one of {', '.join(MEASURES[kind])}")
    if not isinstance(statistic, str) or statistic not in metrics.BANDS:
        raise SpecError("statistic", f"{shown(statistic)} is not allowed; give {' or '.join(metrics.BANDS)}.")
    known = MEASURES[kind]
    if measure is not None and measure not in known:
        wrong, give = shown(measure), f"give one of {', '.join(known)}."
        if kind == RunSpec.kind:
            raise SpecError("measure", f"{wrong} is not allowed; {give}")
        raise SpecError("measure", f"{wrong} is not allowed of {kind} runs; {give}")
    if kind != RunSpec.kind and statistic != "mean":
        raise SpecError("statistic", f"{kind} runs are drawn as their mean over data sets; give mean.")
    if measure == MISTAKES and not log_x:
        raise SpecError("log_x", f"the horizontal axis of {MISTAKES} is logarithmic; give True.")
    if kind != RunSpec.kind and not log_x:
        raise SpecError("log_x", f"the horizontal axis of {kind} runs is logarithmic; give True.")


def regrets(traces: Traces, view: Measure, statistic: metrics.Statistic, **how: bool) -> picture.Picture:
    """Draw the regret of online runs, one curve each, in the dashboard's chart for `view`."""
    known = {trace.spec: known_of(trace) for trace in traces.values()}
    chosen = {
        name: trace.spec
        for name, trace in traces.items()
        if view != "extra" or trace.spec != trace.spec.baseline()
    }
    if not chosen:
        raise SpecError("traces", "there is no run to draw privacy cost of; give one with privacy.")
    for spec in chosen.values():
        if view == "extra" and spec.baseline() not in known:
            raise without_baseline(spec)
        if view == "share" and not known[spec].v_star > 0:
            raise SpecError("measure", f"V* of {spec.label()} is 0, and has no shares; give regret.")
    few(chosen)
    return regret_picture(chosen, known, view, statistic, **how)


def mistakes(traces: Traces, statistic: metrics.Statistic, **how: bool) -> picture.Picture:
    """Draw the number of episodes of online runs that were suboptimal by more than alpha, against alpha."""
    few(traces)
    looks = numbered(marked([style_of(trace.spec) for trace in traces.values()]))
    curves = []
    for (name, trace), look in zip(traces.items(), looks, strict=True):
        found = mistakes_series(name, look, trace.seeds, statistic)
        if found is None:
            raise SpecError(
                "measure", f"no episode of {name} can lose as much as the smallest alpha counted."
            )
        curves.append(found)
    return mistakes_picture(curves, statistic, **how)


def gaps(traces: Traces, **how: bool) -> picture.Picture:
    """Draw the suboptimality over n, one curve for each run."""
    few(traces)
    known = {name: known_of(trace) for name, trace in traces.items()}
    return suboptimality_picture({name: trace.spec for name, trace in traces.items()}, known, **how)


def privacy_costs(traces: Traces, **how: bool) -> picture.Picture:
    """Draw the distance of V~ below the same algorithm's V~ without privacy, on the same data sets."""
    lower = {trace.spec: np.array([seed.lower for seed in trace.seeds]) for trace in traces.values()}
    private = {name: trace for name, trace in traces.items() if trace.spec != trace.spec.baseline()}
    if not private:
        raise SpecError("traces", "there is no run to draw privacy cost of; give one with privacy.")
    few(private)
    looks = numbered(marked([style_of_data(trace.spec) for trace in private.values()]))
    specs, curves = [trace.spec for trace in private.values()], []
    for (name, trace), look in zip(private.items(), looks, strict=True):
        free = lower.get(trace.spec.baseline())
        if free is None:
            raise without_baseline(trace.spec)
        curves.append(price_series(name, look, trace.at, lower[trace.spec], free))
    return price_picture(specs, curves, **how)


def policy(trace: Trace[Any], *, dark: bool) -> picture.Picture:
    """Draw the first seed's learned action in each state at each step, from its largest data set."""
    spec, found = trace.spec, core(trace)
    if spec.kind == UploadSpec.kind:
        public = spec.public
        return steps.policy_by_step(
            found.policy,
            state_labels=public.states,
            action_labels=public.actions,
            when=f"from {uploads.people(spec.learned_from, public.episodes)}",
            see=sentences.bounds_by_start(public.states, found.lower.tolist()),
            dark=dark,
        )
    if spec.kind != OfflineSpec.kind:
        raise SpecError("measure", f"policy is drawn of runs on data sets; {spec.label()} is an online run.")
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    return learned_picture(found, len(found.detail_n) - 1, mdp, dark=dark)


def known_of(trace: Trace[Any]) -> RunCurves:
    """Return the curves of a run with V*."""
    return RunCurves(trace.at, trace.values, v_star=core(trace).v_star)


def core(trace: Trace[Any]) -> Any:
    """Return the first seed's trace."""
    return trace.seeds[0]


def without_baseline(spec: Any) -> SpecError:
    """Return the error for a privacy cost whose baseline is missing."""
    return SpecError(
        "measure",
        f"privacy cost is counted from the non-private baseline of {spec.label()}; add dprl.run(spec.baseline()) to "
        "the runs.",
    )


def few(traces: Mapping[str, Any]) -> None:
    """Raise SpecError if there are too many runs to distinguish."""
    if len(traces) > style.MOST_CURVES:
        raise SpecError(
            "traces", f"{len(traces)} curves cannot be told apart; give at most {style.MOST_CURVES}."
        )


DRAWN: dict[tuple[str, str], Callable[..., picture.Picture]] = {
    (OfflineSpec.kind, "suboptimality"): gaps,
    (OfflineSpec.kind, "privacy cost"): privacy_costs,
}
