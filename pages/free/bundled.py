"""What comes with the program for "When is privacy free?": for each of its files of runs, the specs in it."""

from __future__ import annotations

from dprl.simulation import RunSpec
from pages.free.link import BASE, four_models

BASES = [BASE.replace(bonus=bonus) for bonus in ("anytime", "paper")]


def first_shown() -> list[RunSpec]:
    """What the page shows at first, with either kind of constants."""
    return [curve.spec for base in BASES for curve in four_models(base)[0]]


FILES = {"free": first_shown}
