"""Curves of online runs as charts take them: what each looks like, and its mean over seeds with an interval."""

from __future__ import annotations

from typing import Literal

from dprl import metrics, search
from dprl.curves import RunCurves
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.trust import LEARNED
from dprl.learners import ALGORITHMS
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.simulation.pairs import calibrations_for

Measure = Literal["cumulative", "per-episode", "extra"]


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
