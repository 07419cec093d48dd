"""Sentences about noise: its size, the counts that it hides, and how much wider it makes confidence sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures.counts import VISITS, CountFamily
from dprl.messages import filled, messages
from dprl.metrics.curves import Array
from dprl.metrics.policies import CountNoise
from dprl.words import human, percent, rough, significant

SAID = messages("charts")["counts"]

IN_A_COUNT = "Noise in a count (standard deviation)"


def deviation(std: float, users: float) -> str:
    """Describe the size of the noise in a visit count after this many users."""
    return filled(SAID["deviation"], std=human(std), users=human(users))


def about_cells(
    noise: CountNoise, *, bound: float | None = None, word: str = "noisy", family: CountFamily = VISITS
) -> str:
    """Describe the noise in all counts of a release. `bound` is E, and the family sets which share of E bounds the
    error of one count. `word` describes the counts that the planner sees ("noisy" or "released")."""
    if not noise.largest:
        return str(SAID["none"])
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
    """Describe the confidence radii of two weights, with noise (`widths`) and without (`quiet`), and their errors."""
    if not np.isfinite(widths).all():
        return str(SAID["indefinite"])
    said = " ".join(
        f"For {name}, the confidence radius is {significant(w, 3)}, and the true error is {significant(abs(o), 2)}."
        for name, w, o in zip(names, widths, off, strict=True)
    )
    result = f"The chart shows step {step} after {human(users)} users. {said}"
    if widths.min() > bound:
        return f"{result} These radii add nothing, because it is public that no weight exceeds {significant(bound, 3)}."
    times = float(np.sqrt(np.prod(widths / quiet))) if private and np.isfinite(quiet).all() else 1.0
    if times > 1:
        result += f" Without noise, the same users would give a confidence set {rough(times)} times narrower."
    return result
