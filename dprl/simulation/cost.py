"""Estimate the cost of a run before it starts, and refuse runs that exceed the limits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import count
from math import ceil, isfinite, log10

from dprl.fields import SpecError, not_allowed, number
from dprl.mdp import Size
from dprl.messages import filled, messages
from dprl.privacy import MECHANISMS
from dprl.statistics import Statistic

SAID = messages("refusals")["cost"]
COUNTERS, MINUTES, GIGABYTES = "DPRL_MAX_COUNTERS", "DPRL_MAX_MINUTES", "DPRL_MAX_GB"
# The limits on the counters in each release, and on the minutes (on one core) and gigabytes for one seed.
DEFAULTS = {COUNTERS: 250_000.0, MINUTES: 10.0, GIGABYTES: 2.0}


def limit(name: str) -> float:
    """Return the limit in the environment variable `name`, or its default. Raises SpecError unless it is positive."""
    text = os.environ.get(name, "").strip()
    try:
        value = float(text) if text else DEFAULTS[name]
    except ValueError:
        value = 0.0
    if not 0 < value or not isfinite(value):
        raise not_allowed(name, text, f"a positive number, such as {DEFAULTS[name]:g}")
    return value


def refused(field: str, refusal: str, name: str) -> SpecError:
    """Return the error for a run that exceeds a limit, naming the environment variable that raises the limit."""
    error = SpecError(field, refusal)
    error.add_note(f"The environment variable {name} raises this limit.")
    return error


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of one seed of a run."""

    seconds: float  # on one core
    bytes: int  # of memory
    releases: int  # the number of releases M


@dataclass(frozen=True)
class Work:
    """The facts about a run that determine its cost."""

    size: Size
    statistic: Statistic
    users: int  # the number of users K
    releases: int  # the number of releases M
    fewer: str  # advice on how to make fewer releases; "" if only fewer users help
    mechanism: str | None  # the key of the noise mechanism; None without noise
    of_users: bool  # whether noise is calibrated to a stream of users, not of releases
    planning: float  # seconds that the learner needs per release beyond one backward induction
    branching: int | None = None  # the largest number of next states, if the possible ones are declared

    @property
    def cells(self) -> int:
        """Return how many numbers each release contains."""
        return self.statistic.cells(self.size)


def estimate(work: Work) -> Estimate:
    """Estimate the seconds and bytes that one seed needs, on one core of a machine with two cores."""
    S, A, H, d = work.size
    M, cells = work.releases, work.cells
    rows = H * S * A
    users = work.users / M
    B = work.branching or S
    sampling = H * (users * 15e-9 if users < 16 else S * B * 60e-9)
    planning = rows * (5e-9 + 1.5e-9 * B + 1.5e-9 * d * (S + 2 * d)) + H * d**3 * 2e-9
    seconds = M * (planning + sampling + 1e-6)
    rows_kept = 0
    if work.mechanism is not None:
        seconds += M * (cells * (9e-9 if users < 2 else 38e-9) + rows * 15e-9)
        rows_kept = MECHANISMS[work.mechanism].rows(work.users if work.of_users else M, M)
    size = 8 * cells * (6 + rows_kept) + 64 * M + min(64 * 2**20, 40 * 8 * 4 * cells)
    return Estimate(seconds + work.planning, int(size), M)


def check_cost(work: Work, smaller: str = "") -> None:
    """Raise SpecError if a run exceeds a limit. The error suggests `smaller` or other settings."""
    (S, A, H, _), cells, K = work.size, work.cells, work.users
    cost, most = estimate(work), int(limit(COUNTERS))
    if cells > most:
        said: dict[str, object] = {"S": S, "A": A, "H": H, "formula": work.statistic.formula}
        said |= {"cells": f"{cells:,}", "most": f"{most:,}", "size": f"{max(cost.bytes / 2**30, 0.1):,.1f}"}
        said["minutes"] = f"{ceil(cost.seconds / 60):,}"
        if fits := most // work.statistic.cells(Size(S, A, 1)):
            refusal = filled(SAID["cells_horizon"], fits=fits, **said)
        elif smaller:
            refusal = filled(SAID["cells_smaller"], smaller=smaller, **said)
        else:
            fits = next(S for S in count(1) if work.statistic.cells(Size(S + 1, A, 1)) > most)
            refusal = filled(SAID["cells_states"], fits=fits, **said)
        raise refused("environment_params", refusal, COUNTERS)
    simulating = cost.seconds - work.planning
    if simulating > 60 * limit(MINUTES):
        affordable = K * 60 * limit(MINUTES) / simulating
        unit = 10 ** int(log10(affordable))
        said = {"users": number(K), "minutes": ceil(simulating / 60), "most": f"{limit(MINUTES):g}"}
        if work.fewer:
            raise refused("episodes", filled(SAID["minutes_fewer"], fewer=work.fewer, **said), MINUTES)
        fitting = number(affordable // unit * unit)
        raise refused("episodes", filled(SAID["minutes_users"], fits=fitting, **said), MINUTES)
    if cost.bytes > limit(GIGABYTES) * 2**30:
        said = {
            "mechanism": work.mechanism,
            "size": f"{cost.bytes / 2**30:.1f}",
            "most": f"{limit(GIGABYTES):g}",
        }
        said |= {"cells": f"{cells:,}", "releases": f"{cost.releases:,}"}
        raise refused("environment_params", filled(SAID["memory"], **said), GIGABYTES)
