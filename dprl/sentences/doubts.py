"""Warnings about the limits of a run or of a privacy cost, the same on every page and on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from dprl.messages import filled, messages
from dprl.words import listed, plural, some

SAID = messages("charts")["doubts"]


def unsettled(stuck: int, of: int, at: Sequence[str] = ()) -> str:
    """Warn that a run without privacy has not found the best policy in `stuck` of its seeds (see `metrics.unsettled`);
    return "" for 0. at: the points of a sweep with this doubt; `stuck` is then the largest number at any of them."""
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
    """Explain why no share of V* is drawn. best: V* of each run, None if unknown."""
    said: str = SAID["no_best"] if None in best else SAID["nothing_to_lose"]
    return said


def about_negative_prices(names: Sequence[str]) -> str:
    """Warn of privacy costs whose whole interval lies below zero; "" if there are none."""
    if not names:
        return ""
    return (
        f"The whole 95% interval of the mean privacy cost is below zero for {some(names)}: the run without privacy "
        "lost more than the private run, so the difference is not a privacy cost."
    )
