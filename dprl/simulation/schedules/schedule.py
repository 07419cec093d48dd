"""The interface of a schedule: the rule by which a run decides when to make its next release.

It may be fixed before the run starts, so that choosing it leaks nothing, or follow from the releases so far, which
leaks nothing more. How many releases there are at most, and the noise in them, is fixed before the run either way.
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
# release. users: so far; left: releases that may still be made; K: users in the whole run; settings: [..], from
# `Schedule.settings`; released: [H, S, A, B + 2], of the release just made, zero before the first; errors:
# [H, S, A] the E in use for each row there; possible: see mdp/structure.py; policy: [H, S] (or Logits, see
# mdp/planning.py), to be played until the next release.
SIGNATURE = (
    f"int64(int64, int64, int64, float64[::1], float64[:,:,:,::1], float64[:,:,::1], {TYPE}, int64[:,::1])"
)


# kernel signature of (users, left, K, settings) -> by which share of the users so far a block may grow at most, for a
# learner with a rule of its own; below 0, by which share it has to.
GROWTH = "float64(int64, int64, int64, float64[::1])"


@dataclass(frozen=True)
class Schedule:
    """An entry of the registry. A spec names it `key` or `key:argument`.

    Attributes:
        allowed: how it is written, in words.
        canonical(argument, per_release): the argument as a spec keeps it, raises ValueError when it is not
            allowed.
        settings(argument, K): array handed to every call of next_release.
        next_release: kernel with SIGNATURE.
        releases(argument, K, size): about how many it makes.
        times(argument, K): [M] users at each release, increasing to K, or, if it decides as it goes, the ends
            of epochs of users.
        growth: kernel with GROWTH, if it decides as it goes, else None.
        limit(argument, K, size, per_release): M of a schedule that decides as it goes, else None.
        refusal(argument, K): why it does not go with that many users, if it does not.
        fewer: what makes fewer releases, in words, if not fewer users.

    Where `per_release` holds, noise is calibrated to M, which therefore has to be small; otherwise M is only more than
    is ever made.
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
