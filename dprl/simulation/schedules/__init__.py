"""Schedules: one file each, one line each here."""

from __future__ import annotations

import numpy as np

from dprl.fields import SpecError, shown
from dprl.simulation.schedules import episodic, geometric
from dprl.simulation.schedules.schedule import SIGNATURE, Ints, Schedule

SCHEDULES: dict[str, Schedule] = {s.key: s for s in (episodic.SCHEDULE, geometric.SCHEDULE)}
DEFAULT = "geometric:0.02"
ALLOWED = " or ".join(s.allowed for s in SCHEDULES.values())


def parse(text: str) -> tuple[Schedule, str]:
    """The schedule that a canonical text names, and its argument."""
    key, _, argument = text.partition(":")
    return SCHEDULES[key], argument


def check(text: str) -> str:
    """The canonical form of a schedule, `episodic` or `geometric:0.02`. Raises SpecError."""
    key, _, argument = text.partition(":")
    try:
        argument = SCHEDULES[key].canonical(argument)
    except (KeyError, ValueError):
        raise SpecError("schedule", f"{shown(text)} is not allowed; give {ALLOWED}.") from None
    return f"{key}:{argument}" if argument else key


def releases(text: str, K: int) -> int:
    """About how many releases a schedule makes."""
    schedule, argument = parse(text)
    return schedule.releases(argument, K)


def times(text: str, K: int) -> Ints:
    """[M] users at each release of a schedule that is fixed before the run. Raises ValueError for another."""
    schedule, argument = parse(text)
    if schedule.times is None:
        raise ValueError(f"{text} decides as it goes")
    return schedule.times(argument, K)


def targets(K: int, logarithmic: int, linear: int) -> Ints:
    """Log-spaced and linearly spaced numbers of users, increasing to K: where curves are recorded."""
    spaced = np.concatenate([np.geomspace(1, K, logarithmic), np.linspace(K / linear, K, linear)])
    return np.unique(np.round(spaced).astype(np.int64))


def indices_at(releases: Ints, logarithmic: int, linear: int) -> Ints:
    """Which releases are the first at or after the targets; the last included."""
    found = np.searchsorted(releases, targets(int(releases[-1]), logarithmic, linear))
    return np.unique(np.append(np.minimum(found, len(releases) - 1), len(releases) - 1)).astype(np.int64)


__all__ = [
    "ALLOWED",
    "DEFAULT",
    "SCHEDULES",
    "SIGNATURE",
    "Schedule",
    "check",
    "indices_at",
    "parse",
    "releases",
    "targets",
    "times",
]
