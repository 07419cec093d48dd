"""Sentences about curves of regret and about suboptimal episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dprl.figures.lines import SEEDS, Series
from dprl.figures.regret import Measure, distinct
from dprl.figures.trust import LEARNED
from dprl.messages import filled, messages
from dprl.metrics.curves import Statistic
from dprl.metrics.growth import late_share
from dprl.sentences.doubts import NOTHING, of_seeds
from dprl.words import human, percent, quoted, rough, some, to_the

SAID = messages("charts")["regret"]
NAMED = 5  # if more others than this exist, only the draft and the worst are named
DRAFT = "Draft: "  # begins the name of a draft
ALIKE = 1.05  # a smaller ratio counts as equal
AVERAGES = ("share", "per-episode")  # views that average over the episodes so far


@dataclass(frozen=True)
class _End:
    name: str
    curve: Series
    episodes: float  # the last checkpoint that all seeds reached
    value: float  # the mean (or median) there, or at the point of comparison


def about_regret(curves: Sequence[Series], view: Measure, statistic: Statistic = "mean") -> str:
    """Describe which curves lose least and most, the ratio of their losses, and the statistic shown.

    Curves of one environment are compared after the largest number of episodes that two of them reached. Averages
    compare only finished runs. Equal private settings in several environments come first, then the
    environment of a draft.
    """
    ends = _ends(curves)
    if not ends:
        return NOTHING
    places: dict[str, list[_End]] = {}
    for end in sorted(ends, key=lambda end: not end.curve.style.draft):
        places.setdefault(end.curve.place, []).append(end)
    said = [_about_one_place(there, view) for there in places.values()]
    if view in AVERAGES:
        said = [*_across_places(ends, True), *said, *_across_places(ends, False)]
    return " ".join([*said, of_seeds(statistic, min(len(end.curve.rows) for end in ends), SEEDS)])


def _across_places(ends: list[_End], private: bool) -> list[str]:
    """Compare how many episodes runs with equal settings need to learn in different environments."""
    alike: dict[str, list[_End]] = {}
    for end in ends:
        place, _, settings = end.name.removeprefix(DRAFT).partition(": ")
        same = private == (end.curve.style.model != "none")
        if same and settings and place and _users_needed(end) < np.inf:
            alike.setdefault(settings, []).append(end)
    said = []
    for group in alike.values():
        first, last = min(group, key=_users_needed), max(group, key=_users_needed)
        if (times := _users_needed(last) / _users_needed(first)) >= ALIKE:
            runs = {"run": quoted(last.name), "other": quoted(first.name)}
            said.append(filled(SAID["learned_elsewhere"], **runs, times=rough(times)))
    return said


def _about_one_place(all_ends: list[_End], view: Measure) -> str:
    if view in AVERAGES and len(all_ends) > 1 and not any(end.curve.complete for end in all_ends):
        return filled(SAID["left_out"], runs=some([quoted(end.name) for end in all_ends], 2))
    finished = [end for end in all_ends if end.curve.needed is not None]
    ends = finished if finished and view in AVERAGES else all_ends
    at = sorted(end.episodes for end in ends)[-2:][0]
    met = [_lost_after(end, at, view) for end in ends if end.episodes >= at]
    known = all(end.curve.v_star and end.curve.needed is not None for end in met)
    if view == "extra":
        said = _extra(met, at)
    elif view in AVERAGES and len(met) > 1 and known and any(_users_needed(end) < np.inf for end in met):
        said = _users(met, at, view)
    else:
        said = _best_and_others(met, at, view)
    short = [quoted(end.name) for end in all_ends if end not in ends or end.episodes < at]
    return f"{said} {filled(SAID['left_out'], runs=some(short, 2))}" if short else said


def _users_needed(end: _End) -> float:
    needed = end.curve.needed
    return np.inf if needed is None or np.isnan(needed) else needed


def _users(ends: list[_End], at: float, view: Measure) -> str:
    """Compare the episodes that each run needs to learn with those that the fastest run needs."""
    first, *others = sorted(ends, key=lambda end: (_users_needed(end), _average(end, at, view)))
    least = _users_needed(first)
    parts = []
    for end in _worth_naming(others):
        run, times = quoted(end.name), _users_needed(end) / least
        if times == np.inf:
            lost = _loss(end, at, view, short=True)
            parts.append(filled(SAID["not_learned"], run=run, users=human(at), loss=lost))
        elif times < ALIKE:
            parts.append(filled(SAID["learned_alike"], run=run))
        else:
            parts.append(filled(SAID["learned_later"], run=run, times=rough(times)))
    told = {"users": rough(least), "share": percent(LEARNED), "others": " ".join(parts)}
    return filled(SAID["learned"], run=quoted(first.name), **told)


def _worth_naming(others: list[_End]) -> list[_End]:
    return [end for end in others if len(others) <= NAMED or end.curve.style.draft or end is others[-1]]


def _best_and_others(ends: list[_End], at: float, view: Measure) -> str:
    ends.sort(key=lambda e: _average(e, at, view))
    best, *others = ends
    first = {"users": human(at), "run": quoted(best.name), "loss": _loss(best, at, view)}
    said = [filled(SAID["lost" + _compared(ends, at)], **first)]
    for end in _worth_naming(others):
        low, high = _average(best, at, view), _average(end, at, view)
        other = {"run": quoted(end.name), "loss": _loss(end, at, view, short=True)}
        if low > 0 and high / low >= 1.5:
            said.append(filled(SAID["beside_times"], **other, times=rough(high / low)))
        else:
            said.append(filled(SAID["beside"], **other))
    if not others and best.curve.growth is not None and np.isfinite(best.curve.growth[0]):
        said.append(filled(SAID["grew"], growth=to_the("K", *best.curve.growth)))
    return " ".join(said)


def _ends(curves: Sequence[Series]) -> list[_End]:
    ends = []
    for name, curve in zip(distinct([curve.label for curve in curves]), curves, strict=True):
        known = np.flatnonzero(np.isfinite(curve.center))
        if curve.shown and len(known):
            last = known[-1]
            ends.append(_End(name, curve, float(curve.x[last]), float(curve.center[last])))
    return ends


def _lost_after(end: _End, at: float, view: Measure) -> _End:
    """Return a curve's loss after `at` episodes, by linear interpolation of its total loss."""
    if at == end.episodes:
        return end
    known = np.isfinite(end.curve.center)
    episodes, values = end.curve.x[known].astype(float), end.curve.center[known]
    totals = values * episodes if view in AVERAGES else values
    value = float(np.interp(at, np.concatenate([[0.0], episodes]), np.concatenate([[0.0], totals])))
    return replace(end, value=value / at if view in AVERAGES else value)


