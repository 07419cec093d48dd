"""What is said of an uploaded data set: what is public of it, what is kept, and what a release costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from dprl.messages import filled, messages
from dprl.sentences import offline
from dprl.words import at_least, count, human, percent, plural, quoted, upward

SAID = messages("uploads")["uploads"]

DECLARED = (
    "States, actions, steps and rewards are **declared by you** and count as public. They are never read off the file: "
    "a list of states made from it could show that one user was there, whatever the noise."
)
FILE = (
    "A CSV file is UTF-8, separated by commas. It has a row for each step, and each episode is one user. A "
    "declaration as a JSON file allows more, such as several episodes of one user."
)
DECLARATION = (
    "Give it before the file. The documentation lists what it may hold: for example mean rewards, states made of "
    "several columns, edges of numbers, shorter episodes, and a column that names the user."
)
LAST_LABEL = (
    "A label that is not in this list counts as its last one, so end it with one such as other. No release shows how "
    "often that happens."
)
COLUMNS = (
    "Give the names for episode, step, state, action and reward, in this order. Other columns are ignored."
)
REWARDS = "A reward outside this range counts as the nearest end. A narrow range needs less noise."
NAME = "Each release of these users is written down under this name. Use one name for all files about the same users."
TOTAL = "The most that all releases of these users may prove together. A release beyond it is refused."
RHO = "A small ρ is private. At 0.1 and a δ of 10⁻⁶ it is about ε = 2."
EXAMPLE_FILE = "20,000 simulated patients: mild, severe, critical; watch, drug, surgery; 4 steps."
OUTSIDE = (
    "**Only for you: this note is not private.** It shows how your file was read, and is kept nowhere. If you meant "
    "something else, correct the file or the declaration, and check again."
)
KEPT = (
    "The file is read once and not kept. Its counts go when you close this page, when you press *Forget the data*, or "
    "after 24 hours. Only this server can read them, and no link contains them."
)
GONE = "The counts of your file have gone, as your page was away for some time. Give the file again to release more."
OFF = (
    "This server reads no files of visitors. Run dprl on a computer of your own, and your data stay there. Whoever "
    "runs this server can set DPRL_UPLOADS=1."
)
COMMANDS = (
    "For real work use the command line. A release there leaves files that you keep, and needs no browser."
)
COMMAND_LINES = (
    'dprl check people.csv --declaration declared.json --rho 0.1 --budget "ward 2026"\n'
    'dprl release people.csv --declaration declared.json --rho 0.1 --budget "ward 2026" --total 1 --out results'
)
NOBODY = "Nobody was held out, so nothing here shows whether the policy is better than today."
HELD_OUT = "The users held out are drawn at random, and nothing is learned from them."
SAVE_THEM = "Save these files now: a page that is closed or loaded again does not show them any more."


def about_example(rho: float) -> str:
    """Return what stands above the release that the page opens with."""
    return (
        f"Doctors chose each action, and dprl learned a policy from noisy counts at ρ = {rho:g}. A release of your "
        "file shows the same."
    )


def reading(share: float, ahead: int) -> str:
    """How far the reading of a file is. ahead: files that are read before it."""
    if ahead:
        return f"Your file waits until {plural(ahead, 'other file')} of other visitors have been read."
    if share >= 0.99:
        return "Counting what the file holds ..."
    return f"Reading the file: {percent(share)}"


MALFORMED = "An error about a malformed file is for you alone: it is not private."
ADDS_UP = (
    "Each further release adds to the sum, and so does reading the file again. Repeating the same settings shows the "
    "same numbers and spends nothing."
)


ADD_UP = "If this is another budget than the one above, no budget has the whole sum."


def about_spending(total: str) -> str:
    """What several releases cost together, where no budget has a name. total: in words, safe to show."""
    return f"Released since this file was read: **{total}** in total. {ADDS_UP}"


def budget_so_far(budget: Any, safe: Callable[[str], str] = str) -> str:
    """Return what is spent of a budget, a `dprl.Budget`, and what is left. safe: makes its name safe to show."""
    spent, left, begun = budget.spent, budget.left, plural(len(budget.releases), "release")
    total = "no total" if left is None else f"the total ρ = {budget.total:g}"
    pair = f", or {spent.implies} as (ε, δ)" if spent.rho else ""
    said = (
        f"The budget **{safe(budget.name)}** has {total}. Spent so far: **{spent.text}**{pair}, in {begun}."
    )
    return said if left is None else f"{said} Left: ρ = {math.floor(left * 1e4) / 1e4:g}."


BEFORE_USE = (
    "**May it be used?** No number here decides that. Let people who know these users read the policy. Then try it on "
    "a few, with somebody watching."
)
TO_USE_IT = (
    "The policy file holds the action in each state at each step. It also holds a noisy count of the episodes in which "
    "it was taken there. Where that is too few, the file says that a clinician decides. In Python:"
)


def people(n: int, episodes: int) -> str:
    """Who is in a file, where each person has so many episodes at most."""
    if episodes == 1:
        return offline.trajectories(n)
    return filled(SAID["people_one" if n == 1 else "people"], n=human(n), episodes=episodes)


def needs(episodes: int) -> str:
    """Return what a bound assumes of users, each of whom has that many episodes at most."""
    return "each user's episodes in the order of time" if episodes > 1 else "users who are independent"


def forecast(found: Mapping[str, Any]) -> str:
    """Before a release: that its bound will be the least there is, and what would change that; "" where it may not be.

    found: what `simulation/uploads/reach.py` says of it, from public numbers alone.
    """
    alike, even = found["alike"], found["even"]
    at = {"budget": f"{found['given']:g}", "least": human(found["least"])}
    if certain(found):
        return " ".join(
            [
                filled(SAID["certain"], **at, beta=f"{upward(found['beta']):g}"),
                filled(SAID["certain_proof"], penalty=at_least(alike["penalty"]), most=count(found["H"])),
                _needs("alike", alike),
                _needs("even", even),
            ]
        )
    typical = found["typical"]
    little = found["least"] + LITTLE * (typical["best"] - found["least"])
    if even["bound"] <= 0 and typical["bound"] <= little:
        return f"{filled(SAID['probably'], **at)} {_needs('even', even)}"
    return ""


LITTLE = 0.01  # of what an episode can bring: a bound that is as good as none


def certain(found: Mapping[str, Any]) -> bool:
    """Whether the bound will be the least there is, but for a chance of beta. found: as above."""
    return bool(found["alike"]["bound"] <= 0)


HOPELESS = "its bound is certainly the least there is. Give a larger budget or more users."
NOT_OFFERED = "So this release is not offered: it would say nothing. Give a larger budget or more users."
AGAIN = "This release is made. For another one, change ρ and check again."
ESTIMATING = "Estimating what these releases can tell, from the sizes that you declared ..."
OTHERS = (
    "This is a rule of thumb. Other models took half as many users to 12 times as many, and 60 times where "
    "rewards are rare."
)


ONE_EACH = "The forecast counts one episode of each user. Each further episode helps."


def noise_outlook(found: Mapping[str, Any]) -> list[str]:
    """Before a release: what noise does to a count, and from which budget or number of users it is useful.

    found: as of `forecast`.

    Returns:
        What stands in a list, each a sentence or two.
    """
    typical = found["typical"]
    what = "policy" if found["unproved"] else "bound"
    now, worth, best = (human(_two(typical[name])) for name in ("now", "worth", "best"))
    said = [
        f"On average {human(_two(found['average']))} users take an action in a state at a step. Noise moves each such "
        f"number by about {human(_two(found['noise']))} (standard deviation).",
        f"In random models of this size, users who act at random get about {now}. The policy learned from them brings "
        f"about {worth}, and the best policy {best}.",
    ]
    if not found["unproved"]:
        said.append(
            f"The proved bound of that policy is about {human(_two(typical['bound']))}. {_low(typical)}".strip()
        )
    if found["episodes"] > 1:
        said.append(ONE_EACH)
    if (typical["budget"], typical["n"]) == (found["given"], found["n"]):
        return [*said, f"{SAID[f'useful_{what}']} {OTHERS}"]
    ways = _ways(typical, "at")
    if not ways:
        return [*said, SAID[f"none_{what}"]]
    return [*said, f"{filled(SAID[f'from_{what}'], ways=ways)} {OTHERS}"]


def _low(typical: Mapping[str, float]) -> str:
    """What a bound below acting at random does not say."""
    if typical["bound"] >= typical["now"]:
        return ""
    return (
        "That the bound is low does not say that the policy is poor: a proof takes off all that noise and chance may "
        "hide. Users held out tell how good it is."
    )


def beforehand(found: Mapping[str, Any]) -> str:
    """All that is said before a release. found: as of `forecast`."""
    return " ".join(filter(None, (forecast(found), *noise_outlook(found))))


def _two(value: float) -> float:
    """To two digits."""
    return float(f"{value:.2g}")


def _ways(found: Mapping[str, Any], kind: str) -> str:
    """From which budget or number of users on: a phrase; "" where there is none. kind: at (a value), or of (at least
    about one)."""
    ways = []
    if found["budget"] is not None:
        ways.append(filled(SAID[f"{kind}_budget"], budget=human(found["budget"])))
    if found["n"] is not None:
        ways.append(filled(SAID[f"{kind}_users"], n=count(int(found["n"]))))
    return filled(SAID["either"], one=ways[0], other=ways[1]) if len(ways) == 2 else "".join(ways)


def _needs(where: str, found: Mapping[str, Any]) -> str:
    """The least budget or number of users. where: alike, even or short, how users' visits are spread."""
    ways = _ways(found, "of")
    return filled(SAID[f"takes_{where}"], ways=ways) if ways else SAID[f"never_{where}"]


