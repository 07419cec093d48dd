"""Loops: one file each, one line each here; from a spec to a run that is played a slice at a time."""

from __future__ import annotations

from collections.abc import Callable

from dprl.simulation.kinds import Run
from dprl.simulation.loops.eliminate import EliminationRun
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.spec import RunSpec

LOOPS: dict[str, Callable[[RunSpec, int], Run]] = {"replan": SeedRun, "eliminate": EliminationRun}

__all__ = ["LOOPS", "EliminationRun", "SeedRun"]
