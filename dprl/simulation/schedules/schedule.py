"""The interface of a schedule, the rule that decides when a run makes its next release.

A schedule is fixed before the run or follows from the releases so far, so it leaks nothing more than they do. The
largest number of releases and their noise are always fixed before the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dprl.fields import SpecError
from dprl.mdp import Size
from dprl.mdp.structure import TYPE
from dprl.mdp.tabular import Array

Ints = NDArray[np.int64]

# kernel signature of a schedule: (users, left, K, settings, released, errors, possible, policy) -> users at the next
# release. users: the users so far; left: the releases that may still be made; K: the users in the whole run; settings:
# [..], see `Schedule.settings`; released: [H, S, A, B + 2], the latest release, zero before the first; errors:
# [H, S, A], the E in use for each of its rows; possible: see mdp/structure.py; policy: [H, S] (or Logits, see
# mdp/planning.py), to be played until the next release.
SIGNATURE = (
    f"int64(int64, int64, int64, float64[::1], float64[:,:,:,::1], float64[:,:,::1], {TYPE}, int64[:,::1])"
)


# kernel signature of (users, left, K, settings) -> the largest share of the users so far that a block may add, for a
# learner with its own rule; if negative, the share that it must add.
GROWTH = "float64(int64, int64, int64, float64[::1])"


@dataclass(frozen=True)
class Schedule:
    """An entry in the registry of schedules, written in a spec as `key` or `key:argument`.

    Attributes:
        allowed: a description of its written form.
        canonical(argument, per_release): the argument in canonical form; raises ValueError if it is not allowed.
        settings(argument, K): the array passed to every call of next_release.
        next_release: a kernel with SIGNATURE.
        releases(argument, K, size): the approximate number of releases.
        times(argument, K): the number of users at each release, increasing to K [M]; if the schedule decides during
            the run, at the end of each epoch.
        growth: a kernel with GROWTH if the schedule decides during the run, else None.
        limit(argument, K, size, per_release): the limit M of a schedule that decides during the run, else None.
        refusal(argument, K): the error if the schedule does not allow K users, else None.
        fewer: advice on how to make fewer releases; "" if only fewer users help.

    If `per_release` is true, noise is calibrated to M, which therefore has to be small; otherwise M is just an upper
    bound on the number of releases.
    """

    key: str
    allowed: str
    canonical: Callable[[str, bool], str]
    settings: Callable[[str, int], Array]
    next_release: Callable[..., int]
    releases: Callable[[str, int, Size], int]
    times: Callable[[str, int], Ints]
    growth: Callable[..., float] | None = None
    limit: Callable[[str, int, Size, bool], int] | None = None
    refusal: Callable[[str, int], SpecError | None] = lambda argument, K: None
    fewer: str = ""
