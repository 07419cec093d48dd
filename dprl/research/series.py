"""Curves of runs for charts: the style of each, and its mean over seeds with an interval."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np

from dprl import metrics
from dprl.environments import ENVIRONMENTS
from dprl.figures import regret, steps
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle, marked, numbered
from dprl.figures.picture import Picture
from dprl.figures.regret import Measure
from dprl.figures.trust import LEARNED
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.mdp import TabularMDP
from dprl.metrics import search
from dprl.metrics.curves import Array, RunCurves
from dprl.privacy import PRIVATIZERS, outside
from dprl.privacy.curator import PROMISES
from dprl.sentences.offline import about_actions, about_gaps, about_prices, trajectories
from dprl.sentences.regret import about_mistakes, about_regret
from dprl.simulation import OfflineSpec, OfflineTrace, RunSpec, SeedTrace
from dprl.simulation.pairs import calibrations_for
from dprl.theory import BOUNDS, Bound

PAPER_RANGE = {"linear-synthetic": 1000}  # the largest n that QW23-offline simulates (Figure 1)
FALLS_FROM = 100  # the least number of points; the exponent of a privacy cost uses the last tenfold
DELTA = 1e-6  # the delta at which budgets of different kinds are compared
PROVED = {
    "none": "",
    "zcdp": "",
    "pure": "-pure",
}  # suffixes of an offline learner's key in the names of its bounds


def style_of(spec: RunSpec) -> CurveStyle:
    """Return the style of a run's curve."""
    noises = dict.fromkeys(  # the first learner's styles first, and those of other packages last
        (m, size)
        for foreign in (False, True)
        for algorithm in ALGORITHMS
        for m in PRIVATIZERS[spec.privacy].mechanisms
        if outside.is_outside(m) == foreign
        for size in calibrations_for(algorithm, m)
    )
    noise = next((i for i, own in enumerate(noises) if own == (spec.mechanism, spec.calibration)), 0)
    return CurveStyle(spec.privacy, spec.epsilon, noise, list(ALGORITHMS).index(spec.algorithm))


def style_of_data(spec: OfflineSpec) -> CurveStyle:
    """Return the style of a run on data sets. Its curator is trusted, as in the central model."""
    noises = [(promise.key, size) for promise in PROMISES.values() for size in ("paper", "calibrated")]
    baselines = list(dict.fromkeys(learner.baseline for learner in OFFLINE.values()))
    learner = baselines.index(OFFLINE[spec.algorithm].baseline) + len(baselines) * (spec.rewards == "learned")
    if spec.calibration is None:
        return CurveStyle("none", learner=learner)
    return CurveStyle("central", comparable(spec), noises.index((spec.privacy, spec.calibration)), learner)


def comparable(spec: OfflineSpec) -> float | None:
    """Return the approximate epsilon of a run's guarantee at DELTA, which decides its colour; None without one.

    For rho-zCDP it is rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016, Proposition 1.3); otherwise its own.
    """
    if spec.rho is not None:
        return spec.rho + 2 * math.sqrt(spec.rho * math.log(1 / DELTA))
    return spec.epsilon


def place_of(spec: RunSpec | OfflineSpec) -> str:
    """Return the name of the environment with its parameters; losses are compared only within one environment."""
    return json.dumps([spec.environment, dict(spec.environment_params)], sort_keys=True)


