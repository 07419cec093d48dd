"""Experiments on the regret of online algorithms: which runs lose less, what privacy costs, and how fast both grow."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dprl.learners import ALGORITHMS
from dprl.metrics.attack import Measured
from dprl.metrics.curves import Array, Evidence, RunCurves
from dprl.metrics.growth import FLAT, growth_by_decade, power_law
from dprl.metrics.verdicts import Finding, at_most, every_more_than, grows, rate
from dprl.papers.claim import Setting, SettingPlot, SpecSeries, baselined, environment_of, heading, plot_of
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.words import human

USERS = "Episodes (one user each)"
Points = tuple[Array, Array]  # x [P], and values [seeds, P] at x


def problem_title(spec: RunSpec, note: str = "") -> str:
    """Return a heading with a run's environment, its learner, its number of users, and a note."""
    return heading(
        environment_of(spec), ALGORITHMS[spec.algorithm].title, f"K = {human(spec.episodes)}", note
    )


def trust_label(spec: RunSpec) -> str:
    """Return a label with a run's privacy model and its epsilon, if it has one."""
    name = PRIVATIZERS[spec.privacy].title
    return name if spec.privacy == "none" else f"{name}, ε = {spec.epsilon:g}"


def learned(run: RunCurves) -> bool:
    """Return whether the mean loss is below half of V*. Otherwise, regret mostly shows which bad policy is played."""
    return bool(run.ends.mean() < 0.5 * run.at[-1] * run.v_star)


def order(chains: Sequence[Sequence[RunSpec]], note: str = "") -> Setting:
    """Test that each run in a chain loses less than the next in every seed, unless neither has learned anything."""
    specs = tuple(dict.fromkeys(spec for chain in chains for spec in chain))
    algorithms = dict.fromkeys(ALGORITHMS[spec.algorithm].title for spec in specs)
    title = problem_title(specs[-1], note)
    if len(algorithms) > 1:
        first, names = specs[0], " before ".join(algorithms)
        title = heading(environment_of(first), names, trust_label(first), f"K = {human(first.episodes)}")

    def judge(evidence: Evidence) -> Finding:
        runs = evidence.runs
        pairs = [pair for chain in chains for pair in itertools.pairwise(chain)]
        found = every_more_than(
            np.array([np.log(runs[more].ends / runs[less].ends) for less, more in pairs]),
            0.0,
            [not learned(runs[less]) and not learned(runs[more]) for less, more in pairs],
        )
        value, low, high = (float(np.exp(v)) for v in (found.value, found.low, found.high))
        return Finding(value, low, high, 1.0, found.verdict, (1.0, np.inf))

    def label(spec: RunSpec) -> str:
        return ALGORITHMS[spec.algorithm].title if len(algorithms) > 1 else trust_label(spec)

    def average(evidence: Evidence, spec: RunSpec) -> Points:
        run = evidence.runs[spec]
        return run.at.astype(float), run.values / run.at / run.v_star

    return Setting(
        title,
        "smallest ratio of regret between neighbours in the order",
        "more than 1",
        specs,
        judge,
        plot_of(("Average loss per episode so far", USERS, "Share of V* lost"), specs, label, average),
        form="ratio",
    )


def price(evidence: Evidence, spec: RunSpec) -> Points:
    """Return the checkpoints [C] of a run, and the privacy cost up to each of them [seeds, C]."""
    run, baseline = evidence.runs[spec], evidence.runs[spec.baseline()]
    return run.at.astype(float), run.beyond(baseline)


def last_growth(evidence: Evidence, spec: RunSpec) -> Measured:
    """Return the exponent with which the privacy cost grew from K/10 to K users."""
    at, extra = price(evidence, spec)
    last = growth_by_decade(at.astype(np.int64), extra)[-1]
    return Measured(last.mean, last.low, last.high) if last.known else Measured(np.nan, np.nan, np.nan)


