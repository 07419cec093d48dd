"""Warnings about runs and privacy costs, and the descriptions of means or medians over seeds."""

from __future__ import annotations

from collections.abc import Sequence

from dprl.messages import filled, messages
from dprl.metrics.curves import FEWEST_FOR_MEDIAN, Statistic
from dprl.words import listed, plural, some

NOTHING = "There is nothing to draw yet."
SAID, STATISTIC = messages("charts")["doubts"], messages("charts")["seeds"]


def unsettled(stuck: int, of: int, at: Sequence[str] = ()) -> str:
    """Warn if seeds of a run without privacy have not found the best policy (see `growth.unsettled`), else return "".
    `at` lists the points of a sweep where this happens; `stuck` is then the largest number of seeds at a point."""
    if not stuck:
        return ""
    told = {"stuck": stuck, "seeds": plural(of, "seed")}
    if at:
        where = "unsettled_at_several" if len(at) > 1 else "unsettled_at"
        found = filled(SAID[where], points=listed(at), **told)
    else:
        found = filled(SAID["unsettled"], **told)
    return f"{found} {SAID['regret_there']}"


def no_share(best: Sequence[float | None]) -> str:
    """Explain why a chart does not show losses as shares of V*. `best` contains V* of each run, or None."""
    said: str = SAID["no_best"] if None in best else SAID["nothing_to_lose"]
    return said


def about_negative_prices(names: Sequence[str]) -> str:
    """Warn that the whole interval of these runs' privacy costs is below zero. Return "" if there are no such runs."""
    return filled(SAID["negative"], runs=some(names)) if names else ""


def of_seeds(statistic: Statistic, seeds: int, what: str) -> str:
    """Describe a chart's mean or median over seeds. For a median of very few seeds, explain why there is no interval.
    `seeds` is the smallest number over all curves. `what` is `SEEDS` or `DATA_SETS` of figures.lines."""
    said = filled(STATISTIC["statistic"], statistic=statistic, what=what)
    if statistic == "median" and seeds < FEWEST_FOR_MEDIAN:
        said = f"{said} {filled(STATISTIC['few'], fewest=FEWEST_FOR_MEDIAN, what=what)}"
    return said
