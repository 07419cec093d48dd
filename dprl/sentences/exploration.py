"""Exploration noise beside calibrated noise: which costs less from where on, and what its budget is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures.exploration import Beside
from dprl.metrics import Finding
from dprl.sentences.promise import HARDLY
from dprl.words import human, interval, percent, plural

ABOUT = (
    "A paper claims that the exploration noise of RLSVI hides users. The ε of this claim grows with the number of "
    "users K. Beside RLSVI, at each K, DP-UCBVI with a trusted curator has calibrated noise for the same ε."
)


def headline(found: Beside) -> str:
    """From how many users on calibrated noise costs less, in a sentence."""
    least, most = (human(float(found.users[place])) for place in (0, -1))
    if found.first == 0:
        return (
            f"At equal ε calibrated noise costs less at every K that was run, from {least} users to {most}."
        )
    if found.first is not None:
        start = human(float(found.users[found.first]))
        return f"At equal ε calibrated noise costs less from {start} users on."
    if found.high[-1] < 1:
        return f"At equal ε exploration noise still costs less at {most} users, the most that were run."
    return f"At equal ε the runs cannot tell which noise costs less at {most} users, the most that were run."


def about_numbers(found: Beside) -> list[str]:
    """By how much, where it turns and at the ends, a line each."""
    first = found.first
    last = len(found.users) - 1
    places = {0, last} if first is None else {max(first - 1, 0), first, last}
    said = [_at(found, place) for place in sorted(places)]
    if np.isfinite(found.crossing).all():
        value, low, high = found.crossing
        users = interval(f"{human(_rounded(value))} users", _rounded(low), _rounded(high))
        said.append(
            f"**The lines cross** at about {users}. The point is interpolated between two runs, and the interval is "
            "over seeds."
        )
    return said


def _at(found: Beside, place: int) -> str:
    users, epsilon = float(found.users[place]), float(found.epsilon[place])
    where = f"**{human(users)} users**, ε = {human(epsilon)}:"
    value = float(found.ratio[place])
    if not np.isfinite(value):
        return f"{where} no interval. An interval takes two seeds, all with some regret."
    more = interval(f"{human(value)} times as much", float(found.low[place]), float(found.high[place]))
    return f"{where} RLSVI loses {more}."


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def about_costs(found: Beside, lost: tuple[float, float] | None = None) -> str:
    """What there is to see in the chart. lost: the shares of all there is that RLSVI and DP-UCBVI have lost at last."""
    first, last = (float(found.epsilon[place]) for place in (0, -1))
    least, most = (human(float(found.users[place])) for place in (0, -1))
    said = (
        f"The budget of both algorithms grows from ε = {human(first)} at {least} users to ε = {human(last)} at "
        f"{most}."
    )
    large = np.flatnonzero(found.epsilon >= HARDLY)
    if len(large):
        said += f" {hardly(float(found.users[large[0]]))}"
    if lost is not None:
        own, other = map(percent, lost)
        said = f"At {most} users RLSVI has lost {own} of all there is to lose, DP-UCBVI {other}. {said}"
    if found.first is None:
        return said
    return f"From the star on RLSVI's curve is the higher one: exploration noise costs more there. {said}"


def hardly(users: float) -> str:
    """From how many users on the budget protects hardly anybody."""
    return f"From {human(users)} users on ε is {HARDLY:g} or more, which protects hardly anybody."


def about_ends(beyond: tuple[int, float] | None, most: float) -> str:
    """Why the curves end; "" where K of the settings ends them. most: the largest budget of a run."""
    if beyond is None:
        return ""
    users, epsilon = beyond
    return (
        f"The curves end before {human(float(users))} users. There the claim is ε = {human(epsilon)}, and a run takes "
        f"at most {human(most)}."
    )


def claimed(by: str, delta: float, found: Sequence[tuple[str, Finding]]) -> str:
    """Whose the budget is, and what was found of it. found: of each size that was attacked, its title and finding."""
    said = (
        f"**Claimed, not proved here:** {by} claim ε of RLSVI's exploration noise, with δ = {human(delta)}. "
        "DP-UCBVI's noise is proved to have it."
    )
    more = [one for one in found if one[1].verdict == "does not hold here"]
    if not more:
        sizes = plural(len(found), "size")
        return (
            f"{said} An attack on environments of {sizes} found no more than is claimed. That proves nothing."
        )
    title, worst = max(more, key=lambda one: one[1].low / one[1].threshold)
    return (
        f"{said} An attack found a larger ε than is claimed at {len(more)} of {plural(len(found), 'size')}. At "
        f"{title} it "
        f"found ε = {interval(human(worst.value), worst.low, worst.high)}, where {human(worst.threshold)} is claimed."
    )
