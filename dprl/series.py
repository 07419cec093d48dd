"""Curves of online runs as charts take them: what each looks like, and its mean over seeds with an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from dprl import metrics, search
from dprl.curves import RunCurves
from dprl.figures import regret
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle, numbered
from dprl.figures.picture import Picture
from dprl.figures.trust import LEARNED
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.privacy import PRIVATIZERS
from dprl.privacy.curator import PROMISES
from dprl.sentences.regret import about_regret
from dprl.simulation import OfflineSpec, RunSpec
from dprl.simulation.pairs import calibrations_for

Measure = Literal["cumulative", "per-episode", "extra"]
DELTA = 1e-6  # at which budgets of different promises are compared


def style_of(spec: RunSpec) -> CurveStyle:
    """What gives a run's curve its look."""
    noises = dict.fromkeys(  # those of the first learner first
        (m, size)
        for algorithm in ALGORITHMS
        for m in PRIVATIZERS[spec.privacy].mechanisms
        for size in calibrations_for(algorithm, m)
    )
    noise = next((i for i, own in enumerate(noises) if own == (spec.mechanism, spec.calibration)), 0)
    return CurveStyle(spec.privacy, spec.epsilon, noise, list(ALGORITHMS).index(spec.algorithm))


def style_of_data(spec: OfflineSpec) -> CurveStyle:
    """The same of a run on data sets. The curator is trusted, as a central agent is."""
    noises = [(promise.key, size) for promise in PROMISES.values() for size in ("paper", "tight")]
    twins = list(dict.fromkeys(learner.twin for learner in OFFLINE.values()))
    learner = twins.index(OFFLINE[spec.algorithm].twin)
    if spec.calibration is None:
        return CurveStyle("none", learner=learner)
    return CurveStyle("central", comparable(spec), noises.index((spec.privacy, spec.calibration)), learner)


def comparable(spec: OfflineSpec) -> float | None:
    """About the epsilon of its promise at DELTA, by which colours are as private as on other pages; None without one.

    Of rho-zCDP rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016, Proposition 1.3); of others their own.
    """
    if spec.rho is not None:
        return spec.rho + 2 * math.sqrt(spec.rho * math.log(1 / DELTA))
    return spec.epsilon


def series_of(
    spec: RunSpec,
    known: RunCurves,
    twin: RunCurves | None,
    look: CurveStyle,
    title: str,
    measure: Measure,
    statistic: metrics.Statistic = "mean",
    *,
    note: str = "",
    finished: bool = True,
    v_star: float | None = None,
) -> Series:
    """One curve of a comparison.

    Args:
        spec: the run.
        known: what is known of it; twin: of its non-private baseline, for measure `extra`.
        look: see `style_of`.
        title: its name.
        measure: what is drawn.
        statistic: of the seeds.
        note: what to say of a run that is not finished.
        v_star: the value of an optimal episode, where it is known.

    Raises:
        ValueError: the measure is `extra`, and there is no twin.
    """
    episodes, rows, averaged = known.at, known.values, known.averaged
    if measure == "per-episode":
        rows, averaged = metrics.per_episode(episodes, rows), metrics.per_episode(episodes, averaged)
    elif measure == "extra":
        if twin is None:
            raise ValueError("extra regret is counted from the non-private baseline; give its curves")
        rows = known.beyond(twin)
        done = known.done[: len(rows)]
        averaged = rows[done] if done.any() else rows
    center, low, high = metrics.BANDS[statistic](averaged)
    needed = None
    if finished and measure == "per-episode" and v_star and len(episodes) > 1:
        needed = search.stays_below(episodes.astype(float), center, LEARNED * v_star)
    growth = None
    if finished and measure == "cumulative":
        growth = metrics.growth_exponent(episodes, known.values, spec.episodes / 10, spec.episodes, statistic)
    return Series(
        label=title,
        style=look,
        x=episodes,
        rows=rows,
        center=center,
        low=low,
        high=high,
        complete=finished,
        note=note,
        v_star=v_star,
        growth=growth,
        needed=needed,
    )


def regret_picture(
    specs: Mapping[str, RunSpec],
    known: Mapping[RunSpec, RunCurves],
    measure: Measure = "cumulative",
    statistic: metrics.Statistic = "mean",
    **how: bool,
) -> Picture:
    """The dashboard's chart of online runs that have ended, by their names in the legend.

    Args:
        known: the curves of each and, for measure `extra`, of its non-private baseline.
        how: of the axes, the seeds and the colours, see `figures.regret.comparison`.
    """
    styles = numbered([style_of(spec) for spec in specs.values()])
    curves = [
        series_of(spec, known[spec], known.get(spec.twin()), look, name, measure, statistic,
                  v_star=known[spec].v_star)
        for (name, spec), look in zip(specs.items(), styles, strict=True)
    ]  # fmt: skip
    see = about_regret(curves, measure, statistic)
    return regret.comparison(curves, view=measure, statistic=statistic, see=see, **how)