def _average(end: _End, at: float, view: Measure) -> float:
    return end.value if view in AVERAGES else end.value / at


def _compared(ends: Sequence[_End], at: float) -> str:
    """Return the suffix of a template's name: "_where_compared" if a curve goes beyond the range compared, else ""."""
    return "_where_compared" if any(end.episodes > at for end in ends) else ""


def _loss(end: _End, at: float, view: Measure, short: bool = False) -> str:
    v_star, average = end.curve.v_star, _average(end, at, view)
    if view == "share":
        if short or not v_star:
            return percent(average)
        return filled(SAID["share_of_best"], share=percent(average), best=f"{v_star:#.3g}")
    told = {"each": human(average)}
    whole = view == "cumulative" and not short
    if whole:
        told["total"] = human(end.value)
    if not v_star:
        return filled(SAID["total" if whole else "each"], **told)
    told["share"] = percent(average / v_star)
    if short:
        return filled(SAID["each_short"], **told)
    return filled(SAID["total_of_best" if whole else "each_of_best"], **told, best=f"{v_star:#.3g}")


def _extra(ends: list[_End], at: float) -> str:
    ends.sort(key=lambda e: e.value)
    said: list[str] = []
    for end in [ends[0], ends[-1]] if len(ends) > 1 else ends:
        told = {"run": quoted(end.name), "total": human(end.value), "each": human(end.value / at)}
        if said:
            said.append(filled(SAID["cost_there"], **told))
        else:
            said.append(filled(SAID["cost" + _compared(ends, at)], **told, users=human(at)))
        share = late_share(end.curve.x, end.curve.center, at)
        if 0 <= share < 0.2:
            said.append(filled(SAID["flat"], share=percent(share)) if share else SAID["stopped"])
        elif share > 0.5:
            said.append(filled(SAID["grows"], share=percent(share)))
    return " ".join(said)


def about_mistakes(curves: Sequence[Series], statistic: Statistic = "mean") -> str:
    """Name the curves with the fewest and the most episodes that lose more than the smallest alpha."""
    if not curves or not len(curves[0].x):
        return NOTHING
    alpha = float(curves[0].x.min())
    often = {
        quoted(curve.label): float(curve.center[curve.x == alpha][0])
        for curve in curves
        if (curve.x == alpha).any()
    }
    least, *others = sorted(often, key=lambda label: often[label])
    said = [filled(SAID["least"], run=least, episodes=human(often[least]), alpha=human(alpha))]
    said += [filled(SAID["most"], run=most, episodes=human(often[most])) for most in others[-1:]]
    return " ".join([*said, of_seeds(statistic, len(curves[0].rows), SEEDS)])
