"""RLSVI beside calibrated noise at the budget that is claimed of it: the runs, and how they stand."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from dprl.claims.exploration import Planned, planned
from dprl.fields import SpecError
from dprl.simulation import RunSpec
from pages.shared.results import together
from pages.shared.results.runs import Runs

SHOW = "exploration"  # the view's key
RUNS = Runs(("exploration",), "exploration")


@lru_cache(maxsize=50)
def planned_pairs(base: RunSpec) -> Planned:
    """What is held beside each other on the problem of a run. Raises SpecError."""
    return planned(base)


def runs(base: RunSpec) -> list[RunSpec]:
    """All of it, those for the fewest users first."""
    return [spec for pair in planned_pairs(base).pairs for spec in (pair.own, pair.calibrated)]


def lacking_pairs(base: RunSpec) -> list[RunSpec]:
    """The runs that are not finished."""
    return RUNS.unfinished(runs(base))


def offered_pairs(base: RunSpec) -> list[RunSpec]:
    """The same; none where there is nothing to compare."""
    with suppress(SpecError):
        return lacking_pairs(base)
    return []


def pairs_progress(base: RunSpec) -> together.Progress:
    """How they stand, as one."""
    return RUNS.progress(runs(base))
