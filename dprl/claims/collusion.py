"""Two users who collude: how many of the others they read exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dprl.claims.claim import Setting
from dprl.metrics import Finding, at_most, clopper_pearson, more_than
from dprl.metrics.curves import Array, Evidence
from dprl.simulation import AttackSpec

EXACT = 1e-9
SURELY, HARDLY = 0.95, 0.05


def read(answer: dict[str, Any], noise: str) -> Array:
    """[users - 2] how far off users t - 1 and t + 1 are when they work out what user t did, t = 2, 3, ...: release
    t + 1, less release t - 1, less what user t + 1 did."""
    visits = np.array(answer["visits"], float)
    told = np.cumsum(visits) + np.array(answer[noise])
    off: Array = np.abs(told[2:] - told[:-2] - visits[2:] - visits[1:-1])
    return off


def recovered(specs: Sequence[AttackSpec], noise: str, name: str) -> Setting:
    """The share of users that are recovered exactly. noise: that of the releases, `one` draw for all or a `tree`."""

    def judge(evidence: Evidence) -> Finding:
        off = np.concatenate([read(evidence.answers["collusion", spec], noise) for spec in specs])
        found = clopper_pearson(int((off < EXACT).sum()), len(off))
        return more_than(found, SURELY) if noise == "one" else at_most(found, HARDLY)

    return Setting(
        f"{name} · ε = {specs[0].run.epsilon:g} · {len(specs)} repetitions",
        "share of users recovered exactly",
        f"more than {SURELY:g}" if noise == "one" else f"at most {HARDLY:g}",
        tuple(specs),
        judge,
        question="collusion",
        form="share",
        over="users",
    )
