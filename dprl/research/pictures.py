"""Charts of online runs, of runs on data sets, and of runs on your own file, drawn with the dashboard's figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError, check_type, reject, shown
from dprl.figures import picture, regret, steps, style
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle, marked, numbered
from dprl.figures.regret import Measure
from dprl.messages import messages
from dprl.metrics.curves import BANDS, RunCurves, Statistic, regret_band
from dprl.research.series import (
    bound_of,
    gap_picture,
    gap_series,
    learned_picture,
    place_of,
    series_of,
    style_of,
)
from dprl.sentences import uploads
from dprl.sentences.offline import about_prices, bounds_by_start
from dprl.sentences.regret import about_mistakes, about_regret
from dprl.simulation import OfflineSpec, RunSpec, Trace, UploadSpec

SAID = messages("refusals")["plot"]
FALLS_FROM = 100  # the smallest n to which the exponent of a privacy cost is fitted
PRICE, MISTAKES = "privacy cost", "suboptimal episodes"
# The names of the measures in the dashboard's links.
VIEWS: dict[str, Measure] = {
    "regret": "cumulative",
    "share": "share",
    "regret per episode": "per-episode",
    PRICE: "extra",
}
# The measures that can be drawn for each kind of run, with the default first.
MEASURES = {RunSpec.kind: (*VIEWS, MISTAKES), OfflineSpec.kind: ("suboptimality", PRICE)}
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
    """Return the picture with its sentence as plain text instead of Markdown."""
    plain = re.sub(r"\*\*|\\(.)", lambda mark: mark[1] or "", found.see)
    return Picture(found.figure, found.alt, plain.replace("\N{NO-BREAK SPACE}", " "), found.table, found.see)


def draw(traces: Traces, measure: str | None, statistic: Statistic, *, log_x: bool, **how: bool) -> Picture:
    """Draw runs of one kind for `Comparison.plot`, which documents the arguments. Raises SpecError."""
    kinds = list(dict.fromkeys(str(trace.spec.kind) for trace in traces.values()))
    kind, online = kinds[0], kinds[0] == RunSpec.kind
    if len(kinds) > 1:
        raise reject("traces", SAID["kinds"], kinds=" and ".join(kinds))
    if kind not in MEASURES:
        raise SpecError("traces", f"{kind} runs have no chart; give {' or '.join(MEASURES)} runs.")
    known = MEASURES[kind]
    check_type("measure", measure, str | None, f"one of {', '.join(known)}")
    if not isinstance(statistic, str) or statistic not in BANDS:
        raise SpecError("statistic", f"{shown(statistic)} is not allowed; give {' or '.join(BANDS)}.")
    if measure is not None and measure not in known:
        wrong = f"{shown(measure)} is not allowed{'' if online else f' for {kind} runs'}"
        raise SpecError("measure", f"{wrong}; give one of {', '.join(known)}.")
    if not online and statistic != "mean":
        raise SpecError("statistic", f"{kind} runs are drawn as their mean over data sets; give mean.")
    if not log_x and (measure == MISTAKES or not online):
        of = MISTAKES if online else f"{kind} runs"
        raise SpecError("log_x", f"the horizontal axis of {of} is logarithmic; give True.")
    measure = measure or known[0]
    if not online:
        return told_plainly((privacy_costs if measure == PRICE else gaps)(traces, **how))
    if measure == MISTAKES:
        return told_plainly(mistakes(traces, statistic, log_y=how["log_y"], dark=how["dark"]))
    return told_plainly(regrets(traces, VIEWS[measure], statistic, log_x=log_x, **how))


def regrets(traces: Traces, view: Measure, statistic: Statistic, **how: bool) -> picture.Picture:
    """Draw the regret of online runs as one curve each, in the dashboard's chart for the measure `view`."""
    known = {trace.spec: known_of(trace) for trace in traces.values()}
    chosen = private_of(traces) if view == "extra" else traces
    for spec, found in known.items():
        if view == "share" and not found.v_star > 0:
            raise SpecError("measure", f"V* of {spec.label()} is 0, so a share has no meaning; give regret.")
    curves = [
        series_of(spec, found := known[spec], known.get(spec.baseline()), look, name, view, statistic,
                  v_star=found.v_star)
        for name, spec, look in named(chosen)
    ]  # fmt: skip
    see = about_regret(curves, view, statistic)
    return regret.comparison(curves, view=view, statistic=statistic, see=see, **how)


