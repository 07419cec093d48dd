"""Sentences about learning from a data set: the trajectories needed, the effect of pessimism, and the coverage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures.lines import Series
from dprl.messages import filled, messages
from dprl.metrics import Bite, growth_exponent
from dprl.metrics.search import stays_below
from dprl.words import at_least, count, human, listed, percent, plural, quoted, rough, to_the

SAID = messages("charts")["data"]

NOTHING = "There is nothing to draw yet."
CLOSE = 0.01  # of v*: a policy this close to the best one is good
COVERED = (
    "Upper chart: visits in the data. Lower chart: visits of the best policy. An algorithm stays uncertain longest "
    "in the states that only the best policy visits. The scale is logarithmic."
)


def trajectories(n: int) -> str:
    """Write the size of a data set, such as "1,000 trajectories"."""
    return f"{human(n)} trajectory" if n == 1 else f"{human(n)} trajectories"


def about_gaps(curves: Sequence[Series], v_star: float | None) -> str:
    """Describe the trajectories that each finished run needs to come within CLOSE of v*."""
    done = [curve for curve in curves if curve.complete and len(curve.x)]
    if not done or not v_star:
        return NOTHING if not any(len(curve.x) for curve in curves) else _so_far(curves)
    level = CLOSE * v_star
    needed = [(stays_below(curve.x, curve.center, level), curve) for curve in done]
    reached = sorted(((n, curve) for n, curve in needed if np.isfinite(n)), key=lambda pair: pair[0])
    never = [curve for n, curve in needed if not np.isfinite(n)]
    said = []
    if reached:
        each = " ".join(f"{quoted(curve.label)}: {rough(n)}." for n, curve in reached)
        said.append(f"Trajectories needed to come within {percent(CLOSE)} of v* = {v_star:#.3g}: {each}")
    for curve in never:
        end, last = float(curve.center[-1]), float(curve.x[-1])
        said.append(
            f"{quoted(curve.label)} is still {human(end)} ({percent(end / v_star)}) short of v* at n = {count(last)}."
        )
    return " ".join(said)


def _so_far(curves: Sequence[Series]) -> str:
    known = [curve for curve in curves if np.isfinite(curve.center).any()]
    if not known:
        return NOTHING
    parts = []
    for curve in known:
        last = int(np.flatnonzero(np.isfinite(curve.center))[-1])
        gap, n = float(curve.center[last]), float(curve.x[last])
        parts.append(f"{quoted(curve.label)}: {human(gap)} at n = {count(n)}.")
    return f"Suboptimality so far: {' '.join(parts)}"


def range_of_the_paper(curves: Sequence[Series], baseline: Series | None, end: int) -> str:
    """Describe runs with the paper's noise, within the paper's range of n and beyond it.

    Args:
        baseline: the run without privacy.
        end: the largest n that the paper shows.
    """
    private = [curve for curve in curves if curve is not baseline and curve.complete]
    if baseline is None or not baseline.complete or not private:
        return ""

    def at(curve: Series, n: float) -> float:
        return float(curve.center[int(np.argmin(np.abs(curve.x - n)))])

    inside = [at(curve, end) for curve in private]
    low, high = human(min(inside)), human(max(inside))
    gaps = low if low == high else f"{low} to {high}"
    last = min(float(curve.x[-1]) for curve in [baseline, *private])
    said = (
        f"The paper's Figure 1 stops at n = {end:,} and shows private curves close to the curve without privacy. With "
        "the paper's noise, and features of norm at most 1 as its theorem requires, our curves are not close. At "
        f"n = {end:,} the suboptimality is {human(at(baseline, end))} without privacy and {gaps} with "
        "privacy."
    )
    if last > end:
        beyond = " ".join(f"{quoted(curve.label)}: {human(at(curve, last))}." for curve in private)
        level = at(baseline, last) + CLOSE * (baseline.v_star or 0.0)
        near = sum(at(curve, last) <= level for curve in private)
        larger = {
            "n": count(last),
            "free": human(at(baseline, last)),
            "close": percent(CLOSE),
            "runs": beyond,
        }
        said += f" {filled(SAID['larger'], near=near, all=len(private), **larger)}"
    return said


def about_prices(curves: Sequence[Series], first: float, proved: Sequence[tuple[str, str]] = ()) -> str:
    """Describe the fall of the privacy cost in the lower bound from n = first on, with the exponent's interval.

    proved: pairs of an algorithm and the theorem that proves 1/n for it.
    """
    parts = []
    for curve in curves:
        if curve.complete and len(curve.x) > 1 and (curve.center[-1] > 0):
            found = growth_exponent(curve.x, curve.rows, first, float(curve.x[-1]))
            if np.isfinite(found[0]):
                parts.append(f"{to_the('n', *found)} for {quoted(curve.label)}")
    if not parts:
        return "The lower bound V~ of each private run is compared with that of the same algorithm without privacy."
    falls = f"From n = {count(first)} on, the privacy cost falls in proportion to {listed(parts)}."
    return " ".join(
        [falls, *(f"For {algorithm}, 1/n is proved ({theorem})." for algorithm, theorem in proved)]
    )


def about_pessimism(
    bitten: Bite, H: int, *, E: float | None, gap: float, v_star: float, ranks: bool = False
) -> str:
    """Describe the actions whose whole apparent value the penalty removes.

    Args:
        H: steps of an episode.
        E: the bound on the noise; a pair with at most E released visits counts as never seen.
        ranks: whether the penalty does not cover the noise.
    """
    taken = percent(bitten.share)
    said = f"In {taken} of the state-action-step triples the penalty removes the action's whole value."
    if bitten.path > 0:
        said += f" An optimal episode encounters such a triple in {percent(bitten.path)} of its {plural(H, 'step')}."
    else:
        said += " An optimal episode meets none of these triples."
    if ranks:
        said += " This penalty leaves out the noise in values, so Q only ranks actions and is not a bound."
    if E:
        said += f" Pairs with at most E = {human(E)} released visits count as never seen."
    if gap <= 1e-9 * max(v_star, 1e-12):
        return f"{said} The learned policy is still the best one."
    return f"{said} The learned policy is {human(gap)} short of v* = {v_star:#.3g}."


def about_actions(wrong: int, pairs: int, weight: float, agrees: float) -> str:
    """Compare a learned policy with the optimal one and with the behaviour policy.

    Args:
        wrong, pairs: the number of state-step pairs where it is worse than optimal, and of all pairs.
        weight: the share of its time that the optimal policy spends in those pairs.
        agrees: the behaviour policy's probability of the learned action, averaged over the data.
    """
    return (
        f"The learned policy is worse than the optimal policy in {wrong:,} of {pairs:,} state-step pairs. "
        f"The optimal policy spends {percent(weight)} of its time in these pairs. In the data, the "
        f"behaviour policy takes the learned action with a probability of {percent(agrees)}."
    )


def about_coverage(optimal: float, d_m: float, where: str, n: int) -> str:
    """Describe how well the data cover the optimal policy's states and actions.

    Args:
        optimal: the smallest share of the data at a pair that the optimal policy visits.
        where: that pair, in words.
        d_m: the smallest share of the data at any pair with data.
        n: number of trajectories in the largest data set.
    """
    if optimal == 0:
        return (
            f"The data never show the optimal policy's actions: nobody does {where}. However many trajectories there "
            "are, its value cannot be learned from them."
        )
    seen = n * optimal
    share = f"one in {human(float(f'{1 / optimal:.2g}'))}" if optimal < 0.5 else f"{percent(optimal)} of the"
    return (
        f"Along the optimal policy's path, this pair is rarest in the data: **{where}**. It occurs in "
        f"{share} trajectories, {human(float(f'{seen:.2g}'))} of {count(n)}. The rarest pair of all has dₘ "
        f"= {human(d_m)}."
    )


def bounds_by_start(states: Sequence[str], lower: Sequence[float]) -> str:
    """Describe the lower bounds from each first state."""
    shown = [
        f"{quoted(state)} {at_least(float(value))}" for state, value in zip(states[:6], lower, strict=False)
    ]
    if len(states) > len(shown):
        shown.append(f"and {len(states) - len(shown)} more")
    return f"Lower bounds by first state: {' · '.join(shown)}."
