"""Sentences about learning from a data set: the trajectories it needs, the effect of pessimism, and the coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dprl.messages import filled, messages
from dprl.metrics.growth import growth_exponent
from dprl.metrics.policies import Bite
from dprl.metrics.search import stays_below
from dprl.sentences.doubts import NOTHING
from dprl.words import at_least, count, human, listed, percent, plural, quoted, rough, to_the

if TYPE_CHECKING:
    from dprl.figures.lines import Series

SAID = messages("charts")["data"]
CLOSE = 0.01  # share of v*; a policy this close to the best one is good


def trajectories(n: int) -> str:
    """Return the size of a data set as text, such as "1,000 trajectories"."""
    return f"{human(n)} trajectory" if n == 1 else f"{human(n)} trajectories"


def about_gaps(curves: Sequence[Series], v_star: float | None) -> str:
    """Describe how many trajectories each finished run needs to come within CLOSE of v*."""
    done = [curve for curve in curves if curve.complete and len(curve.x)]
    if not done or not v_star:
        return NOTHING if not any(len(curve.x) for curve in curves) else _so_far(curves)
    level = CLOSE * v_star
    needed = [(stays_below(curve.x, curve.center, level), curve) for curve in done]
    reached = sorted(((n, curve) for n, curve in needed if np.isfinite(n)), key=lambda pair: pair[0])
    never = [curve for n, curve in needed if not np.isfinite(n)]
    said = []
    if reached:
        each = listed([f"{rough(n)} ({quoted(curve.label)})" for n, curve in reached])
        said.append(filled(SAID["needed"], share=percent(CLOSE), best=f"{v_star:#.3g}", runs=each))
    for curve in never:
        end, last = float(curve.center[-1]), count(float(curve.x[-1]))
        known = {"run": quoted(curve.label), "loss": human(end), "share": percent(end / v_star)}
        said.append(filled(SAID["short"], **known, n=last))
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


def about_prices(curves: Sequence[Series], first: float, proved: Sequence[tuple[str, str]] = ()) -> str:
    """Describe how fast the privacy cost falls from n = `first` on. `proved` has algorithms with their 1/n theorems."""
    parts = []
    for curve in curves:
        if curve.complete and len(curve.x) > 1 and (curve.center[-1] > 0):
            found = growth_exponent(curve.x, curve.rows, first, float(curve.x[-1]))
            if np.isfinite(found[0]):
                parts.append(f"{to_the('n', *found)} for {quoted(curve.label)}")
    if not parts:
        return "The lower bound V~ of each private run is compared with that of the same algorithm without privacy."
    falls = f"From n = {count(first)} on, the privacy cost falls in proportion to {listed(parts)}."
    theorems = (f"For {algorithm}, the rate 1/n is proved ({theorem})." for algorithm, theorem in proved)
    return " ".join([falls, *theorems])


def about_pessimism(
    bitten: Bite, H: int, *, E: float | None, gap: float, v_star: float, ranks: bool = False
) -> str:
    """Describe how often the penalty for uncertainty removes an action's whole estimated value. H is the number of
    steps, and E the bound on the noise. If `ranks` is true, the penalty does not cover the noise."""
    taken = percent(bitten.share)
    said = f"In {taken} of the state-action-step triples, the penalty removes the action's whole value."
    if bitten.path > 0:
        said += f" On average, an optimal episode meets one in {rough(bitten.path * H)} of its {plural(H, 'step')}."
    else:
        said += " An optimal episode meets none of these triples."
    if ranks:
        said += " This penalty leaves out the noise in values, so Q only ranks actions and is not a bound."
    if E:
        said += f" Pairs with at most E = {human(E)} released visits are treated as never seen."
    if gap <= 1e-9 * max(v_star, 1e-12):
        return f"{said} The learned policy is still the best one."
    return f"{said} The learned policy's value is {human(gap)} below v* = {v_star:#.3g}."


def about_actions(wrong: int, pairs: int, weight: float, agrees: float) -> str:
    """Compare a learned policy with the optimal policy and with the behaviour policy.

    The learned policy is worse than the optimal one in `wrong` of `pairs` state-step pairs, where the optimal policy
    spends the share `weight` of its time. `agrees` is the behaviour policy's mean probability of the learned action.
    """
    shares = {"weight": percent(weight), "agrees": percent(agrees)}
    return filled(SAID["actions"], wrong=f"{wrong:,}", pairs=f"{pairs:,}", **shares)


def about_coverage(optimal: float, d_m: float, where: str, n: int) -> str:
    """Describe how well the data cover the optimal policy's states and actions.

    `optimal` is the smallest share of the data at any pair that the optimal policy visits, and `where` describes this
    pair. `d_m` is the smallest share at any pair with data, and `n` the number of trajectories in the largest data set.
    """
    if optimal == 0:
        return filled(SAID["never"], pair=where)
    share = f"one of {rough(1 / optimal)}" if optimal < 0.5 else f"{percent(optimal)} of the"
    seen = {"share": share, "seen": rough(n * optimal), "n": count(n)}
    return filled(SAID["rarest"], pair=where, **seen, least=human(d_m))


def bounds_by_start(states: Sequence[str], lower: Sequence[float]) -> str:
    """List the proved lower bounds on the value for each first state."""
    shown = [
        f"{quoted(state)} {at_least(float(value))}" for state, value in zip(states[:6], lower, strict=False)
    ]
    if len(states) > len(shown):
        shown.append(f"and {len(states) - len(shown)} more")
    return f"Lower bounds by first state: {' · '.join(shown)}."