def nothing(found: Mapping[str, Any] | None) -> str:
    """After a release whose bound is the least there is: why. found: as of `forecast`, None while it is not known."""
    if found is None:
        return ""
    return _needs("short", found["even"]) if found["even"]["bound"] <= 0 else ""


def changes(
    place: tuple[str, int, str, str] | None,
    changed: int,
    places: int,
    lacking: int,
    somebody: str,
    follows: float | None = None,
    first_step: int = 0,
) -> str:
    """Where a policy does something else than users got most often.

    Args:
        place: of those, the one with most users: state, step, the policy's action and that of the users.
        changed, lacking: in how many of `places` pairs of a state and a step it does, and has too few users to say.
        somebody: who decides there.
        follows: the share of users' steps in which they did what it says, None where nobody was held out.
        first_step: the number that the file gives to the first step.
    """
    said = ["The policy does what users got most often, wherever both are known."]
    if place is not None:
        state, step, action, usual = place
        said = [
            f"In {changed} of {places} pairs of a state and a step, the policy differs from what users got most often.",
            f"Of these, the pair with most users is {quoted(state)} at step {step + first_step}: the policy says "
            f"{quoted(action)}, most users got {quoted(usual)}.",
        ]
    if lacking:
        said.append(
            f"In {plural(lacking, 'pair')} too few users got what the policy would do: {quoted(somebody)}."
        )
    if follows is not None and follows < 1:
        said.append(
            f"Users got what the policy says in {percent(follows)} of their steps. Why not in the others, their "
            "records do not say."
        )
    said.append(f"Step {first_step} is the first of an episode.")
    return " ".join(said)


