"""About the privacy cost: at one epsilon by privacy model, over a sweep, in the long run, and in noise."""

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
from dprl.messages import filled, messages
from dprl.metrics import last_exponent, least
from dprl.sentences import seeds
from dprl.words import (
    exponent,
    halving,
    human,
    listed,
    percent,
    plural,
    proves,
    quoted,
    rough,
    to_the,
)

SAID = messages("charts")["cost"]

NOTHING = "There is nothing to draw yet."
# Of RiverSwim, where an algorithm that knows nothing stays with the small reward.
RISES = (
    "A line may rise before it falls: while an algorithm explores the way upstream, it misses the small reward "
    "downstream."
)
# tests/pages/test_upload.py learns a better policy from a tenth of them.
OWN_RECORDS = (
    "**Do you have records of users already?** Then far fewer can be enough, such as 20,000 in the example of "
    "*Your data*."
)
NEAR = 0.01  # a share of v*: a gap that is small
NAMED: dict[Measure, str] = {
    "price": "the privacy cost",
    "gap price": "the privacy cost",
    "share": "the share lost",
}
LITTLE = 0.5  # a share of all there is to lose; where more than that is lost, little was learned


def rough_users(needed: float) -> str:
    """A number of users to two digits; infinite or NaN for more than are looked at."""
    return rough(needed) if np.isfinite(needed) else f"more than {human(10 ** X_RANGE[1])}"


def about_trust(costs: Sequence[Cost], epsilon: float) -> str:
    """How many times as many users each model needs until it has learned."""
    free = next(cost for cost in costs if cost.model == "none")
    private = [cost for cost in costs if cost.model != "none"]
    first, last = (private[:-1], private[-1:]) if len(private) > 2 else (private, [])
    # "as many" is said once a sentence
    beside = [_how_many_times(c, free, "times" if i else "times_users") for i, c in enumerate(first)]
    return " ".join(
        [
            filled(SAID["trust"], users=rough_users(free.needed), share=percent(LEARNED)),
            filled(SAID["trust_at"], epsilon=f"{epsilon:g}", models=listed(beside)),
            *(filled(SAID["trust_last"], model=_how_many_times(c, free, "times_users")) for c in last),
        ]
    )


def _how_many_times(cost: Cost, free: Cost, phrase: str) -> str:
    """How many times as many users as without privacy. phrase: the template that says so."""
    if not np.isfinite(cost.needed):
        return filled(SAID["times_unmet"], users=human(10 ** X_RANGE[1]), given=cost.given)
    return filled(SAID[phrase], times=rough_users(cost.needed / free.needed), given=cost.given)


def about_frontier(curves: Sequence[Frontier], measure: Measure, symbol: str) -> str:
    """How the price (or regret) of each curve falls or grows, and where little was learned. symbol: how a sentence
    names x."""
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
    """What `about_frontier` rests on, an item each: slopes with their intervals and where they were fitted, which
    statistic of the seeds they are of, then what else there is to say."""
    known = [c for c in curves if np.isfinite(c.center).any()]
    if not known:
        return list(filter(None, extra))
    fewest = min(int(c.seeds[np.isfinite(c.center)].min()) for c in known)
    slopes = [
        filled(
            SAID["slope_from"],
            run=quoted(c.label),
            like=_like(c, measure, symbol, short=False),
            symbol=symbol,
            low=human(c.fitted[0]),
            high=human(c.fitted[1]),
        )
        for c in known
        if np.isfinite(c.slope[0])
    ]
    return [*slopes, seeds.of_seeds(statistic, fewest, OVER[measure]), *filter(None, extra)]


def _near(known: Sequence[Frontier], symbol: str) -> str:
    """From which value on each curve of gaps is near the best policy."""
    said: dict[tuple[str, str], list[str]] = {}
    for c in known:
        far = np.flatnonzero(~(c.share <= NEAR))
        first = int(far[-1]) + 1 if len(far) else 0
        near = ("near_from", human(float(c.x[first]))) if first < len(c.x) else ("near_nowhere", "")
        said.setdefault(near if len(far) else ("near_everywhere", ""), []).append(quoted(c.label))
    parts = []
    for (name, value), labels in said.items():
        at = {"symbol": symbol, "value": value} if value else {}
        parts.append(filled(SAID[name], runs=listed(labels), **at))
    return filled(SAID["near"], share=percent(NEAR), runs="; ".join(parts))


