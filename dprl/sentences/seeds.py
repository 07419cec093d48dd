"""Sentences about the statistic that is drawn over several seeds."""

from __future__ import annotations

from dprl.figures.lines import SEEDS, Statistic
from dprl.messages import filled, messages
from dprl.metrics import FEWEST_FOR_MEDIAN

SAID = messages("charts")["seeds"]


def of_seeds(statistic: Statistic, seeds: int, what: str = SEEDS) -> str:
    """Describe the statistic over seeds; for medians of very few seeds, explain why there is no interval.

    seeds: the smallest number over all curves. what: `SEEDS` or `DATA_SETS` of figures.lines.
    """
    said = filled(SAID["statistic"], statistic=statistic, what=what)
    if statistic == "median" and seeds < FEWEST_FOR_MEDIAN:
        said = f"{said} {filled(SAID['few'], fewest=FEWEST_FOR_MEDIAN, what=what)}"
    return said
