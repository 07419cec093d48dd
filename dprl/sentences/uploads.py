"""What is said of an uploaded data set: what is public of it, what is kept, and what a release costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dprl.messages import filled, messages
from dprl.sentences import offline
from dprl.words import at_least, count, human, percent, plural, quoted, upward

SAID = messages("uploads")["uploads"]

DECLARED = (
    "States, actions, steps and rewards are **declared by you** and count as public. They are never read off "
    "the file."
)
WHY_DECLARED = "A list of states made from the file could show that one user was there, whatever the noise."
CLIPPED = (
    "A label that is not declared counts as the *last* declared one. End the list with one such as *other*. "
    "A reward outside the range counts as the nearest end. No release says how often. A server that is not "
    "public tells you alone, before you release anything."
)
OUTSIDE = (
    "**Only for you: this note is not private.** It says how your file was read. The note is not kept: not in the "
    "store, a release, a link or a log."
)
NOT_MEANT = (
    "If you meant otherwise, press *Forget the data*. Then correct the file or the declaration, and give "
    "the file again."
)
KEPT = (
    "The file is read once and not kept. Its counts go when you close this page, when you press *Forget the data*, or "
    "after 24 hours. Only this server can read them. A link carries what you declare and the budgets, nothing of the "
    "data."
)
GONE = "The counts of your file have gone, as your page was away for some time. Give the file again to release more."
OFF = (
    "This server reads no files of visitors. Run dprl on a computer of your own, and your data stay there. Whoever "
    "runs this server can set DPRL_UPLOADS=1."
)


def reading(share: float, ahead: int) -> str:
    """How far the reading of a file is. ahead: files that are read before it."""
    if ahead:
        return f"Your file waits until {plural(ahead, 'other file')} of other visitors have been read."
    if share >= 0.99:
        return "Counting what the file holds ..."
    return f"Reading the file: {percent(share)}"


MALFORMED = "An error about a malformed file is for you alone: it is not private."
LINKED = (
    "This link is about a private data set. No link contains the data, so give the file below. The declaration and the "
    "budgets are filled in."
)
NOT_PRIVATE = (
    "The model is fitted to the counts **without noise**. It is *not private*: a count of one user shows in it. The "
    "model goes into the address of Online and into the store of this server."
)
ESTIMATE = (
    "The model is an estimate. A state and action that nobody tried at a step gets the frequencies of all steps. If "
    "nobody ever tried it, the state does not change."
)


ADDS_UP = (
    "Each further release adds to the sum, and so does reading the file again. Repeating the same settings shows the "
    "same numbers and spends nothing."
)


ADD_UP = (
    "To have one sum of them, press *Forget the data*, put in the name of that budget, and give the file again. The "
    "sum below is of this budget alone."
)


def about_spending(total: str) -> str:
    """What several releases cost together, where no budget has a name. total: in words, safe to show."""
    return f"Released since this file was read: **{total}** in total. {ADDS_UP}"


def budget_so_far(name: str, total: str, spent: str, releases: int) -> str:
    """What stands in a budget. All in words, safe to show."""
    begun = plural(releases, "release")
    return f"The budget **{name}** has {total}. Spent so far: **{spent}**, in {begun}."


def as_a_pair(pair: str) -> str:
    """The sum in other terms. pair: (epsilon, delta)."""
    return f"As (ε, δ), this is {pair}."


LIMITED = (
    "To release more, give the file again. A new reading draws new noise, and its releases add to the sum."
)


SHORTER = (
    "A shorter episode goes on in that state up to its last step, with the first action and the reward 0. So an "
    "episode that ends early brings nothing more."
)
MAY_DIFFER = "Each step is learned by itself. Choose otherwise only where you know that all steps are alike."
ALIKE = (
    "Counts of all steps are added up, with the same privacy. **Where steps differ, the bound may be wrong.** In an "
    "example a drug helped at the first step only, and doctors knew it. The bound said 2.5, and the policy brought "
    "1.9. Today brought 2.2. Users held out showed it in each of 20 releases."
)
OTHER_COLUMNS = (
    "Leave a name empty where the file has the same one. Columns beyond these are passed over. A declaration as a file "
    "can also make a state of several columns, and put numbers into bins."
)
BEFORE_USE = (
    "**May it be used?** No number here decides that. Let people who know these users read the policy, above all where "
    "it does less than users got. Then try it on a few, with somebody watching."
)
TO_USE_IT = (
    "The policy file holds the action in each state at each step. It also holds a noisy count of the episodes in which "
    "it was taken there. Where that is too few, the file says that a clinician decides. In Python:"
)
WITHOUT_REWARDS = (
    "Every reward that you declare is the lowest one, so no policy gains anything. Declare the rewards, or choose "
    "*Learned from the data*."
)


def people(n: int, episodes: int) -> str:
    """Who is in a file, where each person has so many episodes at most."""
    if episodes == 1:
        return offline.trajectories(n)
    return filled(SAID["people_one" if n == 1 else "people"], n=human(n), episodes=episodes)


ONE_EPISODE = "none: one episode each"
FIRST = (
    "Of each user the first episodes in the file count, so put them in the order of time. Privacy then protects the "
    "whole user: noise grows with the number of episodes."
)


NEEDS = {  # by whether a user may have several episodes, and whether steps are declared to be alike
    (False, False): "users who are independent",
    (True, False): "each user's episodes in the order of time",
    (False, True): "users who are independent, steps that are alike as declared",
    (True, True): "each user's episodes in the order of time, steps that are alike as declared",
}


def needs(episodes: int, stationary: bool = False) -> str:
    """What a bound assumes of them, and of steps that are declared to be alike."""
    return NEEDS[episodes > 1, stationary]


def forecast(found: Mapping[str, Any]) -> str:
    """Before a release: that its bound will be the least there is, and what would change that; "" where it may not be.

    found: what `simulation/uploads/reach.py` says of it, from public numbers alone.
    """
    name, alike, even = found["name"], found["alike"], found["even"]
    at = {"name": name, "budget": f"{found['given']:g}", "least": human(found["least"])}
    if certain(found):
        takes = SAID["certain_proof" if found["proved"] else "certain_paper"]
        return " ".join(
            [
                filled(SAID["certain"], **at, beta=f"{upward(found['beta']):g}"),
                filled(takes, penalty=at_least(alike["penalty"]), most=count(found["H"])),
                _needs("alike", name, alike),
                _needs("even", name, even),
            ]
        )
    typical = found["typical"]
    little = found["least"] + LITTLE * (typical["best"] - found["least"])
    if even["bound"] <= 0 and typical["bound"] <= little:
        return f"{filled(SAID['probably'], **at)} {_needs('even', name, even)}"
    return ""


LITTLE = 0.01  # of what an episode can bring: a bound that is as good as none


def certain(found: Mapping[str, Any]) -> bool:
    """Whether the bound will be the least there is, but for a chance of beta. found: as above."""
    return bool(found["alike"]["bound"] <= 0)


NOT_OFFERED = (
    "So this release is not offered. Give a larger budget or more users, or choose another algorithm."
)
AGAIN = (
    "You have asked for this release already. Repeating the same settings shows the same numbers and spends "
    "nothing."
)
ESTIMATING = "Estimating what these releases can tell, from the sizes that you declared ..."
OTHERS = (
    "This is a rule of thumb. Other models took half as many users to 12 times as many, and 60 times where "
    "rewards are rare."
)


POOLED = (
    "Steps are declared to be alike, so the policy is learned from all steps together. Where they differ, the bound "
    "may be wrong."
)
ONE_EACH = "The forecast counts one episode of each user. Each further episode helps."


def noise_outlook(found: Mapping[str, Any]) -> list[str]:
    """Before a release: what noise does to a count, and from which budget or number of users it is useful.

    found: as of `forecast`.

    Returns:
        What stands in a list, each a sentence or two.
    """
    name, typical = found["name"], found["typical"]
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
    if found["stationary"]:
        said.append(POOLED)
    if found["episodes"] > 1:
        said.append(ONE_EACH)
    if (typical["budget"], typical["n"]) == (found["given"], found["n"]):
        return [*said, f"{SAID[f'useful_{what}']} {OTHERS}"]
    ways = _ways(name, typical, "at")
    if not ways:
        return [*said, filled(SAID[f"none_{what}"], name=name)]
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


PAPER_CONSTANTS = (
    "The constants are the paper's. They hold for any data, but take more off each step than privacy alone needs. They "
    "often leave the bound at 0 where that of DP-KL-LCB is above 0."
)


def _ways(name: str, found: Mapping[str, Any], kind: str) -> str:
    """From which budget or number of users on: a phrase; "" where there is none. kind: at (a value), or of (at least
    about one)."""
    ways = []
    if found["budget"] is not None:
        ways.append(filled(SAID[f"{kind}_budget"], name=name, budget=human(found["budget"])))
    if found["n"] is not None:
        ways.append(filled(SAID[f"{kind}_users"], n=count(int(found["n"]))))
    return filled(SAID["either"], one=ways[0], other=ways[1]) if len(ways) == 2 else "".join(ways)


def _needs(where: str, name: str, found: Mapping[str, Any]) -> str:
    """The least budget or number of users. where: alike, even, short or there, how users' visits are spread."""
    ways = _ways(name, found, "of")
    return filled(SAID[f"takes_{where}"], ways=ways) if ways else filled(SAID[f"never_{where}"], name=name)


