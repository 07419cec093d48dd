"""About what is drawn of several seeds."""

from __future__ import annotations

from dprl.figures.lines import Statistic
from dprl.metrics import FEWEST_FOR_MEDIAN


def over(statistic: Statistic, seeds: int) -> str:
    """Which statistic of the seeds the numbers are; and, of medians of so few that they have none, why no interval.

    seeds: the fewest that any curve has.
    """
    said = f"Numbers are {statistic}s over seeds"
    if statistic == "median" and seeds < FEWEST_FOR_MEDIAN:
        said += f"; a median has a 95% interval from {FEWEST_FOR_MEDIAN} seeds on"
    return f"{said}."