def series_of(
    spec: RunSpec,
    known: RunCurves,
    baseline: RunCurves | None,
    look: CurveStyle,
    title: str,
    measure: Measure,
    statistic: metrics.Statistic = "mean",
    *,
    note: str = "",
    finished: bool = True,
    v_star: float | None = None,
) -> Series:
    """Return one curve of a comparison.

    Args:
        spec: the run.
        known: its known results; baseline: those of its non-private baseline, for measure `extra`.
        look: see `style_of`.
        title: its name.
        measure: the quantity drawn.
        statistic: the statistic over seeds.
        note: the text for a run that is not finished.
        v_star: the value of an optimal episode, if it is known.

    Raises:
        ValueError: The measure is `extra` without a baseline, or `share` with v_star unknown or 0.
    """
    episodes, rows, averaged = known.at, known.values, known.averaged
    if measure in ("share", "per-episode"):
        best = 1.0
        if measure == "share":
            if not v_star:
                raise ValueError("a share is one of v_star; give it, above 0")
            best = v_star
        rows, averaged = (metrics.per_episode(episodes, each) / best for each in (rows, averaged))
    elif measure == "extra":
        if baseline is None:
            raise ValueError("extra regret is counted from the non-private baseline; give its curves")
        rows = known.beyond(baseline)
        done = known.done[: len(rows)]
        averaged = rows[done] if done.any() else rows
    center, low, high = metrics.BANDS[statistic](averaged)
    needed = None
    if finished and measure in ("share", "per-episode") and v_star and len(episodes) > 1:
        good = LEARNED if measure == "share" else LEARNED * v_star
        needed = search.stays_below(episodes.astype(float), center, good)
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
        place=place_of(spec),
        world=ENVIRONMENTS[spec.environment].called(spec.environment_params),
    )


def regret_picture(
    specs: Mapping[str, RunSpec],
    known: Mapping[RunSpec, RunCurves],
    measure: Measure = "cumulative",
    statistic: metrics.Statistic = "mean",
    **how: bool,
) -> Picture:
    """Draw the dashboard's chart of finished online runs, named as in the legend.

    Args:
        known: the curves of each run and, for measure `extra`, of its non-private baseline.
        how: settings of the axes, the seeds and the colours, see `figures.regret.comparison`.
    """
    styles = numbered(marked([style_of(spec) for spec in specs.values()]))
    curves = [
        series_of(spec, known[spec], known.get(spec.baseline()), look, name, measure, statistic,
                  v_star=known[spec].v_star)
        for (name, spec), look in zip(specs.items(), styles, strict=True)
    ]  # fmt: skip
    see = about_regret(curves, measure, statistic)
    return regret.comparison(curves, view=measure, statistic=statistic, see=see, **how)


def mistakes_series(
    label: str, look: CurveStyle, seeds: Sequence[SeedTrace], statistic: metrics.Statistic = "mean"
) -> Series | None:
    """Return the number of episodes of a run that were suboptimal by more than alpha, against alpha.

    Traces measure alpha in shares of the best state's value, which may exceed V*. Larger alphas than V* are left out,
    since no episode can lose more; None if nothing is left.
    """
    possible = seeds[0].pac_alpha < seeds[0].v_star
    if not possible.any():
        return None
    rows = np.array([seed.pac_count[-1] for seed in seeds], float)[:, possible]
    return Series(label, look, seeds[0].pac_alpha[possible], rows, *metrics.BANDS[statistic](rows))


def mistakes_picture(curves: Sequence[Series], statistic: metrics.Statistic = "mean", **how: bool) -> Picture:
    """Draw the dashboard's chart of suboptimal episodes. how: see `figures.regret.mistakes_over_alpha`."""
    see = about_mistakes(curves, statistic)
    return regret.mistakes_over_alpha(curves, statistic=statistic, see=see, **how)


# ---- runs on data sets


def gap_series(
    label: str,
    look: CurveStyle,
    known: RunCurves,
    v_star: float | None,
    *,
    note: str = "",
    finished: bool = True,
) -> Series:
    """Return the suboptimality of one run over n: the mean over data sets, with its interval. v_star: if known."""
    mean, low, high = metrics.regret_band(known.averaged)
    return Series(
        label=label,
        style=look,
        x=known.at,
        rows=known.values,
        center=mean,
        low=low,
        high=high,
        complete=finished,
        note=note,
        v_star=v_star,
    )


def price_series(label: str, look: CurveStyle, at: metrics.Integers, own: Array, free: Array) -> Series:
    """Return the privacy cost of the lower bound against n, if both runs learned from the same data sets.

    own, free: the values V~ with and without noise [seeds, C].
    """
    rows = free - own
    return Series(label, look, at, rows, *metrics.regret_band(rows))


