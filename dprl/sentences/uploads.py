"""Sentences about an uploaded data set: its public parts, the stored parts, and the cost of a release."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dprl.messages import filled, messages
from dprl.sentences import offline
from dprl.words import at_least, human, percent, plural, quoted, upward

SAID = messages("uploads")["uploads"]

DECLARED = (
    "States, actions, steps and rewards are **declared by you** and count as public. They are never read from the "
    "file: a list of states made from it could show that one user was there, whatever the noise."
)
FILE = (
    "A CSV file is in UTF-8, separated by commas. It has a row for each step, and each episode belongs to a different "
    "user. A declaration in a JSON file allows more, such as several episodes of one user."
)
DECLARATION = (
    "Give the declaration before the file. The documentation lists its fields, for example mean rewards, states made "
    "of several columns, edges for binning numbers, shorter episodes, and a column that names the user."
)
LAST_LABEL = (
    "A label that is not in this list counts as the last one, so end the list with a label such as other. No release "
    "shows how often that happens."
)
COLUMNS = (
    "Give the names for episode, step, state, action and reward, in this order. Other columns are ignored."
)
REWARDS = "A reward outside this range counts as the nearest limit. A narrower range needs less noise."
NAME = "Each release about these users is recorded under this name. Use one name for all files about the same users."
TOTAL = "The largest joint budget of all releases about these users. A release beyond it is refused."
RHO = "A smaller ρ is more private. At δ = 10⁻⁶, ρ = 0.1 is about ε = 2."
EXAMPLE_FILE = "20,000 simulated patients: mild, severe, critical; watch, drug, surgery; 4 steps."
OUTSIDE = (
    "**Keep this note to yourself: it is not protected by differential privacy.** It shows how your file was read and "
    "is not stored anywhere. If you meant something else, correct the file or the declaration, and check again."
)
KEPT = (
    "The file is read once and not kept. Its counts are deleted when you close this page, when you press *Forget the "
    "data*, or after 24 hours. Only this server can read them, and no link contains them."
)
GONE = "The counts of your file were deleted, because your page was away too long. Give the file again to release more."
OFF = (
    "This server does not read visitors' files. Run dprl on your own computer, and your data stay there. Whoever "
    "runs this server can set DPRL_UPLOADS=1."
)
COMMANDS = (
    "For real work, use the command line. A release made there gives you files to keep and needs no browser."
)
COMMAND_LINES = (
    'dprl check people.csv --declaration declared.json --rho 0.1 --budget "ward 2026"\n'
    'dprl release people.csv --declaration declared.json --rho 0.1 --budget "ward 2026" --total 1 --out results'
)
NOBODY = "Nobody was held out, so nothing here shows whether the policy is better than today."
HELD_OUT = "The users held out are drawn at random, and nothing is learned from them."
SAVE_THEM = "Save these files now. They are gone once you close or reload the page, or check another file."


def about_example(rho: float) -> str:
    """Return the text above the release with which the page opens."""
    return (
        f"Doctors chose each action, and dprl learned a policy from noisy counts at ρ = {rho:g}. A release of your "
        "file shows the same thing."
    )


def reading(share: float, ahead: int) -> str:
    """Describe the progress of reading a file. ahead: number of files that are read before it."""
    if ahead:
        return f"Your file is waiting for {plural(ahead, 'file')} from other visitors."
    if share >= 0.99:
        return "Counting the contents of the file ..."
    return f"Reading the file: {percent(share)}"


MALFORMED = "An error about a malformed file is for you alone: it is not private."
ADDS_UP = (
    "A release with other settings spends more, and so does any release after you read the file again. The same "
    "settings show the same numbers again and spend nothing."
)


ADD_UP = "If that is not the budget above, no single budget contains the whole sum."


def about_spending(total: str) -> str:
    """State the joint privacy cost of several releases, without naming a budget. total: an escaped text."""
    return f"Since this file was read, you have released **{total}** in total. {ADDS_UP}"


NEW_BUDGET = "No release has used this budget yet. The first one fixes its total (--total)."


def budget_so_far(budget: Any, safe: Callable[[str], str] = str) -> str:
    """Describe the spent and the remaining part of a `dprl.Budget`. safe: escapes its name for display."""
    spent, left, begun = budget.spent, budget.left, plural(len(budget.releases), "release")
    total = "no total" if left is None else f"the total ρ = {budget.total:g}"
    pair = f", or {spent.implies} as (ε, δ)" if spent.rho else ""
    said = (
        f"The budget **{safe(budget.name)}** has {total}. Spent so far: **{spent.text}**{pair}, in {begun}."
    )
    return said if left is None else f"{said} Left: ρ = {math.floor(left * 1e4) / 1e4:g}."


BEFORE_USE = (
    "**May the policy be used?** No number here decides that. Let people who know these users read the policy. Then "
    "try it on a few, with somebody watching. **May the results be published?** The guarantee covers all files of a "
    "release, so publishing them costs no more privacy. Whether to publish them is your decision."
)
TO_USE_IT = (
    "The policy file contains the action in each state at each step, with a noisy count of the episodes in which it "
    "was taken there. If the count is too low, somebody else decides. In Python:"
)


def people(n: int, episodes: int) -> str:
    """Describe the users in a file, each with at most `episodes` episodes."""
    if episodes == 1:
        return offline.trajectories(n)
    return filled(SAID["people_one" if n == 1 else "people"], n=human(n), episodes=episodes)


def needs(episodes: int) -> str:
    """Return the assumption that a bound makes about users with at most `episodes` episodes each."""
    return "each user's episodes in the order of time" if episodes > 1 else "users who are independent"


AGAIN = "You have made this release. To make another one, change ρ and check again."


def outlook(average: float, noise: float) -> list[str]:
    """Describe the expected effect of noise on a count before a release, without using the data.

    Args:
        average: average number of users who take an action in a state at a step.
        noise: the standard deviation of the noise in such a count.
    """
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
    """Describe the places where a policy differs from the most frequent action.

    Args:
        place: the differing place with the most users: state, step, the policy's action and the users' action.
        changed, lacking: of `places` pairs of a state and a step, the number that differ, and that have too few users.
        somebody: who decides in the pairs with too few users.
        follows: the share of users' steps in which they acted as the policy does, None if nobody was held out.
        first_step: the file's number for the first step.
    """
    said = ["The policy takes the most frequent action wherever both are known."]
    if place is not None:
        state, step, action, usual = place
        said = [
            f"In {changed} of {places} pairs of a state and a step, the policy differs from the most frequent action.",
            f"Among them, the pair with the most users is {quoted(state)} at step {step + first_step}: the policy "
            f"recommends {quoted(action)}, but most users got {quoted(usual)}.",
        ]
    if lacking:
        said.append(
            f"In {plural(lacking, 'pair')} too few users got the policy's action: {quoted(somebody)}."
        )
    if follows is not None and follows < 1:
        said.append(
            f"Users got the policy's action in {percent(follows)} of their steps. Their records do not show why the "
            "other steps differ."
        )
    said.append(f"Step {first_step} is the first step of an episode.")
    return " ".join(said)


def below(got: float) -> str:
    """Explain a proved bound below the users' own average, after a release."""
    return (
        f"The bound is below the users' own average, {human(got)}. The proof has to hold in every model, so it "
        "subtracts everything that noise and chance may hide. The verdict does not need the bound."
    )


def about_bound(rho: float, value: float, of: str, least: float, beta: float, assumed: str) -> str:
    """Describe the proved lower bound V~ of one release.

    Args:
        rho, value: the budget, and V~ in the declared rewards.
        of: the people that the policies were learned from, in words.
        least: the smallest possible reward of an episode.
        beta: the failure probability of the bound.
        assumed: the proof's assumption about users.
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
