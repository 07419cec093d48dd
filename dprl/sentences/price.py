"""Sentences about the privacy cost: by privacy model, along a sweep, for many users, and with less noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dprl.figures.tradeoff import OVER, Frontier, Measure
from dprl.figures.trust import LEARNED, X_RANGE, Cost
from dprl.messages import filled, messages
from dprl.metrics.curves import Statistic
from dprl.metrics.growth import FLAT, Growth, flat_from
from dprl.metrics.verdicts import least
from dprl.sentences.doubts import NOTHING, of_seeds
from dprl.words import exponents, halving, human, listed, percent, plural, proves, quoted, rough, to_the

SAID = messages("charts")["cost"]

NEAR = 0.01  # share of v*; a suboptimality below it counts as small
NAMED: dict[Measure, str] = {
    "price": "the privacy cost",
    "gap price": "the privacy cost",
    "share": "the share lost",
}
LITTLE = 0.5  # share of the largest possible loss; above it, little was learned


def rough_users(needed: float) -> str:
    """Return a number of users as text with two digits, or "more than" the largest number tried if it is infinite."""
    return rough(needed) if np.isfinite(needed) else f"more than {human(10 ** X_RANGE[1])}"


def about_trust(costs: Sequence[Cost], epsilon: float) -> str:
    """Compare how many users each privacy model needs to learn."""
    free = next(cost for cost in costs if cost.model == "none")
    private = [cost for cost in costs if cost.model != "none"]
    first, last = (private[:-1], private[-1:]) if len(private) > 2 else (private, [])
    # so that each sentence contains "as many" only once
    beside = [_how_many_times(c, free, "times" if i else "times_users") for i, c in enumerate(first)]
    return " ".join(
        [
            filled(SAID["trust"], users=rough_users(free.needed), share=percent(LEARNED)),
            filled(SAID["trust_at"], epsilon=f"{epsilon:g}", models=listed(beside)),
            *(filled(SAID["trust_last"], model=_how_many_times(c, free, "times_users")) for c in last),
        ]
    )


def _how_many_times(cost: Cost, free: Cost, phrase: str) -> str:
    """State how many times as many users a privacy model needs as a run without privacy needs. `phrase` is a key of
    SAID."""
    if not np.isfinite(cost.needed):
        return filled(SAID["times_unmet"], users=human(10 ** X_RANGE[1]), given=cost.given)
    return filled(SAID[phrase], times=rough_users(cost.needed / free.needed), given=cost.given)


def about_frontier(curves: Sequence[Frontier], measure: Measure, symbol: str) -> str:
    """Describe how each curve's privacy cost (or regret) grows, and which curves show little learning."""
    known = [c for c in curves if np.isfinite(c.center).any()]
    if not known:
        return NOTHING
    near = _near(known, symbol) if measure == "gap" else ""
    return near or _slopes(known, measure, symbol)


def how_frontier(
    curves: Sequence[Frontier],
    measure: Measure,
    symbol: str,
    extra: Sequence[str] = (),
    statistic: Statistic = "mean",
) -> list[str]:
    """List the numbers behind `about_frontier`: slopes with intervals and ranges, the mean or median, and notes."""
    known = [c for c in curves if np.isfinite(c.center).any()]
    if not known:
        return list(filter(None, extra))
    fewest = min(int(c.seeds[np.isfinite(c.center)].min()) for c in known)
    slopes = [_slope(c, measure, symbol, short=False) for c in known if np.isfinite(c.slope[0])]
    return [*slopes, of_seeds(statistic, fewest, OVER[measure]), *filter(None, extra)]


def _near(known: Sequence[Frontier], symbol: str) -> str:
    """Describe the range of x in which each curve stays close to the best policy."""
    said: dict[tuple[str, str], list[str]] = {}
    for c in known:
        near = c.share <= NEAR
        where = "near_everywhere" if near.all() else "near_at" if near.any() else "near_nowhere"
        value = listed([human(float(x)) for x in c.x[near]]) if where == "near_at" else ""
        if value and (np.diff(near.astype(int)) >= 0).all():  # from some x on
            where, value = "near_from", human(float(c.x[near][0]))
        said.setdefault((where, value), []).append(quoted(c.label))
    parts = []
    for (name, value), labels in said.items():
        at = {"symbol": symbol, "value": value} if value else {}
        parts.append(filled(SAID[name], runs=listed(labels), **at))
    return filled(SAID["near"], share=percent(NEAR), runs="; ".join(parts))


def _slope(curve: Frontier, measure: Measure, symbol: str, short: bool) -> str:
    """Describe how a curve grows with x. If `short`, omit the interval, and omit the range of x if it is complete."""
    what = NAMED.get(measure, measure)
    power = to_the(symbol, *(curve.slope[:1] if short else curve.slope))
    way = filled(SAID["falls" if curve.slope[0] < 0 else "grows"], what=what, power=power)
    halved = halving(curve.slope, symbol, short, "the cost" if "price" in measure else what)
    said = {"run": quoted(curve.label), "like": halved or way}
    if short and curve.fitted[1] >= float(curve.x[np.isfinite(curve.center)][-1]):
        return filled(SAID["slope"], **said)
    low, high = map(human, curve.fitted)
    return filled(SAID["slope_from"], **said, symbol=symbol, low=low, high=high)


