"""Sentences about an uploaded data set: progress of reading it, the privacy cost of a release, and the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dprl.messages import filled, messages
from dprl.sentences import offline
from dprl.words import at_least, human, percent, plural, quoted, upward

SAID, PAGE = messages("uploads")["uploads"], messages("uploads")["page"]


def reading(share: float, ahead: int) -> str:
    """Describe how much of a file has been read. `ahead` is the number of files that are read before it."""
    if ahead:
        return f"Your file is waiting for {plural(ahead, 'file')} from other visitors."
    if share >= 0.99:
        return "Counting the contents of the file ..."
    return f"Reading the file: {percent(share)}"


def budget_so_far(budget: Any, safe: Callable[[str], str] = str) -> str:
    """Describe how much of a `dprl.Budget` is spent and how much is left. `safe` escapes the name for display."""
    spent, left, begun = budget.spent, budget.left, plural(len(budget.releases), "release")
    total = "no total" if left is None else f"the total ρ = {budget.total:g}"
    pair = f", or {spent.implies} as (ε, δ)" if spent.rho else ""
    said = f"The budget **{safe(budget.name)}** has {total}. Spent so far: **{spent.text}** in {begun}{pair}."
    return said if left is None else f"{said} Left: ρ = {math.floor(left * 1e4) / 1e4:g}."


def people(n: int, episodes: int) -> str:
    """Return a number of users as text, with their largest number of episodes if it is above one."""
    if episodes == 1:
        return offline.trajectories(n)
    return filled(SAID["people_one" if n == 1 else "people"], n=human(n), episodes=episodes)


def needs(episodes: int) -> str:
    """Return the assumption about users that a bound needs, as text. `episodes` is each user's maximum."""
    return "each user's episodes in chronological order" if episodes > 1 else "independent users"


def outlook(average: float, noise: float) -> list[str]:
    """Compare the noise that a release would have with `average`, the mean number of users per cell."""
    shown = {name: human(float(f"{value:.2g}")) for name, value in (("average", average), ("noise", noise))}
    said = [filled(SAID["noise"], **shown)]
    if noise > average:
        said.append(SAID["hidden"])
    return [*said, SAID["unknown"]]


def changes(
    place: tuple[str, int, str, str] | None,
    changed: int,
    places: int,
    lacking: int,
    somebody: str,
    follows: float | None = None,
    first_step: int = 0,
) -> str:
    """Describe where a policy differs from the action that users received most often.

    place: the differing pair with the most users (state, step, the policy's action, the users' action). changed: how
    many of the `places` state-step pairs differ. lacking: how many have too few users, so that `somebody` decides.
    follows: the share of steps in which users acted as the policy does; None if nobody was held out.
    """
    said = [PAGE["no_change"]]
    if place is not None:
        names = {"state": quoted(place[0]), "action": quoted(place[2]), "usual": quoted(place[3])}
        said = [filled(PAGE["changed"], changed=changed, places=places, step=place[1] + first_step, **names)]
    if lacking:
        said.append(filled(PAGE["lacking"], pairs=plural(lacking, "pair"), somebody=quoted(somebody)))
    if follows is not None and follows < 1:
        said.append(filled(PAGE["follows"], share=percent(follows)))
    said.append(filled(PAGE["first_step"], first=first_step))
    return " ".join(said)


def below(got: float) -> str:
    """Explain why a proved bound is below `got`, the users' own average."""
    return filled(SAID["below"], own=human(got))


def about_bound(rho: float, value: float, of: str, least: float, beta: float, assumed: str) -> str:
    """Describe the proved lower bound V~ of one release.

    `value` is V~ in the declared rewards, and `least` is the smallest possible reward of an episode. `beta` is the
    failure probability. `of` describes the people that the policies were learned from, and `assumed` is the proof's
    assumption.
    """
    if value <= least:
        return filled(SAID["nothing_proved"], of=of, rho=f"{rho:g}", least=human(least))
    known = {"value": at_least(value), "beta": f"{upward(beta):g}", "assumed": assumed}
    return filled(SAID["proved"], of=of, rho=f"{rho:g}", **known)
