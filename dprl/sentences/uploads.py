"""Sentences about an uploaded data set: progress of reading it, the privacy cost of a release, and the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dprl.messages import filled, messages
from dprl.sentences import offline
from dprl.words import at_least, human, percent, plural, quoted, upward

SAID, PAGE = messages("uploads")["uploads"], messages("uploads")["page"]


def about_example(rho: float) -> str:
    """Return the text above the example release that the page shows first."""
    return (
        f"Doctors chose each action, and dprl learned a policy from noisy counts at ρ = {rho:g}. A release of your "
        "own file looks like this one."
    )


def reading(share: float, ahead: int) -> str:
    """Describe how much of a file has been read. `ahead` is the number of files that are read before it."""
    if ahead:
        return f"Your file is waiting for {plural(ahead, 'file')} from other visitors."
    if share >= 0.99:
        return "Counting the contents of the file ..."
    return f"Reading the file: {percent(share)}"


def about_spending(total: str) -> str:
    """State the total privacy cost of several releases. `total` is their joint guarantee, as escaped text."""
    return f"Since this file was read, you have released **{total}** in total. {PAGE['adds_up']}"


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
    said = ["The policy takes the most frequent action wherever both are known."]
    if place is not None:
        state, step, action, usual = place
        said = [
            f"In {changed} of {places} state-step pairs, the policy does not choose the most frequent action.",
            f"Among them, the pair with the most users is {quoted(state)} at step {step + first_step}: the policy "
            f"recommends {quoted(action)}, but most users got {quoted(usual)}.",
        ]
    if lacking:
        said.append(
            f"In {plural(lacking, 'pair')}, too few users got the policy's action: {quoted(somebody)}."
        )
    if follows is not None and follows < 1:
        said.append(
            f"Users got the policy's action in {percent(follows)} of their steps. Their records do not show why the "
            "other steps differ."
        )
    said.append(filled(PAGE["first_step"], first=first_step))
    return " ".join(said)


def below(got: float) -> str:
    """Explain why a proved bound is below `got`, the users' own average."""
    return (
        f"The bound is below the users' own average, {human(got)}. The proof has to hold in every model, so it "
        "subtracts everything that noise and chance may hide. The verdict does not use the bound."
    )


def about_bound(rho: float, value: float, of: str, least: float, beta: float, assumed: str) -> str:
    """Describe the proved lower bound V~ of one release.

    `value` is V~ in the declared rewards, and `least` is the smallest possible reward of an episode. `beta` is the
    failure probability. `of` describes the people that the policies were learned from, and `assumed` is the proof's
    assumption.
    """
    if value <= least:
        return filled(SAID["nothing_proved"], of=of, rho=f"{rho:g}", least=human(least))
    return filled(
        SAID["proved"],
        of=of,
        rho=f"{rho:g}",
        value=at_least(value),
        beta=f"{upward(beta):g}",
        assumed=assumed,
    )
