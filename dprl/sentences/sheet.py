"""The sentences on the printed sheet of a learned policy, except those about the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dprl.messages import messages
from dprl.sentences import uploads
from dprl.words import at_most, proves

SAID = messages("uploads")["sheet"]


def about_the_policy(algorithm: str, found: Mapping[str, Any]) -> str:
    """Describe the data from which a policy was learned. `found` is the content of the policy's file."""
    from_whom = uploads.people(found["people learned from"], found["declared"].get("episodes", 1))
    return f"Learned by {algorithm} from {from_whom}."


def bound_and_chance(found: Mapping[str, Any], lacking: bool) -> str:
    """State how likely the proved bound is to fail, and when it holds. If `lacking`, the policy leaves actions open."""
    chance = at_most(found["except with a chance of"])
    said = [SAID["holds"].format(chance=chance), SAID["best_of"]]
    if lacking:
        said.append(SAID["whoever"])
    return " ".join(said)


def guarantee(found: Mapping[str, Any]) -> list[str]:
    """Return sentences about the guarantee: who is protected, what is proved, and which data are covered."""
    pair = proves(found["epsilon"], found["delta"])
    return [
        f"**Protected:** {found['unit']}. **Neighbours:** {found['adjacency']}.",
        f"**Proved:** ρ = {at_most(found['rho'])}, or {pair} as (ε, δ). **Noise:** {found['noise']}.",
        f"**Covers:** {found['covers']}.",
    ]


def steps(first: int, last: int) -> str:
    """Return a column's heading for a range of steps, such as "Steps 1 to 3"."""
    return f"Step {first}" if first == last else f"Steps {first} to {last}"


def footer(versions: Mapping[str, str], digest: str) -> str:
    """Return the sheet's last line: the versions of the software, and the digest of the policy file."""
    program = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{program}. Digest of policy.json (SHA-256): {digest}."