def nothing(found: Mapping[str, Any] | None) -> str:
    """After a release whose bound is the least there is: why. found: as of `forecast`, None while it is not known."""
    if found is None:
        return ""
    even = found["even"]
    if found["proved"]:
        return _needs("short", found["name"], even) if even["bound"] <= 0 else ""
    why = [SAID["because_both"]]
    if even["bound"] <= 0:
        at = {"name": found["name"], "budget": f"{found['given']:g}"}
        taken = {"penalty": human(even["penalty"]), "most": count(found["H"])}
        why = [filled(SAID["because_paper"], **at, **taken), _needs("there", found["name"], even)]
    return " ".join([*why, SAID["because_then"]])


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
    ways = _ways(found["name"], found["typical"], "at")
    return filled(SAID["from_models"], ways=ways) if ways else filled(SAID["none_bound"], name=found["name"])


def outcome(found: Mapping[str, Any], value: float) -> str:
    """What one release says: its bound `value`, in the declared rewards. found: as of `forecast`."""
    rows = [(found["given"], value)]
    return offline.about_lower_bounds(
        rows,
        found["name"],
        people(found["learned_from"], found["episodes"]),
        found["least"],
        found["beta"],
        found["unproved"],
        nothing(found),
        found["proved"],
        needs(found["episodes"], found["stationary"]),
    )
