"""About curves of regret, of suboptimal episodes, and of pulls of bad arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dprl.figures.lines import Series, Statistic
from dprl.figures.pulls import PullCurve
from dprl.figures.regret import Measure, distinct
from dprl.figures.trust import LEARNED
from dprl.metrics import late_share, skewed_median
from dprl.sentences import seeds
from dprl.words import after, human, percent, quoted, rough, some, to_the

LITTLE = 0.001  # a share of V*
NOTHING = "There is nothing to draw yet."


@dataclass(frozen=True)
class _End:
    name: str
    curve: Series
    episodes: float  # the last that all its seeds reached
    value: float  # mean, or median, there; or where curves are compared


def about_regret(curves: Sequence[Series], view: Measure, statistic: Statistic = "mean") -> str:
    """Which curve loses least and which most, and how many times as much; and of which statistic that is said.

    Curves are compared after one number of episodes, the last that at least two of them have come to.
    """
    ends = _ends(curves)
    if not ends:
        return NOTHING
    at = sorted(end.episodes for end in ends)[-2:][0]
    met = [_lost_after(end, at, view) for end in ends if end.episodes >= at]
    if view == "extra":
        said = _extra(met, at)
    elif view == "per-episode" and len(met) > 1 and all(_learned_late(end) for end in met):
        said = _users(met)
    else:
        said = _least_and_most(met, at, view)
    return (
        f"{said} {_left_out(ends, at)}{seeds.of_seeds(statistic, min(len(end.curve.rows) for end in ends))}"
    )


def _learned_late(end: _End) -> bool:
    """Whether an average episode has lost so little by the end that only when it came to that is worth telling."""
    curve = end.curve
    known = curve.v_star and curve.needed is not None and np.isfinite(curve.needed)
    return bool(known) and end.value < LITTLE * (curve.v_star or 0.0)


def _users(ends: list[_End]) -> str:
    """From how many episodes on each has learned, beside the first that has."""
    first, *others = sorted(ends, key=lambda end: end.curve.needed or 0.0)
    least = first.curve.needed or 1.0
    parts = [
        f"{quoted(end.name)}: {rough((end.curve.needed or 0.0) / least)} times as many." for end in others
    ]
    return (
        f"With {quoted(first.name)} it takes {rough(least)} episodes until an average episode loses less than "
        f"{percent(LEARNED)} of V*. The others take more. {' '.join(parts)}"
    )


def _least_and_most(ends: list[_End], at: float, view: Measure) -> str:
    ends.sort(key=lambda e: _average(e, at, view))
    best, worst = ends[0], ends[-1]
    so_far = "" if best.curve.complete or at < best.episodes else "so far "
    said = f"{_after(ends, at)} {quoted(best.name)} has {so_far}lost {_loss(best, at, view)}."
    if len(ends) > 1:
        low, high = _average(best, at, view), _average(worst, at, view)
        said += f" {quoted(worst.name)} lost {_loss(worst, at, view, short=True)}"
        said += f", {rough(high / low)} times as much." if low > 0 and high / low >= 1.5 else "."
    elif best.curve.growth is not None and np.isfinite(best.curve.growth[0]):
        center, low, high = best.curve.growth
        said += f" Over the last decade of episodes regret grew like {to_the('K', center, low, high)}."
        said += " An exponent of 1 means that nothing is learned. The bounds have 0.5."
    return said


def _ends(curves: Sequence[Series]) -> list[_End]:
    ends = []
    for name, curve in zip(distinct([curve.label for curve in curves]), curves, strict=True):
        known = np.flatnonzero(np.isfinite(curve.center))
        if curve.shown and len(known):
            last = known[-1]
            ends.append(_End(name, curve, float(curve.x[last]), float(curve.center[last])))
    return ends


def _lost_after(end: _End, at: float, view: Measure) -> _End:
    """The same after so many episodes: totals by straight lines, from 0 before any."""
    if at == end.episodes:
        return end
    known = np.isfinite(end.curve.center)
    episodes, values = end.curve.x[known].astype(float), end.curve.center[known]
    totals = values * episodes if view == "per-episode" else values
    value = float(np.interp(at, np.concatenate([[0.0], episodes]), np.concatenate([[0.0], totals])))
    return replace(end, value=value / at if view == "per-episode" else value)


def _average(end: _End, at: float, view: Measure) -> float:
    return end.value if view == "per-episode" else end.value / at


def _after(ends: Sequence[_End], at: float) -> str:
    """When curves are compared, as the beginning of a sentence."""
    if any(end.episodes > at for end in ends):
        return f"The curves are compared at {human(at)} episodes, because only one goes further. There"
    return f"After {human(at)} episodes"


def _left_out(ends: Sequence[_End], at: float) -> str:
    """Which curves end before, a sentence with a space after it."""
    short = [quoted(end.name) for end in ends if end.episodes < at]
    return f"Not compared, because they end earlier: {some(short, 2)}. " if short else ""


def _loss(end: _End, at: float, view: Measure, short: bool = False) -> str:
    v_star, average = end.curve.v_star, _average(end, at, view)
    said = f"{human(average)} an episode"
    if v_star:
        share = percent(average / v_star)
        said += f" ({share})" if short else f", {share} of V* = {v_star:#.3g}"
    if view == "cumulative" and not short:
        said = f"{human(end.value)}, {said}"
    return said


def _extra(ends: list[_End], at: float) -> str:
    ends.sort(key=lambda e: e.value)
    said: list[str] = []
    for end in [ends[0], ends[-1]] if len(ends) > 1 else ends:
        where = _after(ends, at) if not said else "There"
        cost = f"{human(end.value)} ({human(end.value / at)} an episode)"
        said.append(f"{where} the privacy cost of {quoted(end.name)} is {cost}.")
        share = late_share(end.curve.x, end.curve.center, at)
        if 0 <= share < 0.2:
            said.append(
                f"That is nearly flat: the last nine tenths of the episodes added only {percent(share)}."
            )
        elif share > 0.5:
            said.append(f"That still grows: the last nine tenths of the episodes added {percent(share)}.")
    return " ".join(said)


def about_mistakes(curves: Sequence[Series], statistic: Statistic = "mean") -> str:
    """Which curve fell short by more than the least alpha in the fewest episodes, and which in the most. Only those are
    compared that have the alpha of the first."""
    if not curves or not len(curves[0].x):
        return NOTHING
    alpha = float(curves[0].x.min())
    often = {
        quoted(curve.label): float(curve.center[curve.x == alpha][0])
        for curve in curves
        if (curve.x == alpha).any()
    }
    least, *others = sorted(often, key=lambda label: often[label])
    said = (
        f"{least} played {human(often[least])} episodes that were more than {human(alpha)} short of optimal."
    )
    for most in others[-1:]:
        said += f" {most} played {human(often[most])}."
    return f"{said} {seeds.of_seeds(statistic, len(curves[0].rows))}"


def about_pulls(curves: Sequence[PullCurve]) -> str:
    """Which curve pulls bad arms least and which most, beside the bound, and whose mean a few seeds carry."""
    centers = [(c.mean.center, c) for c in curves]
    ends = [(float(mean[-1]), c) for mean, c in centers if len(mean) and np.isfinite(mean[-1])]
    if not ends:
        return NOTHING
    ends.sort(key=lambda end: end[0])
    said: list[str] = []
    named = ends if len(ends) < 3 else [ends[0], ends[-1]]
    same = len({float(curve.mean.x[-1]) for _, curve in named}) == 1
    for mean, curve in named:
        words = f"{quoted(curve.mean.label)} has pulled a bad arm {human(mean)} times"
        if not said or not same:
            words = f"{words} {after(float(curve.mean.x[-1]))}"
        if curve.bound is not None:
            words += f", {human(mean / curve.bound)} times the bound"
        said.append(words)
    result = ". ".join(said) + "."
    for _, curve in ends:
        median = skewed_median(curve.mean.rows[:, -1])
        if median is not None:
            result += (
                f" A few seeds carry the mean of {quoted(curve.mean.label)}: the median is {human(median)}. "
                "A seed that returns to a bad arm late keeps that arm for a whole block of users."
            )
    return result