def flattens(spec: RunSpec, beside: Sequence[RunSpec] = (), note: str = "") -> Setting:
    """Test that the privacy cost stops growing. The chart also shows the runs `beside`."""
    drawn = (spec, *beside)
    return Setting(
        problem_title(spec, note),
        "exponent of the privacy cost in K, from K/10 to K users",
        f"at most {FLAT:g}",
        baselined(drawn),
        lambda evidence: at_most(last_growth(evidence, spec), FLAT),
        plot_of(("Privacy cost so far", USERS, "Extra regret (reward lost)"), drawn, trust_label, price),
    )


def goes_on(spec: RunSpec, beside: Sequence[RunSpec] = (), note: str = "") -> Setting:
    """Test that the privacy cost keeps growing, but at most like sqrt(K)."""
    setting = flattens(spec, beside, note)
    return replace(
        setting,
        asks=f"more than {FLAT:g}, at most {0.5 + FLAT:g}",
        judge=lambda evidence: grows(last_growth(evidence, spec), 0.5),
    )


def exponent_of(
    points: Callable[[Evidence], Points],
    exponent: float,
    specs: Sequence[Any],
    *,
    paired: bool = True,
    whole: bool = False,
    title: str,
    statistic: str,
    labels: tuple[str, str, str],
    name: str = "",
) -> Setting:
    """Test that values grow at most like x^exponent. For each seed, the slope of a line on log-log axes is measured.

    paired is true if the non-private baselines are also needed, and whole if whole curves are. labels are the titles of
    the chart and its axes, and name is the curve's name.
    """
    alike = not name and len({spec.epsilon for spec in specs}) == 1
    who = name or (trust_label(specs[0]) if alike else PRIVATIZERS[specs[0].privacy].title)

    def draw(evidence: Evidence) -> SettingPlot:
        x, rows = points(evidence)
        mean = rows.mean(axis=0)
        height = np.exp(np.mean(np.log(np.maximum(mean, 1e-300)) - exponent * np.log(x)))
        slope = f"{exponent:.3g}".replace("-", "−")
        bound = (f"reference slope {slope}, the bound's", x, height * x**exponent)
        return SettingPlot(*labels, (SpecSeries(specs[0], who, x, rows, alike),), bound)

    return Setting(
        title,
        statistic,
        f"at most {exponent:.3g} + {FLAT:g}",
        baselined(specs) if paired else tuple(dict.fromkeys(specs)),
        lambda evidence: rate(Measured(*power_law(*points(evidence))), exponent),
        draw,
        whole=whole,
    )


def inverse(specs: Sequence[RunSpec]) -> Array:
    """Return 1/epsilon of each run, [P]."""
    return np.array([1 / (spec.epsilon or np.inf) for spec in specs])


def in_budget(specs: Sequence[RunSpec], note: str = "") -> Setting:
    """Test that the privacy cost grows at most in proportion to 1/epsilon."""

    def points(evidence: Evidence) -> Points:
        ends = [price(evidence, spec)[1][:, -1] for spec in specs]
        return inverse(specs), np.column_stack(ends)

    return exponent_of(
        points,
        1.0,
        specs,
        title=problem_title(specs[0], heading(note, f"ε from {specs[0].epsilon:g} to {specs[-1].epsilon:g}")),
        statistic="exponent of the privacy cost in 1/ε",
        labels=("Privacy cost", "1/ε", "Extra regret (reward lost)"),
    )


def in_users(specs: Sequence[RunSpec], exponent: float, note: str = "") -> Setting:
    """Test that regret grows at most like K^exponent, using runs with different K that have all learned something."""

    def points(evidence: Evidence) -> Points:
        runs = [run for run in (evidence.runs[spec] for spec in specs) if learned(run)]
        users = np.array([float(run.at[-1]) for run in runs])
        return users, np.column_stack([run.ends for run in runs]) if runs else np.zeros((0, 0))

    first, users = specs[0], f"K from {human(specs[0].episodes)} to {human(specs[-1].episodes)}"
    return exponent_of(
        points,
        exponent,
        specs,
        paired=False,
        title=heading(
            environment_of(first), ALGORITHMS[first.algorithm].title, trust_label(first), users, note
        ),
        statistic="exponent of regret in K",
        labels=("Cumulative regret, for each number of users", USERS, "Regret (reward lost)"),
    )