def gap_picture(
    specs: Sequence[OfflineSpec], curves: Sequence[Series], v_star: float | None, **how: bool
) -> Picture:
    """Draw the dashboard's chart of suboptimality over n. how: see `figures.regret.gaps_over_n`."""
    see = about_gaps(curves, v_star)
    return regret.gaps_over_n(curves, shaded=paper_range(specs), see=see, **how)


def suboptimality_picture(
    specs: Mapping[str, OfflineSpec], known: Mapping[str, RunCurves], **how: bool
) -> Picture:
    """Draw the chart of suboptimality over n for finished runs, named as in the legend, from their curves and v*."""
    v_star = next(iter(known.values())).v_star if len(set(map(place_of, specs.values()))) == 1 else None
    looks = numbered(marked([style_of_data(spec) for spec in specs.values()]))
    curves = [gap_series(name, look, known[name], v_star) for name, look in zip(specs, looks, strict=True)]
    return gap_picture(list(specs.values()), curves, v_star, **how)


def price_picture(specs: Sequence[OfflineSpec], curves: Sequence[Series], **how: bool) -> Picture:
    """Draw the dashboard's chart of the privacy cost in the lower bound. how: see `figures.regret.prices_over_n`."""
    first = max(FALLS_FROM, float(curves[0].x[-1]) / 10)
    theorems = [falls_by(spec) for spec in specs]
    proved = dict.fromkeys(one for one in theorems if one is not None)
    see = about_prices(curves, first, list(proved))
    return regret.prices_over_n(curves, proved=[one[1] if one else "" for one in theorems], see=see, **how)


def bound_of(spec: OfflineSpec) -> Bound | None:
    """Return the paper's bound for a run on data sets, or None: our own algorithms have none."""
    if spec.privacy not in PROVED:
        return None
    return BOUNDS.get(spec.algorithm + PROVED[spec.privacy])


def falls_by(spec: OfflineSpec) -> tuple[str, str] | None:
    """Return a run's algorithm and the theorem by which the cost of noise falls like 1/n, if a paper proves this."""
    bound = bound_of(spec)
    if bound is None or not any(term.private and term.K == -1 for term in bound.terms):
        return None
    return bound.title, bound.paper.rpartition(", ")[2]


def paper_range(specs: Sequence[OfflineSpec]) -> tuple[float, str] | None:
    """Return the largest n that the paper simulates, and words for it, if the runs go beyond it; else None."""
    ends = {PAPER_RANGE.get(spec.environment) for spec in specs}
    end = ends.pop()
    if ends or end is None or max(spec.n for spec in specs) <= end:
        return None
    return float(end), f"the paper's range, n ≤ {end:,}"


def learned_picture(trace: OfflineTrace, at: int, mdp: TabularMDP, *, dark: bool = False) -> Picture:
    """Draw the policy learned from one data set, step by step, compared with the optimal policy, and how often the
    policy that generated the data takes the same action. at: the index of a data set with details."""
    policy, best = trace.policy[at], trace.optimal_policy
    wrong = metrics.worse_actions(policy, best, trace.optimal_Q)
    weight = metrics.weighed(wrong, trace.optimal_occupancy)
    here = trace.behaviour.sum(-1)
    taken = np.take_along_axis(trace.behaviour, policy[..., None].astype(np.intp), -1)[..., 0]
    agrees = np.divide(taken, here, out=np.full_like(taken, np.nan), where=here > 0)
    return steps.policy_by_step(
        policy,
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        optimal_policy=best,
        optimal_occupancy=trace.optimal_occupancy,
        wrong=wrong,
        weight=weight,
        behaviour=agrees,
        when=f"from {trajectories(int(trace.detail_n[at]))}",
        see=about_actions(
            int(wrong.sum()), wrong.size, float(weight.sum()) / mdp.H, float(taken.sum() / here.sum())
        ),
        dark=dark,
    )
