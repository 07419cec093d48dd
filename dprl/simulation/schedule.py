"""Schedules: the release times of a run, fixed before it starts, so that choosing them leaks nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dprl.fields import Field, SpecError, shown

ETA = Field("schedule", "float", 0.02, "growth of a block", low=0.001, high=1.0)
EPISODIC_LIMIT = 10**6
ALLOWED = f"episodic (up to 10^6 episodes) or geometric:ETA with ETA from {ETA.low:g} to {ETA.high:g}"


def check(text: str) -> str:
    """The canonical form of a schedule, `episodic` or `geometric:0.02`. Raises SpecError."""
    kind, _, eta = text.partition(":")
    if text == "own":  # of an algorithm that had its own; others take the default
        return "geometric:0.02"
    if kind == "episodic" and not eta:
        return text
    if kind == "geometric":
        try:
            return f"geometric:{ETA.parse(eta or '0.02'):g}"
        except SpecError:
            pass
    raise SpecError("schedule", f"{shown(text)} is not allowed; give {ALLOWED}.")


def times(schedule: str, K: int) -> NDArray[np.int64]:
    """Release times 0 < t_1 < ... < t_M = K, [M], in users.

    geometric(eta): t_{i+1} = t_i + max(1, floor(eta t_i)), cut at K.
    """
    if schedule == "episodic":
        return np.arange(1, K + 1, dtype=np.int64)
    eta = float(schedule.partition(":")[2])
    result = []
    t = 0
    while t < K:
        t = min(K, t + max(1, int(eta * t)))
        result.append(t)
    return np.array(result, dtype=np.int64)


def indices_at(releases: NDArray[np.int64], logarithmic: int, linear: int) -> NDArray[np.int64]:
    """Which releases are the first at or after log-spaced and linearly spaced targets; the last included."""
    K = float(releases[-1])
    targets = np.concatenate([np.geomspace(1, K, logarithmic), np.linspace(K / linear, K, linear)])
    found = np.searchsorted(releases, np.round(targets).astype(np.int64))
    return np.unique(np.append(np.minimum(found, len(releases) - 1), len(releases) - 1)).astype(np.int64)