def _slopes(known: Sequence[Frontier], measure: Measure, symbol: str) -> str:
    fitted = [c for c in known if np.isfinite(c.slope[0])]
    said = [*_levels(known, measure, symbol), *(_slope(c, measure, symbol, short=True) for c in fitted)]
    hopeless = [
        c for c in known if c not in fitted and c.style.model != "none" and LITTLE < least([c.share]) < np.inf
    ]
    if hopeless:
        names = listed([quoted(c.label) for c in hopeless])
        lost = percent(least([c.share for c in hopeless]))
        said.append(filled(SAID["little"], runs=names, share=lost))
    return " ".join(said) or NOTHING


def _levels(known: Sequence[Frontier], measure: Measure, symbol: str) -> list[str]:
    """Compare all curves at one point that they share: the budget nearest to 1, or else the last point."""
    points = [
        {x: (loss, share) for x, loss, share in zip(c.x, c.center, c.share, strict=True) if np.isfinite(loss)}
        for c in known
    ]
    common = [x for x in points[0] if all(x in each for each in points)]
    if not common:
        return []
    at = min(common, key=lambda x: abs(math.log(x))) if symbol in ("ε", "ρ") else common[-1]
    runs, best = [], "v*" if "gap" in measure else "V*" if measure == "share" else "K V*"
    for c, each in zip(known, points, strict=True):
        loss, share = each[at]
        run, of_best = quoted(c.label), {"share": percent(share), "best": best}
        if measure == "share":
            runs.append(filled(SAID["level_share"], run=run, **of_best))
        elif share > 0:
            runs.append(filled(SAID["level"], run=run, loss=human(loss), **of_best))
        else:  # the cost is negative, or nothing can be lost
            runs.append(filled(SAID["level_alone"], run=run, loss=human(loss)))
    what = "price" if "price" in measure else "regret"
    return [filled(SAID[f"at_{what}"], symbol=symbol, x=human(float(at)), runs=listed(runs))]


def growth_state(steps: Sequence[Growth]) -> str:
    """Return "flat", "growing" or "unclear" for a privacy cost at the largest numbers of users."""
    if flat_from(steps) is not None:
        return "flat"
    return "growing" if steps[-1].known and steps[-1].low > FLAT else "unclear"


def about_growth(growth: Mapping[str, Sequence[Growth]]) -> str:
    """Describe for each run whether its privacy cost still grows with the number of users."""
    said = []
    for state in ("flat", "growing", "unclear"):
        names = [quoted(name) for name, steps in growth.items() if growth_state(steps) == state]
        if names:
            users = human(max(steps[-1].to_k for steps in growth.values()))
            said.append(filled(SAID[f"growth_{state}"], users=users, runs=listed(names)))
    return " ".join(said)


def how_growth(growth: Mapping[str, Sequence[Growth]]) -> list[str]:
    """List the numbers behind `about_growth`, with one item for each run."""
    said = [filled(SAID["growth_how"], flat=f"{FLAT:g}")] if growth else []
    for name, steps in growth.items():
        last, start = steps[-1], flat_from(steps)
        given = {"run": quoted(name), "seeds": f"{last.seeds} of {plural(last.of, 'seed')}"}
        if not last.known:
            said.append(filled(SAID["growth_unknown"], **given))
            continue
        given["exponent"] = exponents(last.mean, last.low, last.high)
        if start is None:
            said.append(filled(SAID["growth_exponent"], **given))
        else:
            said.append(filled(SAID["growth_flat_from"], **given, users=human(start)))
    return said


def about_ladder(steps: Sequence[Any], own: int | None = None) -> str:
    """Describe how much each idea reduces the paper's noise, and compare the run's own noise with the smallest."""
    before, parts, given_back = steps[0], [], []
    for step in steps:
        if step.idea:
            times = before.std / step.std
            if times >= 1:
                parts.append(f"{rough(times)} from {step.idea}")
            else:
                given_back.append(f"less a factor of {rough(1 / times)} for {step.idea}")
            before = step
    parts += given_back
    first, last = (proves(step.epsilon, step.delta) for step in (steps[0], before))
    said = f"For noise as in the paper, we prove {first} here."
    if parts:
        items = "".join(f"\n- {part}" for part in parts)
        factor = rough(steps[0].std / before.std)
        said += f" With {last} proved, the noise in a visit count is smaller by a factor of {factor}:\n{items}\n\n"
    if own is not None:
        times = steps[own].std / min(step.std for step in steps)
        more = f" This run has {rough(times)} times the noise of the smallest bar."
        said += more if times >= 1.01 else " No bar has less noise than this run."
    return said.replace("\n\n ", "\n\n").strip()
