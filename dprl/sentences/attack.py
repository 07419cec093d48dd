"""Sentences about privacy attacks: the attacker's view, the protection by noise, and the meaning of a guarantee."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dprl.messages import filled, messages
from dprl.metrics.attack import Measured
from dprl.words import at_least, at_most, human, plural, promise, proves, share_at_most

SAID = messages("charts")["attack"]
CLOSE = 0.005  # relative; budgets this close count as equal


def several(most: int) -> str:
    """Explain that a user's `most` episodes are all the same."""
    return f"The user has {most} episodes here. They all equal the first episode, or all equal the second."


def saw(what: str, releases: int, counters: int) -> str:
    """Describe the data that the attacker sees. `what` is a release under the run's privacy model, as text."""
    said = [filled(SAID["saw"], what=what, counters=plural(counters, "counter"))]
    if releases > 1:
        said.append(filled(SAID["saw_often"], times=plural(releases, "time")))
    return " ".join([*said, SAID["scored"]])


def interval(found: Measured) -> str:
    """Return a measured epsilon with its interval as text."""
    if not math.isfinite(found.value):
        return "–"
    return f"{human(float(f'{found.value:.3g}'))} ({found.low:.2f} to {found.high:.2f})"


def about_attack(
    found: Measured, proved: float, claimed: float, delta: float, *, farthest: bool, half: bool
) -> tuple[bool, str]:
    """Return whether the attack refuted a guarantee, and a sentence about it. The epsilon was measured at `delta`.
    `farthest` means that the two episodes differ as much as possible, and `half` that the noise was halved."""
    if not math.isfinite(found.value):
        return False, SAID["nothing_yet"]
    given = {"proved": at_most(proved), "measured": interval(found), "delta": human(delta)}
    if found.low > proved * (1 + CLOSE):
        return True, filled(SAID["caught_half" if half else "caught"], **given)
    if found.low > claimed * (1 + CLOSE):
        return True, filled(SAID["caught_claim"], **given, claimed=promise(claimed, delta))
    if half:
        return False, filled(SAID["missed_half"], **given)
    chance = found.low <= proved < found.value
    said = filled(SAID["consistent_above" if chance else "consistent"], **given)
    return False, f"{said} {SAID['farthest' if farthest else 'nearer']}"


def surely(bound: float, delta: float) -> str:
    """State the lower bound on epsilon that an attack measures without any assumption about the noise."""
    if bound > 0:
        said = filled(SAID["surely"], epsilon=at_least(bound, 2), delta=human(delta))
    else:
        said = filled(SAID["surely_nothing"], delta=human(delta))
    return f"{said} {SAID['loose']}"


def about_scores(guessed: Measured, best: float, half: bool) -> str:
    """Describe the histograms of scores. `best` is the largest possible share of right guesses."""
    given = {"right": f"{guessed.value:.1%}", "low": f"{guessed.low:.1%}", "high": f"{guessed.high:.1%}"}
    return filled(SAID["guessed_half" if half else "guessed"], **given, most=share_at_most(best))


def advantage(right: float) -> str:
    """Describe the best attacker's advantage over chance. right: an upper bound on its share of correct guesses."""
    return filled(SAID["advantage"], right=share_at_most(right))


def asked_whose(score: float) -> str:
    """Return the guessing game's question about one release, given its score."""
    shown = f"+{human(score)}" if score > 0 else human(score)
    return filled(SAID["whose"], score=shown, sign="more" if score > 0 else "less")


def whose(first: bool, guesses: Sequence[bool]) -> str:
    """Return the guessing game's answer, with how often the visitor has guessed right so far."""
    hit = "Right" if guesses[-1] else "Wrong"
    said = f"**{hit}: these are the {'first' if first else 'second'} user's data.**"
    if len(guesses) == 1:
        return said
    return f"{said} You guessed right {sum(guesses)} out of {len(guesses)} times."


def concentrated(rho: float | None) -> str:
    """State the guarantee of zero-concentrated privacy (zCDP), or that no bound is known if rho is None."""
    if rho is None:
        return "No bound on zero-concentrated privacy (zCDP) is known for shuffled bits."
    return f"The same noise is ρ-zCDP with ρ = {at_most(rho)}."


def about_epsilons(deltas: Sequence[float], epsilons: Sequence[float]) -> str:
    """Describe the curve of proved pairs of epsilon and delta."""
    first, last = (proves(epsilons[end], deltas[end]) for end in (0, -1))
    return filled(SAID["epsilons"], first=first, last=last)


def about_collusion(step: str, exact: int, users: int, worst: float) -> str:
    """Describe how precisely two colluding users can compute others' data. `worst` is their largest error."""
    if step == "one":
        return "The two bars always differ by the same noise. It shifts all counts alike, so every rise stays visible."
    if step == "subtract":
        return f"By subtraction, two other users can work out the data of {exact} of {plural(users, 'user')} exactly."
    off = human(float(f"{worst:.2g}"))
    return f"The estimates are exact for {exact} of {plural(users, 'user')}, and the largest error is {off} visits."
