"""RLSVI beside calibrated noise at the budget that is claimed of it: the runs, and how they stand."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dprl.claims.exploration import Planned, planned
from dprl.fields import SpecError
from dprl.simulation import RunSpec
from pages.shared.results import data, together
from pages.shared.results.bundled import bundled_ends
from pages.shared.visitor.owners import owner_id

SHOW = "exploration"  # the view's key


@lru_cache(maxsize=50)
def compared(base: RunSpec) -> Planned:
    """What is held beside each other on the problem of a run. Raises SpecError."""
    return planned(base)


def runs(base: RunSpec) -> list[RunSpec]:
    """All of it, those for the fewest users first."""
    return [spec for pair in compared(base).pairs for spec in (pair.own, pair.calibrated)]


def ends(spec: RunSpec) -> NDArray[np.float64]:
    """[seeds] regret at the end of a run, NaN where it is not known."""
    bundled = bundled_ends("exploration").get(spec)
    return data.ends(spec) if bundled is None else bundled


def lacking(base: RunSpec) -> list[RunSpec]:
    """The runs that are not finished."""
    return [spec for spec in runs(base) if not np.isfinite(ends(spec)).all()]


def offered(base: RunSpec) -> list[RunSpec]:
    """The same; none where there is nothing to compare."""
    with suppress(SpecError):
        return lacking(base)
    return []


def progress(base: RunSpec) -> together.Progress:
    """How they stand, as one."""
    return together.progress(runs(base), lacking(base), owner_id("exploration"))
