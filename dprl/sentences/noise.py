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
    said = [filled(SAID["region"], step=step, users=human(users))]
    for name, width, error in zip(names, widths, off, strict=True):
        known = {"radius": significant(width, 3), "error": significant(abs(error), 2)}
        said.append(filled(SAID["radius"], weight=name, **known))
    times = float(np.sqrt(np.prod(widths / quiet))) if private and np.isfinite(quiet).all() else 1.0
    if widths.min() > bound:
        said.append(filled(SAID["useless"], bound=significant(bound, 3)))
    elif times > 1:
        said.append(filled(SAID["narrower"], times=rough(times)))
    return " ".join(said)
