"""About the price of privacy: at one epsilon by who is trusted, over a sweep, in the long run, and in noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures.growth import Decades
from dprl.figures.guarantee import NoiseStep
from dprl.figures.lines import Series, Statistic
from dprl.figures.long_run import Measure as LongRun
from dprl.figures.proved import LETTERS, Proved
from dprl.figures.tradeoff import OVER, Frontier, Measure
from dprl.figures.trust import LEARNED, X_RANGE, Cost
from dprl.metrics import last_exponent, least
from dprl.sentences import seeds
from dprl.words import (
    exponents,
    halving,
    human,
    listed,
    percent,
    plural,
    promise,
    quoted,
    rough,
    to_the,
)

NOTHING = "There is nothing to draw yet."
NEAR = 0.01  # a share of v*: a gap that is small
LITTLE = 0.5  # a share of all there is to lose; where more than that is lost, little was learned


def rough_users(needed: float) -> str:
    """A number of users to two digits; infinite or NaN for more than are looked at."""
    return rough(needed) if np.isfinite(needed) else f"more than {human(10 ** X_RANGE[1])}"


def about_trust(costs: Sequence[Cost], epsilon: float) -> str:
    """How many times as many users each model needs until it has learned."""
    free = next(cost for cost in costs if cost.model == "none")
    parts: list[str] = []
    for cost in costs:
        if cost.model == "none":
            continue
        if np.isfinite(cost.needed):
            many = "" if any(part.startswith("**") for part in parts) else " as many"
            parts.append(f"**{rough_users(cost.needed / free.needed)} times**{many} with {cost.given}")
        else:
            parts.append(f"more than {human(10 ** X_RANGE[1])} users with {cost.given}")
    return (
        f"Without privacy it takes {rough_users(free.needed)} users until an average episode loses less than "
        f"{percent(LEARNED)}; hiding each of them at **ε\u00a0=\u00a0{epsilon:g}** takes {listed(parts)}."
    )


def about_frontier(
    curves: Sequence[Frontier],
    measure: Measure,
    symbol: str,
    extra: Sequence[str] = (),
    statistic: Statistic = "mean",
) -> str:
    """How the price (or regret) of each curve falls or grows, and where little was learned; of which statistic that is
    said; then what else there is to say. symbol: how a sentence names x."""
    known = [c for c in curves if np.isfinite(c.center).any()]
    if not known:
        return " ".join([NOTHING, *extra])
    fewest = min(int(c.seeds[np.isfinite(c.center)].min()) for c in known)
    near = _near(known, symbol) if measure == "gap" else ""
    return " ".join(
        filter(
            None,
            [
                near or _slopes(known, measure, symbol),
                seeds.of_seeds(statistic, fewest, OVER[measure]),
                *extra,
            ],
        )
    )


def _near(known: Sequence[Frontier], symbol: str) -> str:
    """From which value on each curve of gaps is near the best policy."""
    said: dict[str, list[str]] = {}
    for c in known:
        far = np.flatnonzero(~(c.share <= NEAR))
        first = int(far[-1]) + 1 if len(far) else 0
        where = f"from {symbol} = {human(float(c.x[first]))} on" if first < len(c.x) else "nowhere here"
        said.setdefault(where if len(far) else "everywhere", []).append(quoted(c.label))
    parts = [f"{listed(labels)} {where}" for where, labels in said.items()]
    return f"Within {percent(NEAR)} of the best policy: {'; '.join(parts)}."


def _slopes(known: Sequence[Frontier], measure: Measure, symbol: str) -> str:
    sentences = []
    fitted = [c for c in known if np.isfinite(c.slope[0])]
    what = {"price": "the price of privacy", "gap price": "the price of privacy"}.get(measure, measure)
    for c in fitted:
        low, high = (human(v) for v in c.fitted)
        way = "falls" if c.slope[0] < 0 else "grows"
        like = halving(c.slope, symbol) or f"{what} {way} like {to_the(symbol, *c.slope)}"
        sentences.append(f"{quoted(c.label)}: {like} for {symbol} from {low} to {high}")
    text = "; ".join(sentences) + "." if sentences else ""
    hopeless = [
        c for c in known if c not in fitted and c.style.model != "none" and LITTLE < least([c.share]) < np.inf
    ]
    if hopeless:
        names = listed([quoted(c.label) for c in hopeless])
        lost = percent(least([c.share for c in hopeless]))
        text += f" {names} learned little anywhere here: at least {lost} of everything was lost."
    return text.strip() or f"{quoted(known[0].label)} lost {human(float(known[0].center[-1]))}."


def about_episodes(curves: Sequence[Series], view: LongRun, flat: Sequence[float | None] = ()) -> str:
    """What each run has lost (or privacy cost) by the end, and from how many episodes on it is flat."""
    parts = []
    for curve in curves:
        known = np.flatnonzero(np.isfinite(curve.center))
        if len(known):
            last = known[-1]
            value, k = float(curve.center[last]), float(curve.x[last])
            text = f"{quoted(curve.label)} {human(value)}"
            if view == "regret" and curve.v_star:
                text += f" ({percent(value / k / curve.v_star)} of all there is)"
            parts.append((k, text))
    if not parts:
        return NOTHING
    k = max(at for at, _ in parts)
    what = "have been lost with" if view == "regret" else "has privacy cost with"
    said = f"After {human(k)} episodes so much {what}: {'; '.join(text for _, text in parts)}."
    named = [
        f"{quoted(curve.label)} from {human(start)}"
        for curve, start in zip(curves, flat, strict=bool(flat))
        if start is not None
    ]
    if named:
        said += (
            f" Flat (★) is {listed(named)}: in every decade from there on the whole 95% interval of the growth "
            "exponent is at or below 0.1."
        )
    return said


def about_growth(runs: Sequence[Decades]) -> str:
    """The exponents of the last tenfold, and how many tenfolds have none."""
    said = [
        f"{quoted(run.label)} {exponents(run.mean[-1], run.low[-1], run.high[-1])}"
        for run in runs
        if len(run.mean) and np.isfinite(run.mean[-1])
    ]
    see = f"In the last decade the exponent is {listed(said)}." if said else "Nothing can be said yet."
    missing = sum(int((~np.isfinite(run.mean)).sum()) for run in runs)
    if missing:
        see += (
            f" {plural(missing, 'decade')} {'are' if missing > 1 else 'is'} left out, where fewer than two seeds have "
            "a price above zero."
        )
    return see


def about_bounds(bounds: Sequence[Proved]) -> str:
    """How fast the bounds grow."""
    if not bounds:
        return "No bound is chosen."
    said = [
        f"{letter} grows like {to_the('K', last_exponent(bound.episodes, bound.values))}"
        for letter, bound in zip(LETTERS, bounds, strict=False)
    ]
    return (
        f"Over the last decade {listed(said)}. Their heights mean nothing, for constants are set to 1: "
        "compare slopes, and one bound with another."
    )


def about_ladder(steps: Sequence[NoiseStep], own: int | None = None) -> str:
    """What each idea is worth, between what the first step proves and what the last does; and the run's own noise."""
    before, parts, given_back = steps[0], [], []
    for step in steps:
        if step.idea:
            times = before.std / step.std
            if times >= 1:
                parts.append(f"{rough(times)} by {step.idea}")
            else:
                given_back.append(f"divided by {rough(1 / times)} again by {step.idea}")
            before = step
    parts += given_back
    first, last = (promise(step.epsilon, step.delta) for step in (steps[0], before))
    said = f"Printed noise proves {first} here. "
    if parts:
        said += (
            f"To noise that proves {last} is a factor of {rough(steps[0].std / before.std)} in the noise of a visit "
            f"count: {listed(parts)}."
        )
    if own is not None:
        times = steps[own].std / min(step.std for step in steps)
        said += (
            f" This run has {rough(times)} times the least of these."
            if times >= 1.01
            else " No bar has less than this run."
        )
    return said.strip()
