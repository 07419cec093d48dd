"""What is said of an uploaded data set: what is public of it, what is kept, and what a release costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dprl.sentences import offline
from dprl.words import count, human, plural

DECLARED = (
    "States, actions, steps and rewards are **declared by you** and count as public. They are never read off the file: "
    "if one person were in a state that nobody else was in, a list of states made from the file would show that, "
    "whatever the noise."
)
CLIPPED = (
    "A label that is not declared counts as the *last* declared one (end the list with one such as *other*), a reward "
    "outside its range as the nearest end. Nothing that is released says how often: a server that is not public tells "
    "you alone, before you release anything."
)
OUTSIDE = (
    "**Only for you: this note is not private.** Part of your file is outside of what you declared. The note is kept "
    "nowhere: not in the store, a release, a link or a log."
)
NOT_MEANT = (
    "If you meant otherwise: *Forget the data*, mend the file or the declaration, and give the file again."
)
KEPT = (
    "The file is read once and not kept; its counts are, for 24 hours or until you forget them, readable by this "
    "server alone. A link carries what you declare and the budgets, nothing of the data."
)
MALFORMED = "When a file is malformed, the sentence that says so is for you: it is not private."
LINKED = (
    "This link is about a private data set, which travels in no link: give its file below. What was declared of it, "
    "and the budgets, are filled in."
)
NOT_PRIVATE = (
    "The model is fitted to the counts **without noise**: it is *not private*, a count of one person shows in it. It "
    "goes into the address of Explore and into the store of this server."
)
ESTIMATE = (
    "It is an estimate: a pair of state and action that nobody tried at a step has the frequencies of all steps, one "
    "that nobody ever tried stays where it is."
)


ADDS_UP = (
    "Each further release adds to the sum, and so does reading the file anew. The same settings again show the same "
    "numbers and spend nothing."
)


def about_spending(total: str) -> str:
    """What several releases cost together, where no budget has a name. total: in words, safe to show."""
    return f"Released since this file was read: **{total}** in all. {ADDS_UP}"


def budget_so_far(name: str, total: str, spent: str, releases: int) -> str:
    """What stands in a budget. All in words, safe to show."""
    begun = plural(releases, "release")
    return f"The budget **{name}** has {total}. Spent so far: **{spent}**, in {begun}."


def as_a_pair(pair: str) -> str:
    """The sum in other terms. pair: (epsilon, delta)."""
    return f"As (ε, δ), that is {pair}."


LIMITED = "To release more, give the file again. A new reading draws new noise, and what it releases adds up."


TO_USE_IT = (
    "The policy file holds the action in each state at each step, and in how many episodes it was taken there "
    "(with noise). Where that is too few, the file says that a clinician decides. In Python:"
)
WITHOUT_REWARDS = (
    "Every reward that you declare is the least there is, so no policy gains anything. Declare the rewards, or choose "
    "that they are learned from the data."
)


def people(n: int, episodes: int) -> str:
    """Who is in a file, where each person has so many episodes at most."""
    if episodes == 1:
        return offline.trajectories(n)
    return f"{human(n)} {'person' if n == 1 else 'people'} with up to {episodes} episodes each"


ONE_EPISODE = "none: one episode each"
FIRST = (
    "Of each person the first episodes in the file count, so put them in the order of time. Privacy then protects the "
    "whole person: noise grows with the number of episodes."
)


def needs(episodes: int) -> str:
    """What a bound assumes of them."""
    return "people who are independent" if episodes == 1 else "each person's episodes in the order of time"


def forecast(found: Mapping[str, Any]) -> str:
    """Before a release: that its bound will be the least there is, and what would change that; "" where it may not be.

    found: what `simulation/uploads/reach.py` says of it, from public numbers alone.
    """
    name, alike, even = found["name"], found["alike"], found["even"]
    at = f"{name} = {found['given']:g}"
    if alike["bound"] <= 0:
        takes = "The proof takes" if found["proved"] else "The paper constants take"
        return (
            f"**At {at} the bound is certainly {human(found['least'])}**, but for a chance of {found['beta']:g}. "
            f"{takes} at least {human(alike['penalty'])} off each step, and a whole episode brings at "
            f"most {count(found['H'])}, in units of the reward range. {_needs(name, alike)}, even where all "
            f"people do the same. {_spread(name, even)}"
        )
    if even["bound"] <= 0:
        return f"**At {at} the bound is probably {human(found['least'])}.** {_spread(name, even)}"
    return ""


AGAIN = "You have asked for this release already. The same settings again show the same numbers and spend nothing."
ESTIMATING = "Estimating what these releases can tell, from the sizes that you declared ..."
OTHERS = "A rule of thumb: other models took half as many people to 12 times as many; where rewards are rare, 60 times."


ONE_EACH = "The forecast counts one episode of each person. Each further episode helps."


def outlook(found: Mapping[str, Any]) -> list[str]:
    """Before a release: what noise does to a count, and from which budget or number of people it is useful.

    found: as of `forecast`.

    Returns:
        What stands in a list, each a sentence or two.
    """
    name, typical = found["name"], found["typical"]
    what = "learned policy" if found["unproved"] else "bound"
    got = typical["worth" if found["unproved"] else "bound"]
    said = [
        f"On average {human(_two(found['average']))} people take an action in a state at a step. Noise moves each such "
        f"number by about {human(_two(found['noise']))} (standard deviation).",
        f"In random models of this size, with people who act at random, the {what} comes to about "
        f"{human(_two(got))}. Acting at random brings {human(_two(typical['now']))} there, and the best policy "
        f"{human(_two(typical['best']))}.",
    ]
    if found["episodes"] > 1:
        said.append(ONE_EACH)
    if (typical["budget"], typical["n"]) == (found["given"], found["n"]):
        return [*said, f"So the {what} should be useful: halfway between the two, or better. {OTHERS}"]
    ways = [f"{name} = {human(typical['budget'])}"] if typical["budget"] is not None else []
    ways += [f"n = {count(int(typical['n']))}"] if typical["n"] is not None else []
    if not ways:
        return [*said, f"No {name} and no n that can be given brings the {what} halfway between the two."]
    return [*said, f"The {what} is halfway between the two from about {' or '.join(ways)} on. {OTHERS}"]


def beforehand(found: Mapping[str, Any]) -> str:
    """All that is said before a release. found: as of `forecast`."""
    return " ".join(filter(None, (forecast(found), *outlook(found))))


def _two(value: float) -> float:
    """To two digits."""
    return float(f"{value:.2g}")


PRINTED = (
    "Its constants are the paper's: they hold for any data, take more off each step than privacy alone asks for, and "
    "often leave the bound 0 where that of DP-KL-LCB is not."
)


def _spread(name: str, even: Mapping[str, Any]) -> str:
    return f"{_needs(name, even)} where visits are spread evenly over states and actions."


def _needs(name: str, found: Mapping[str, Any]) -> str:
    """The least budget or number of people."""
    ways = [f"{name} of at least about {human(found['budget'])}"] if found["budget"] is not None else []
    ways += [f"n of at least about {count(int(found['n']))}"] if found["n"] is not None else []
    return (
        f"It takes {' or '.join(ways)}" if ways else f"No {name} and no n that can be given is large enough"
    )


def nothing(found: Mapping[str, Any] | None) -> str:
    """After a release whose bound is the least there is: why. found: as of `forecast`, None while it is not known."""
    if found is None:
        return ""
    even = found["even"]
    if found["proved"]:
        return f"{_needs(found['name'], even)} where visits are spread evenly." if even["bound"] <= 0 else ""
    why = (
        f"The paper constants make it so, not privacy alone. At {found['name']} = {found['given']:g} the penalty "
        f"takes, where visits are spread evenly, {human(even['penalty'])} off each step, and a whole episode brings at "
        f"most {count(found['H'])}, in units of "
        f"the reward range. {_needs(found['name'], even)} there."
        if even["bound"] <= 0
        else "Noise and the paper constants together make it so."
    )
    return (
        f"{why} A smaller constant C2 says more from the same release, but proves no bound. In Python the same spec "
        "with another C2 plans from the same noisy counts; only people held out are asked anew. On the command line "
        "each run reads the file anew, and spends anew."
    )


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
        needs(found["episodes"]),
    )