def mistakes(traces: Traces, statistic: Statistic, **how: bool) -> picture.Picture:
    """Draw how many episodes of online runs are suboptimal by more than alpha, for each alpha below V*."""
    curves = []
    for name, _, look in named(traces):
        seeds = traces[name].seeds
        alpha, possible = seeds[0].pac_alpha, seeds[0].pac_alpha < seeds[0].v_star
        if not possible.any():
            raise reject("measure", SAID["alpha"], run=name)
        rows = np.array([seed.pac_count[-1] for seed in seeds], float)[:, possible]
        curves.append(Series(name, look, alpha[possible], rows, *BANDS[statistic](rows)))
    see = about_mistakes(curves, statistic)
    return regret.mistakes_over_alpha(curves, statistic=statistic, see=see, **how)


def gaps(traces: Traces, **how: bool) -> picture.Picture:
    """Draw the suboptimality of runs on data sets against n, with one curve for each run."""
    known = {name: known_of(trace) for name, trace in traces.items()}
    alike = len({place_of(trace.spec) for trace in traces.values()}) == 1
    v_star = next(iter(known.values())).v_star if alike else None
    curves = [gap_series(name, look, known[name], v_star) for name, _, look in named(traces)]
    return gap_picture(curves, v_star, **how)


def privacy_costs(traces: Traces, **how: bool) -> picture.Picture:
    """Draw how far the lower bound V~ of each run is below that of its non-private baseline on the same data sets."""
    lower = {trace.spec: np.array([seed.lower for seed in trace.seeds]) for trace in traces.values()}
    curves, theorems = [], []
    for name, spec, look in named(private_of(traces)):
        rows = lower[spec.baseline()] - lower[spec]
        curves.append(Series(name, look, traces[name].at, rows, *regret_band(rows)))
        theorems.append(falls_by(spec))
    first = max(FALLS_FROM, float(curves[0].x[-1]) / 10)
    see = about_prices(curves, first, list(dict.fromkeys(filter(None, theorems))))
    return regret.prices_over_n(curves, proved=[one[1] if one else "" for one in theorems], see=see, **how)


def falls_by(spec: OfflineSpec) -> tuple[str, str] | None:
    """Return a run's algorithm and the theorem that proves that its privacy cost falls like 1/n, or None."""
    bound = bound_of(spec)
    if bound is None or not any(term.private and term.K == -1 for term in bound.terms):
        return None
    return bound.title, bound.paper.rpartition(", ")[2]


def policy(trace: Trace[Any], *, dark: bool) -> picture.Picture:
    """Draw the first seed's learned action in each state at each step, from its largest data set."""
    spec, found = trace.spec, trace.seeds[0]
    if spec.kind == UploadSpec.kind:
        public = spec.public
        return steps.policy_by_step(
            found.policy,
            state_labels=public.states,
            action_labels=public.actions,
            when=f"from {uploads.people(spec.learned_from, public.episodes)}",
            see=bounds_by_start(public.states, found.lower.tolist()),
            dark=dark,
        )
    if spec.kind != OfflineSpec.kind:
        raise SpecError("measure", f"policy needs a run on a data set; {spec.label()} is an online run.")
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    return learned_picture(found, len(found.detail_n) - 1, mdp, dark=dark)


def known_of(trace: Trace[Any]) -> RunCurves:
    """Return a run's curves and its V*."""
    return RunCurves(trace.at, trace.values, v_star=trace.seeds[0].v_star)


def private_of(traces: Traces) -> Traces:
    """Return the private runs. Raises SpecError if there are none, or if one of them lacks its non-private baseline."""
    private = {name: trace for name, trace in traces.items() if trace.spec != trace.spec.baseline()}
    if not private:
        raise SpecError("traces", "no run is private, so there is no privacy cost; add a private run.")
    specs = [trace.spec for trace in traces.values()]
    for spec in (trace.spec for trace in private.values()):
        if spec.baseline() not in specs:
            raise reject("measure", SAID["baseline"], run=spec.label())
    return private


def named(traces: Traces) -> list[tuple[str, Any, CurveStyle]]:
    """Return the name, the spec and the style of each run. Raises SpecError if there are too many to distinguish."""
    if len(traces) > style.MOST_CURVES:
        raise reject("traces", SAID["curves"], curves=len(traces), most=style.MOST_CURVES)
    looks = numbered(marked([style_of(trace.spec) for trace in traces.values()]))
    return [(name, trace.spec, look) for (name, trace), look in zip(traces.items(), looks, strict=True)]