def _like(curve: Frontier, measure: Measure, symbol: str, short: bool) -> str:
    """How a curve falls or grows along x; short: without the interval."""
    what = NAMED.get(measure, measure)
    way = "falls" if curve.slope[0] < 0 else "grows"
    slope = curve.slope[:1] if short else curve.slope
    return halving(curve.slope, symbol, short) or filled(SAID[way], what=what, power=to_the(symbol, *slope))


def _slopes(known: Sequence[Frontier], measure: Measure, symbol: str) -> str:
    fitted = [c for c in known if np.isfinite(c.slope[0])]
    said = [
        filled(SAID["slope"], run=quoted(c.label), like=_like(c, measure, symbol, short=True)) for c in fitted
    ]
    hopeless = [
        c for c in known if c not in fitted and c.style.model != "none" and LITTLE < least([c.share]) < np.inf
    ]
    if hopeless:
        names = listed([quoted(c.label) for c in hopeless])
        lost = percent(least([c.share for c in hopeless]))
        said.append(filled(SAID["little"], runs=names, share=lost))
    if said:
        return " ".join(said)
    last, run = float(known[0].center[-1]), quoted(known[0].label)
    if measure == "share":
        return filled(SAID["lost_share"], run=run, share=percent(last))
    return filled(SAID["lost"], run=run, loss=human(last))


def about_episodes(curves: Sequence[Series], view: LongRun, flat: Sequence[float | None] = ()) -> str:
    """What each run has lost (or what privacy has cost) by the end, and from how many users on that is flat."""
    parts = []
    for curve in curves:
        known = np.flatnonzero(np.isfinite(curve.center))
        if len(known):
            last = known[-1]
            value, k = float(curve.center[last]), float(curve.x[last])
            told = {"value": human(value), "run": quoted(curve.label)}
            if view == "regret" and curve.v_star:
                text = filled(SAID["run_of_best"], **told, share=percent(value / k / curve.v_star))
            else:
                text = filled(SAID["run"], **told)
            parts.append((k, text))
    if not parts:
        return NOTHING
    k = max(at for at, _ in parts)
    what = "regret" if view == "regret" else "cost"
    first, *more = [listed([text for _, text in parts[i : i + 2]]) for i in range(0, len(parts), 2)]
    said = [filled(SAID[f"{what}_first"], users=human(k), runs=first)]
    said += [filled(SAID[f"{what}_more"], runs=pair) for pair in more]
    if view == "regret" and any(curve.v_star for curve in curves):
        said.append(SAID["shares"])
    named = [
        filled(SAID["flat_from"], run=quoted(curve.label), users=human(start))
        for curve, start in zip(curves, flat, strict=bool(flat))
        if start is not None
    ]
    if named:
        said.append(filled(SAID["flat"], runs=listed(named)))
    return " ".join(said)


def about_growth(runs: Sequence[Decades]) -> str:
    """The exponents of the last decade, and how many decades have none."""
    said = [
        filled(SAID["run"], value=exponent(run.mean[-1]), run=quoted(run.label))
        for run in runs
        if len(run.mean) and np.isfinite(run.mean[-1])
    ]
    see = [filled(SAID["exponent"], runs=listed(said)) if said else SAID["no_exponent"]]
    missing = sum(int((~np.isfinite(run.mean)).sum()) for run in runs)
    if missing:
        left_out = SAID["decades_left_out" if missing > 1 else "decade_left_out"]
        see.append(filled(left_out, decades=plural(missing, "decade")))
    return " ".join(see)


def about_bounds(bounds: Sequence[Proved]) -> str:
    """How fast the bounds grow."""
    if not bounds:
        return "No bound is chosen."
    said = [
        f"{letter} grows like {to_the('K', last_exponent(bound.episodes, bound.values))}"
        for letter, bound in zip(LETTERS, bounds, strict=False)
    ]
    return (
        f"Over the last decade {listed(said)}. The heights of bounds mean nothing, because constants are set to 1. "
        "Compare slopes, and compare bounds with each other."
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
    first, last = (proves(step.epsilon, step.delta) for step in (steps[0], before))
    said = f"For noise as in the paper, {first} is proved here."
    if parts:
        items = "".join(f"\n- {part}" for part in parts)
        said += (
            f" The noise of a visit count for which {last} is proved is smaller by a factor of "
            f"{rough(steps[0].std / before.std)}:\n{items}\n\n"
        )
    if own is not None:
        times = steps[own].std / min(step.std for step in steps)
        said += (
            f" This run has {rough(times)} times the noise of the smallest bar."
            if times >= 1.01
            else " No bar has less noise than this run."
        )
    return said.replace("\n\n ", "\n\n").strip()
