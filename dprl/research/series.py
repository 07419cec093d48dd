"""Curves of runs for charts: the style of each, and its mean over seeds with an interval."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.figures import regret, steps
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.figures.regret import Measure
from dprl.figures.trust import LEARNED
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.mdp import TabularMDP
from dprl.metrics import search
from dprl.metrics.curves import BANDS, RunCurves, Statistic, regret_band
from dprl.metrics.growth import growth_exponent
from dprl.metrics.policies import worse_actions
from dprl.privacy import PRIVATIZERS, outside
from dprl.privacy.curator import PROMISES
from dprl.sentences.offline import about_actions, about_gaps, trajectories
from dprl.simulation import OfflineSpec, OfflineTrace, RunSpec
from dprl.simulation.pairs import calibrations_for
from dprl.theory import BOUNDS, Bound

DELTA = 1e-6  # the delta at which budgets of different kinds are compared
# suffixes of an offline learner's key in the names of its bounds
PROVED = {"none": "", "zcdp": "", "pure": "-pure"}


def style_of(spec: Any) -> CurveStyle:
    """Return the style of a run's curve. A data set has a trusted curator, as in the central model."""
    if spec.kind == OfflineSpec.kind:
        sizes = [(promise.key, size) for promise in PROMISES.values() for size in ("paper", "calibrated")]
        baselines = list(dict.fromkeys(learner.baseline for learner in OFFLINE.values()))
        learner = baselines.index(OFFLINE[spec.algorithm].baseline)
        learner += len(baselines) * (spec.rewards == "learned")
        if spec.calibration is None:
            return CurveStyle("none", learner=learner)
        return CurveStyle("central", comparable(spec), sizes.index((spec.privacy, spec.calibration)), learner)
    noises = dict.fromkeys(  # the first learner's styles come first, and the styles of other packages' mechanisms last
        (m, size)
        for foreign in (False, True)
        for algorithm in ALGORITHMS
        for m in PRIVATIZERS[spec.privacy].mechanisms
        if outside.is_outside(m) == foreign
        for size in calibrations_for(algorithm, m)
    )
    noise = next((i for i, own in enumerate(noises) if own == (spec.mechanism, spec.calibration)), 0)
    return CurveStyle(spec.privacy, spec.epsilon, noise, list(ALGORITHMS).index(spec.algorithm))


def comparable(spec: OfflineSpec) -> float | None:
    """Return the approximate epsilon of a run's guarantee at DELTA, or None without privacy. It decides the run's
    colour. For rho-zCDP, it is rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016, Proposition 1.3)."""
    if spec.rho is not None:
        return spec.rho + 2 * math.sqrt(spec.rho * math.log(1 / DELTA))
    return spec.epsilon


def place_of(spec: RunSpec | OfflineSpec) -> str:
    """Return a key of the environment and its parameters. Losses are compared only within one environment."""
    return json.dumps([spec.environment, dict(spec.environment_params)], sort_keys=True)


def series_of(
    spec: RunSpec,
    known: RunCurves,
    baseline: RunCurves | None,
    look: CurveStyle,
    title: str,
    measure: Measure,
    statistic: Statistic = "mean",
    *,
    note: str = "",
    finished: bool = True,
    v_star: float | None = None,
) -> Series:
    """Return one curve of a comparison, from the known results of the run and of its non-private baseline. The baseline
    is needed for the measure `extra`, and a `v_star` above 0 for `share`. `note` is the text for an unfinished run."""
    episodes, rows, averaged = known.at, known.values, known.averaged
    if measure in ("share", "per-episode"):
        best = 1.0 if measure == "per-episode" else v_star or math.nan
        rows, averaged = (each / episodes / best for each in (rows, averaged))
    elif measure == "extra":
        assert baseline is not None
        rows = known.beyond(baseline)
        done = known.done[: len(rows)]
        averaged = rows[done] if done.any() else rows
    band = BANDS[statistic](averaged)
    needed = None
    if finished and measure in ("share", "per-episode") and v_star and len(episodes) > 1:
        good = LEARNED if measure == "share" else LEARNED * v_star
        needed = search.stays_below(episodes.astype(float), band[0], good)
    growth = None
    if finished and measure == "cumulative":
        growth = growth_exponent(episodes, known.values, spec.episodes / 10, spec.episodes, statistic)
    return Series(
        title,
        look,
        episodes,
        rows,
        *band,
        complete=finished,
        note=note,
        v_star=v_star,
        growth=growth,
        needed=needed,
        place=place_of(spec),
        world=ENVIRONMENTS[spec.environment].called(spec.environment_params),
    )


def gap_series(
    label: str,
    look: CurveStyle,
    known: RunCurves,
    v_star: float | None,
    *,
    note: str = "",
    finished: bool = True,
) -> Series:
    """Return the curve of one run's suboptimality over n: the mean over data sets, with an interval."""
    band = regret_band(known.averaged)
    return Series(label, look, known.at, known.values, *band, complete=finished, note=note, v_star=v_star)


def gap_picture(curves: Sequence[Series], v_star: float | None, **how: bool) -> Picture:
    """Draw the dashboard's chart of suboptimality over n. `how` is passed to `figures.regret.gaps_over_n`."""
    return regret.gaps_over_n(curves, see=about_gaps(curves, v_star), **how)


def bound_of(spec: OfflineSpec) -> Bound | None:
    """Return the paper's bound for a run on data sets, or None for our own algorithms, which have none."""
    if spec.privacy not in PROVED:
        return None
    return BOUNDS.get(spec.algorithm + PROVED[spec.privacy])


def learned_picture(trace: OfflineTrace, at: int, mdp: TabularMDP, *, dark: bool = False) -> Picture:
    """Draw the policy learned from data set `at`, the optimal policy, and how often the data agree with the former."""
    policy, best = trace.policy[at], trace.optimal_policy
    wrong = worse_actions(policy, best, trace.optimal_Q)
    weight = np.where(wrong, trace.optimal_occupancy, 0.0)
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
