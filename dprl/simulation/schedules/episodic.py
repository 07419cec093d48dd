"""A schedule that releases after every user, as in the papers' pseudocode."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl.engine import kernel
from dprl.fields import SpecError, number
from dprl.mdp.structure import Table
from dprl.mdp.tabular import Array
from dprl.simulation.schedules.schedule import Schedule

LIMIT = 10**6


@kernel
def next_release(
    users: int,
    left: int,
    K: int,
    settings: Array,
    released: Array,
    errors: Array,
    possible: Table,
    policy: Any,
) -> int:
    """Return the number of users at the next release, t_{i+1} = t_i + 1."""
    return users + 1


def canonical(argument: str, per_release: bool) -> str:
    """Return "", the only argument that is allowed. Raises ValueError for any other."""
    if argument:
        raise ValueError(argument)
    return ""


def refusal(argument: str, K: int) -> SpecError | None:
    """Return an error if there are too many users for this schedule, or else None."""
    if K <= LIMIT:
        return None
    return SpecError(
        "episodes",
        f"{number(K)} is too many for the episodic schedule; give at most 10^6, or the schedule adaptive:0.1.",
    )


SCHEDULE = Schedule(
    key="episodic",
    allowed="episodic (K to 10^6)",
    canonical=canonical,
    settings=lambda argument, K: np.zeros(1),
    next_release=next_release,
    releases=lambda argument, K, size: K,
    times=lambda argument, K: np.arange(1, K + 1, dtype=np.int64),
    refusal=refusal,
)
