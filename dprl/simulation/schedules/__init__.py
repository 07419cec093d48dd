"""The schedules, which decide when a run releases noisy statistics. Each has its own file and is listed here."""

from __future__ import annotations

import numpy as np

from dprl.fields import SpecError, shown
from dprl.mdp import Size
from dprl.simulation.schedules import adaptive, episodic, geometric
from dprl.simulation.schedules.schedule import SIGNATURE as SIGNATURE
from dprl.simulation.schedules.schedule import Ints, Schedule

SCHEDULES: dict[str, Schedule] = {
    s.key: s for s in (episodic.SCHEDULE, geometric.SCHEDULE, adaptive.SCHEDULE)
}
DEFAULT = "adaptive:0.1"
ALLOWED = " or ".join(s.allowed for s in SCHEDULES.values())


def parse(text: str) -> tuple[Schedule, str]:
    """Return the schedule that a canonical text names, and its argument."""
    key, _, argument = text.partition(":")
    return SCHEDULES[key], argument


def check(text: str, per_release: bool = True) -> str:
    """Return a schedule's canonical text, such as `geometric:0.02`. Raises SpecError if it is not allowed."""
    key, _, argument = text.partition(":")
    try:
        argument = SCHEDULES[key].canonical(argument, per_release)
    except (KeyError, ValueError):
        raise SpecError("schedule", f"{shown(text)} is not allowed; give {ALLOWED}.") from None
    return f"{key}:{argument}" if argument else key


def releases(text: str, K: int, size: Size, per_release: bool) -> int:
    """Return a schedule's largest number of releases if the noise is calibrated to it, otherwise an estimate."""
    schedule, argument = parse(text)
    if schedule.limit and per_release:
        return schedule.limit(argument, K, size, True)
    return schedule.releases(argument, K, size)


def times(text: str, K: int) -> Ints:
    """Return the number of users at each release or, if a schedule decides during the run, at the end of each epoch."""
    schedule, argument = parse(text)
    return schedule.times(argument, K)


def limit(text: str, K: int, size: Size, per_release: bool) -> int | None:
    """Return the limit M on releases for a schedule that decides during the run, or None for any other schedule."""
    schedule, argument = parse(text)
    return schedule.limit(argument, K, size, per_release) if schedule.limit else None


def targets(K: int, logarithmic: int, linear: int) -> Ints:
    """Return the numbers of users from 1 to K at which curves are recorded, spaced logarithmically and linearly."""
    spaced = np.concatenate([np.geomspace(1, K, logarithmic), np.linspace(K / linear, K, linear)])
    return np.unique(np.maximum(np.round(spaced), 1).astype(np.int64))


def indices_at(releases: Ints, logarithmic: int, linear: int) -> Ints:
    """Return the indices of the first release at or after each target, and of the last release."""
    found = np.searchsorted(releases, targets(int(releases[-1]), logarithmic, linear))
    return np.unique(np.append(np.minimum(found, len(releases) - 1), len(releases) - 1)).astype(np.int64)
