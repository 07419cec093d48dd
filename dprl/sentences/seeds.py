"""About what is drawn of several seeds."""

from __future__ import annotations

from dprl.figures.lines import SEEDS, Statistic
from dprl.metrics import FEWEST_FOR_MEDIAN


def of_seeds(statistic: Statistic, seeds: int, what: str = SEEDS) -> str:
    """Which statistic of the seeds the numbers are; and, of medians of so few that they have none, why no interval.

    seeds: the fewest that any curve has. what: `SEEDS` or `DATA_SETS` of figures.lines.
    """
    said = f"Numbers are {statistic}s over {what}"
    if statistic == "median" and seeds < FEWEST_FOR_MEDIAN:
        said += f". A median has a 95% interval from {FEWEST_FOR_MEDIAN} {what} on"
    return f"{said}."
