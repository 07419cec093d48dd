"""Sentences about guarantees: the meaning of (ε, δ), whether a claim is proved, and which data sets are neighbours.

docs/proofs.toml lists these sentences and the results that they follow from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dprl.messages import filled, messages
from dprl.words import at_most, human, odds, promise, proves

SAID = messages("charts")["promise"]

REPLACED = "replace-one"  # the papers' notion of neighbours; the privacy model names the other one
EQUAL = 0.005  # relative; budgets this close count as equal
HARDLY = 10.0  # an epsilon that lets odds change 22,000-fold
# With a rho this large, Gaussian noise lets an attacker choose between two candidates for one person and be wrong only
# once in a million times: Phi(-sqrt(rho/2)) = 1e-6.
HOLLOW = 45.2
ACCOUNTANT = "our accountant"
ENDS = ("more privacy, more noise", "less privacy, less noise")  # left and right of a slider of budgets
FEW = 0.01  # from this delta times the number of users on, a warning explains what delta allows


TRAJECTORY = "trajectory"  # the unit that is replaced in a data set
PERSON = "user"  # the unit if a user may have several trajectories
BLANKED = "is zeroed out"


def outcome(epsilon: float, delta: float) -> str:
    """Explain in one line how much likelier an outcome can become with one user's data under (epsilon, delta)."""
    factor = human(float(f"{math.exp(epsilon):.{2 if epsilon >= 1 else 3}g}"))
    told = {"factor": factor, "delta": human(delta)}
    said = filled(SAID["outcome"], **told)
    if delta:
        said = filled(SAID["outcome_plus"], **told, odds=odds(delta))
    return f"{said} {SAID['hardly']}" if epsilon >= HARDLY else said


def about_promise(
    epsilon: float,
    delta: float,
    found: Sequence[Any],
    blanked: str = "",
    who: str = "user",
    *,
    calibrated: bool = False,
) -> tuple[bool, str]:
    """Return whether the claimed guarantee is proved for the noise, and a sentence about it.

    found: the proved guarantees (`privacy.guarantee.Reading`). blanked: how a user's data are removed, as a verb
    phrase; "" if only replacing is considered. who: the unit that is replaced. calibrated: True if the noise is the
    smallest for which our accountant proves the stated guarantee.
    """
    claim = promise(epsilon, delta)
    replaced = [r for r in found if r.adjacency == REPLACED]
    answers = [r for r in replaced if r.delta <= delta]
    others = [r for r in replaced if r.how == ACCOUNTANT and r.delta > delta]
    if not answers:
        good, said = False, [filled(SAID["unproved"], claim=claim)]
    else:
        best = min(answers, key=lambda r: (r.epsilon, r.delta))
        proved, share = proves(best.epsilon, best.delta), best.epsilon / epsilon
        good = share <= 1 + EQUAL
        if abs(share - 1) <= EQUAL:
            said = [filled(SAID["proved"], proved=proved, who=who)]
        else:
            how = "less" if not good else "smallest" if calibrated else "more"
            said = [filled(SAID[how], proved=proved, claim=claim)]
        alike = (math.isclose(r.epsilon, epsilon, rel_tol=EQUAL) for r in found if r.adjacency != REPLACED)
        if not good and any(alike):
            said.append(filled(SAID["zeroed"], who=who, blanked=blanked))
    if delta == 0 and others:
        other = min(others, key=lambda r: abs(math.log10(r.delta) + 6))
        if not answers or other.epsilon < best.epsilon * (1 - EQUAL):  # some noise gains nothing from delta
            pair = {"delta": at_most(other.delta), "epsilon": at_most(other.epsilon)}
            said.append(filled(SAID["elsewhere"], **pair))
    return good, " ".join(said)


def concentrated_verdict(claimed: float, proved: float, who: str = TRAJECTORY) -> tuple[bool, str]:
    """Return whether the claimed rho of a run on a data set is proved for its noise, and a sentence about it."""
    rho, good = at_most(proved), proved <= claimed * (1 + EQUAL)
    if claimed > HOLLOW:
        return False, filled(SAID["hollow"], rho=rho, who=who)
    if math.isclose(claimed, proved, rel_tol=EQUAL):
        return True, filled(SAID["proved"], proved=f"ρ = {rho}", who=who)
    return good, filled(SAID["more_rho" if good else "less"], proved=f"ρ = {rho}", claim=human(claimed))


def readings(found: Sequence[Any], blanked: str = "", who: str = "user") -> str:
    """Return a table of all proved guarantees, with a row for each δ and a column for each definition of neighbours.
    Below it are guarantees proved without our accountant. For `blanked` and `who`, see `about_promise`."""
    ours = {(r.adjacency == REPLACED, r.delta): r.epsilon for r in found if r.how == ACCOUNTANT}
    columns = [kind for kind in (True, False) if any(same == kind for same, _ in ours)]
    heads = {True: f"ε when a {who} is replaced", False: f"ε when a {who} {blanked}"}
    lines = [
        "| " + " | ".join(["at\u00a0δ\u00a0=", *(heads[kind] for kind in columns)]) + " |",
        "|" + " ---: |" * (1 + len(columns)),
    ]
    for delta in sorted({delta for _, delta in ours}, reverse=True):
        row = [at_most(ours[kind, delta]) if (kind, delta) in ours else "–" for kind in columns]
        lines.append("| " + " | ".join([at_most(delta), *row]) + " |")
    for r in found:
        if r.how != ACCOUNTANT:
            lines += ["", f"By {r.how}: {proves(r.epsilon, r.delta)} when a {who} is replaced."]
    return "\n".join(lines)


def against_users(delta: float, users: int) -> str:
    """Warn that delta would allow some users' records to be published, or return "" if delta is small enough."""
    if delta * users < FEW:
        return ""
    return filled(SAID["records"], given=human(delta * users), users=human(users))


def returning(episodes: int, epsilon: float, delta: float) -> str:
    """State the guarantee that the noise gives to a user with several episodes."""
    return filled(SAID["returning"], episodes=human(episodes), proved=proves(epsilon, delta))
