"""The text of the printed sheet of a learned policy, next to its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dprl.sentences import uploads, verdict
from dprl.words import at_most, proves

TITLE = "Policy sheet"
POLICY = "What to do"
GUARANTEE = "The guarantee"
BLIND = "Limits of the statistics"
ASSUMES = "Assumptions"
NOBODY = "**No verdict.** Nobody was held out, so nothing here shows whether the policy is better than today."
HOLDS = "The proved bound of the cautious policy holds except with a probability of {chance}."
BEST_OF = "If you choose the best of k releases, the probability is k times as large."
WHOEVER = "If too few users did what the policy would do, somebody else decides, and the bound still holds."
LACKING = "If too few users did what the policy would do, somebody has to decide."
FIRST_STEP = "Step {first} is the first step of an episode."
IN_A_FILE = "The table is too large for a sheet: see policy.csv."


def about_the_policy(algorithm: str, found: Mapping[str, Any]) -> str:
    """Describe the data that the policy was learned from. found: the content of its file."""
    from_whom = uploads.people(found["people learned from"], found["declared"].get("episodes", 1))
    return f"Learned by {algorithm} from {from_whom}."


def values(
    held: Mapping[str, Any], other: Mapping[str, Any], bound: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """Return the rows of a table of values: name, estimate, and interval."""
    if held["verdict"]:
        return verdict.checked_rows(held, other, bound)
    return [verdict.bound_row(bound["worth at least"])]


def bound_and_chance(found: Mapping[str, Any], lacking: bool) -> str:
    """State the failure probability of the proved bound, and the choices that it holds for.

    found: the file's entry on the bound; lacking: whether somebody else decides in some states.
    """
    chance = at_most(found["except with a chance of"])
    said = [HOLDS.format(chance=chance), BEST_OF]
    if lacking:
        said.append(WHOEVER)
    return " ".join(said)


def guarantee(found: Mapping[str, Any]) -> list[str]:
    """State who is protected, the proved guarantee, and the data that it covers."""
    pair = proves(found["epsilon"], found["delta"])
    return [
        f"**Protected:** {found['unit']}. **Neighbours:** {found['adjacency']}.",
        f"**Proved:** ρ = {at_most(found['rho'])}, or {pair} as (ε, δ). **Noise:** {found['noise']}.",
        f"**Covers:** {found['covers']}.",
    ]


def steps(first: int, last: int) -> str:
    """Write a column's heading for a range of steps."""
    return f"Step {first}" if first == last else f"Steps {first} to {last}"


def footer(versions: Mapping[str, str], digest: str) -> str:
    """Write the versions of the software and the digest of the policy file."""
    program = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{program}. Digest of policy.json (SHA-256): {digest}."
