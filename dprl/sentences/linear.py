"""About learners of linear models: where they hold weights possible, what their matrices know, how regret grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dprl.metrics import Array
from dprl.words import exponent, exponents, human, percent, plural, quoted, rough, significant

INDEFINITE = "Noise has left this matrix without an inverse: this step is planned as if nothing were known."
SURE = 0.05  # of C_w: a weight known to within that is known


def region(
    widths: Array,
    quiet: Array,
    off: Array,
    *,
    bound: float,
    names: Sequence[str],
    step: int,
    users: int,
    private: bool,
) -> str:
    """Of two weights: widths, quiet: [2] how far each may be off with noise and without; off: [2] how far it is;
    bound: C_w."""
    if not np.isfinite(widths).all():
        return INDEFINITE
    said = [
        f"{name} may be off by {significant(w, 3)} and is off by {significant(abs(o), 2)}"
        for name, w, o in zip(names, widths, off, strict=True)
    ]
    result = f"After {human(users)} users, at step {step}, {said[0]}; {said[1]}."
    if widths.min() > bound:
        return f"{result} Everybody knows more than that: no weight is beyond {significant(bound, 3)}."
    times = float(np.sqrt(np.prod(widths / quiet))) if private and np.isfinite(quiet).all() else 1.0
    if times > 1:
        result += (
            f" Noise makes the region {rough(times)} times as wide as the same users would show without it."
        )
    return result


def eigenvalues(quiet: Array, shift: float, users: int, private: bool) -> str:
    """Of one matrix: quiet: [d] without noise; shift: how far noise can move them."""
    d = len(quiet)
    if not private:
        spread = float(quiet.max() / max(quiet.min(), 1e-300))
        return (
            f"After {human(users)} users the best known direction of weights has been seen {rough(spread)} times as "
            "much as the least known: good actions are played, others are not."
        )
    above = int((quiet > shift).sum())
    times = float(quiet.min() / shift) if shift > 0 else np.inf
    if not quiet.max() > shift:
        return (
            f"After {human(users)} users no eigenvalue stands above what noise can do: nothing is known yet."
        )
    stand = "stands" if above == 1 else "stand"
    lead = f"After {human(users)} users {above} of {plural(d, 'eigenvalue')} {stand} above what noise can do"
    if above == d:
        return (
            f"{lead}: the smallest is {rough(times)} times that, so that all weights can be told from noise."
        )
    return f"{lead}: of the other directions of the weights the algorithm is told next to nothing."


def about_weights(off: Array, widths: Array, bound: float, users: int) -> str:
    """off, widths: [steps, d] how far estimates are off, and may be."""
    known = np.isfinite(widths)
    share = float(np.mean(np.where(known, widths, np.inf) <= SURE * bound))
    inside = float(np.mean((np.abs(off) <= widths)[known])) if known.any() else 0.0
    near = float(np.nanmean(np.abs(off))) if np.isfinite(off).any() else np.nan
    return (
        f"After {human(users)} users {percent(share)} of the weights are known to within {SURE:.0%} of "
        f"{significant(bound, 3)}, the longest that they can be; estimates are off by {significant(near, 2)} on "
        f"average, and {percent(inside)} of the true weights lie where they are held possible. What no good policy "
        "depends on need not be known."
    )


@dataclass(frozen=True)
class MeasuredSlope:
    """How one run's regret grew: like K^mean; low, high: 95% interval; most: what theory allows, None for none."""

    label: str
    mean: float
    low: float
    high: float
    most: float | None


def slopes(runs: Sequence[MeasuredSlope], harder: bool) -> str:
    """Each run's exponent at its end, beside what theory allows at most."""
    said = []
    for run in (run for run in runs if np.isfinite(run.mean)):
        words = f"{quoted(run.label)} {exponents(run.mean, run.low, run.high)}"
        if run.most is not None:
            words += f" (theory: at most {exponent(run.most)})"
        said.append(words)
    if not said:
        return "There is no exponent yet: it takes finished runs over two decades of users."
    if harder:
        return (
            "Over the last three decades of users, where actions differ by 1/√K of what they did, regret grows like K "
            f"to the: {'; '.join(said)}. Theory leaves out logarithms, which add a little to an exponent."
        )
    return (
        f"Over the last decade of users regret grew like K to the: {'; '.join(said)}. On one problem, where the best "
        "action is better by a fixed gap, it flattens once that is known: theory bounds it from above, on every one."
    )


def informative(runs: Sequence[tuple[str, float, int]], share: float) -> str:
    """Of runs with printed constants: label, the users from which on less than `share` of V* has been lost on average
    (NaN for never), and K."""
    said = [
        f"{quoted(label)} from about {human(float(f'{users:.1g}'))} users on"
        if np.isfinite(users)
        else f"{quoted(label)} not by {human(K)} users"
        for label, users, K in runs
    ]
    return (
        f"With the paper's constants a run says something once less than {percent(share)} of V* is lost on average: "
        f"{'; '.join(said)}."
    )
