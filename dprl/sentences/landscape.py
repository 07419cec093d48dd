"""About many learners at once: who needs the fewest users under each kind of trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dprl.words import listed, power, rough

ALIKE = 1.02  # factor within which numbers of users are the same, to two digits


def fewest(found: Mapping[str, Sequence[tuple[str, float]]], most: float) -> str:
    """Who needs the fewest users. found: by who is trusted ("with a trusted agent") the learners, each with the users
    it needs (infinite for more than `most`, NaN where it was not run)."""
    parts = [f"{who} {_best(learners, most)}" for who, learners in found.items()]
    said = "; ".join(parts)
    return f"Fewest users: {said}." if parts else ""


def _best(learners: Sequence[tuple[str, float]], most: float) -> str:
    known = [(name, users) for name, users in learners if not np.isnan(users)]
    if not known:
        return "nobody was run"
    least = min(users for _, users in known)
    if np.isinf(least):
        return f"nobody gets there within {power(most)}"
    names = [name for name, users in known if users <= ALIKE * least]
    return f"{listed(names)} ({rough(least)})"
