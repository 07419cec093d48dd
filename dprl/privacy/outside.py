"""Noise mechanisms from other packages: check them, offer them, and state the assumptions about them."""

from __future__ import annotations

from dataclasses import replace

from dprl.fields import reject
from dprl.messages import filled
from dprl.plugins import sources
from dprl.privacy.guarantee import ASSUMED
from dprl.privacy.losses import SAID
from dprl.privacy.mechanisms import MECHANISMS, Mechanism
from dprl.privacy.privatizers import PRIVATIZERS

GROUP = "dprl.mechanisms"  # group of entry points
BUILT_IN = frozenset(MECHANISMS)  # this module is imported before any package registers one
NORMS = ("l1", "l2")


def model_of(mechanism: Mechanism) -> str:
    """Return the privacy model of a mechanism: "local" if each user draws the noise, otherwise "central"."""
    return "local" if mechanism.fresh else "central"


def refusal(mechanism: Mechanism) -> str:
    """Return the reason why another package's mechanism cannot be used, or "" if it can be used."""
    if mechanism.norm not in NORMS:
        return f"its norm is {mechanism.norm}; give {' or '.join(NORMS)}"
    if mechanism.answers is not None:
        return "its noise depends on the data; give a mechanism with independent noise"
    return ""


def offer(mechanism: Mechanism) -> None:
    """Add a mechanism to the choices of its privacy model, in last place so that it never becomes the default."""
    model = PRIVATIZERS[model_of(mechanism)]
    PRIVATIZERS[model.key] = replace(model, mechanisms=(*model.mechanisms, mechanism.key))


def is_outside(key: str | None) -> bool:
    """Return whether this is the key of a mechanism from another package."""
    return key in MECHANISMS and key not in BUILT_IN


def check_contribution(key: str, contribution: int) -> None:
    """Raise SpecError if a user has several episodes and the mechanism is not dprl's own; no proof covers that case."""
    if contribution > 1 and is_outside(key):
        raise reject("contribution", SAID["outside"], episodes=contribution, mechanism=key)


def assumption(key: str | None) -> tuple[str, ...]:
    """Return the assumption to state in a guarantee if the mechanism is from another package, else ()."""
    if key is None or not is_outside(key):
        return ()
    author = sources.get((GROUP, key), "its author")  # the package, if its name is known
    return (filled(ASSUMED["outside"], author=author, mechanism=MECHANISMS[key].title),)
