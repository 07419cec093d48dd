"""Sentences about noise: its size, and the counts that it hides."""

from __future__ import annotations

from dprl.figures.counts import VISITS, CountFamily
from dprl.messages import filled, messages
from dprl.metrics import CountNoise
from dprl.words import human, percent

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
