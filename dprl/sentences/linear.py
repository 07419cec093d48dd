"""About learners of linear models: their confidence sets, what their matrices know, how regret grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dprl.messages import filled, messages
from dprl.metrics import Array
from dprl.words import exponent, exponents, human, percent, plural, quoted, rough, significant

SAID = messages("charts")["linear"]

INDEFINITE = (
    "Noise has left this matrix without an inverse. The algorithm plans this step as if nothing were known."
)
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
    said = " ".join(
        f"For {name} the confidence radius is {significant(w, 3)} and the true error {significant(abs(o), 2)}."
        for name, w, o in zip(names, widths, off, strict=True)
    )
    result = f"This is step {step} after {human(users)} users. {said}"
    if widths.min() > bound:
        return f"{result} These radii say nothing new: it is public that no weight is beyond {significant(bound, 3)}."
    times = float(np.sqrt(np.prod(widths / quiet))) if private and np.isfinite(quiet).all() else 1.0
    if times > 1:
        result += f" Without noise the same users would give a confidence set {rough(times)} times narrower."
    return result


def eigenvalues(quiet: Array, shift: float, users: int, private: bool) -> str:
    """Of one matrix: quiet: [d] without noise; shift: how far noise can move them."""
    d = len(quiet)
    if not private:
        spread = float(quiet.max() / max(quiet.min(), 1e-300))
        return (
            f"After {human(users)} users the best known direction of the weights has been seen "
            f"{rough(spread)} times as often as the least known. Good actions are played, others are not."
        )
    above = int((quiet > shift).sum())
    times = float(quiet.min() / shift) if shift > 0 else np.inf
    if not quiet.max() > shift:
        return filled(SAID["none_above"], users=human(users))
    lead = SAID["one_above" if above == 1 else "some_above"]
    said = filled(lead, users=human(users), above=above, all=plural(d, "eigenvalue"))
    if above == d:
        return f"{said} {filled(SAID['all_known'], times=rough(times))}"
    return f"{said} {SAID['rest_unknown']}"


def about_weights(off: Array, widths: Array, bound: float, users: int) -> str:
    """off, widths: [steps, d] how far estimates are off, and may be."""
    known = np.isfinite(widths)
    share = float(np.mean(np.where(known, widths, np.inf) <= SURE * bound))
    inside = float(np.mean((np.abs(off) <= widths)[known])) if known.any() else 0.0
    near = float(np.nanmean(np.abs(off))) if np.isfinite(off).any() else np.nan
    return (
        f"After {human(users)} users {percent(share)} of the weights are known to within {SURE:.0%} of "
        f"{significant(bound, 3)}, their largest possible length. The mean error of the estimates is "
        f"{significant(near, 2)}. The confidence sets contain {percent(inside)} of the true weights. Weights "
        "on which no good policy depends need not be known."
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
        given = {"run": quoted(run.label), "exponent": exponents(run.mean, run.low, run.high)}
        if run.most is None:
            said.append(filled(SAID["slope"], **given))
        else:
            said.append(filled(SAID["slope_bounded"], **given, most=exponent(run.most)))
    if not said:
        return "There is no exponent yet: it takes finished runs over two decades of users."
    if harder:
        return (
            "Here the difference between actions shrinks like 1/√K. Regret grew like Kˣ over the last three decades of "
            f"users, where 0 is no growth and 1 no learning. {' '.join(said)} Theory leaves out logarithms. They add a "
            "little to an exponent."
        )
    return (
        "Regret grew like Kˣ over the last decade of users, where 0 is no growth and 1 no learning. "
        f"{' '.join(said)} On one environment the best action is better by a fixed gap. Once it is known, regret "
        "flattens. Theory bounds regret from above, on every environment."
    )


def informative(runs: Sequence[tuple[str, float, int]], share: float) -> str:
    """Of runs with the paper's constants: label, the users from which on less than `share` of V* has been lost on
    average (NaN for never), and K."""
    said = [
        f"{quoted(label)}: from about {human(float(f'{users:.1g}'))} users on."
        if np.isfinite(users)
        else f"{quoted(label)}: not within {human(K)} users."
        for label, users, K in runs
    ]
    return (
        f"With the paper's constants a run is informative once an average episode loses less than {percent(share)} of "
        f"V*. {' '.join(said)}"
    )
