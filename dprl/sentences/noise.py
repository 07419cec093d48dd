"""Sentences about noise: its size, the counts that it hides, and the confidence sets that it widens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures.counts import VISITS, CountFamily
from dprl.messages import filled, messages
from dprl.metrics import Array, CountNoise
from dprl.words import human, percent, rough, significant

SAID = messages("charts")["counts"]

IN_A_COUNT = "Noise in a count (standard deviation)"
NONE = "There is no noise, so the planner sees the true counts."


def deviation(std: float, users: float | None = None) -> str:
    """Describe the size of the noise in a count of visits; `users` is given if the noise grows with their number."""
    if not users:
        return filled(SAID["deviation"], std=human(std))
    return filled(SAID["deviation_after"], std=human(std), users=human(users))


def about_cells(
    noise: CountNoise, *, bound: float | None = None, word: str = "noisy", family: CountFamily = VISITS
) -> str:
    """Describe the noise in all cells.

    Args:
        bound: E; the family defines the share of it that bounds the error of one count.
        word: the kind of counts that the planner sees ("noisy", "released").
    """
    if not noise.largest:
        return NONE
    typical = {"typical": human(noise.typical), "noun": family.noun, "most": human(noise.most)}
    said = [
        filled(SAID["visits" if family is VISITS else "rewards"], **typical),
        filled(SAID["drowned"], share=percent(noise.drowned)),
    ]
    if word == "noisy" and noise.negative:
        said.append(filled(SAID["negative"], share=percent(noise.negative)))
    if bound:
        allowed = family.share * bound
        share = percent(noise.largest / allowed)
        said.append(filled(SAID["bound"], bound=family.bound, allowed=human(allowed), share=share))
    return " ".join(said)


INDEFINITE = (
    "With the noise, this matrix has no inverse. The algorithm plans this step as if nothing were known."
)


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
    """Describe two weights by their confidence radii with noise and without (widths, quiet: [2]) and by their true
    errors (off: [2]). bound: C_w, the maximum length of the weights."""
    if not np.isfinite(widths).all():
        return INDEFINITE
    said = " ".join(
        f"For {name} the confidence radius is {significant(w, 3)}, and the true error is {significant(abs(o), 2)}."
        for name, w, o in zip(names, widths, off, strict=True)
    )
    result = f"The chart shows step {step} after {human(users)} users. {said}"
    if widths.min() > bound:
        return f"{result} These radii add nothing, because it is public that no weight exceeds {significant(bound, 3)}."
    times = float(np.sqrt(np.prod(widths / quiet))) if private and np.isfinite(quiet).all() else 1.0
    if times > 1:
        result += f" Without noise the same users would give a confidence set {rough(times)} times narrower."
    return result