def below(got: float, found: Mapping[str, Any] | None) -> str:
    """After a release whose proved bound is below what users got: why. found: as of `forecast`, None while it is not
    known."""
    said = (
        f"The bound is below what users got, {human(got)}. A proof takes off all that noise and chance may hide, in "
        "every model. The verdict does not need the bound."
    )
    return said if found is None else f"{said} {_useful_from(found)}"


def _useful_from(found: Mapping[str, Any]) -> str:
    """From which budget or number of users on a bound is useful. found: as of `forecast`."""
    ways = _ways(found["typical"], "at")
    return filled(SAID["from_models"], ways=ways) if ways else SAID["none_bound"]


def outcome(found: Mapping[str, Any], value: float) -> str:
    """What one release says: its bound `value`, in the declared rewards. found: as of `forecast`."""
    return about_bound(
        found["given"],
        value,
        people(found["learned_from"], found["episodes"]),
        found["least"],
        found["beta"],
        found["unproved"],
        nothing(found),
        needs(found["episodes"]),
    )


def about_bound(
    rho: float, value: float, of: str, least: float, beta: float, unproved: str, why: str, assumed: str
) -> str:
    """Return what the lower bound V~ of one release says.

    Args:
        rho, value: the budget, and V~ in the declared rewards.
        of: whose episodes the policy is learned from, in words.
        least: that an episode can bring.
        beta: the chance that the bound fails.
        unproved: why V~ is no proved bound, or "".
        why: why V~ is the least there is, or "".
        assumed: what the proof assumes of users.
    """
    unknown = "Nobody knows v* here, so how far the policy is from the best one is not known."
    if unproved:
        return (
            f"From {of} at ρ = {rho:g} the algorithm's own estimate is {human(value)}. This is no proved bound: "
            f"{unproved}. {unknown}"
        )
    if value <= least:
        return (
            f"From {of} at ρ = {rho:g} no policy is proved to be worth more than {human(least)}, the least there is. "
            f"{why}".rstrip()
        )
    return (
        f"From {of} at ρ = {rho:g} the learned policy is worth at least {at_least(value)} an episode. The bound may "
        f"fail with a chance of at most β = {upward(beta):g}, and the documentation has the proof. The bound needs "
        f"{assumed}, and states that contain all that the next state depends on. {unknown}"
    )
