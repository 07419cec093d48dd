"""Loops: one file each, one line each here; from a spec to a run that is played a slice at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from dprl.privacy.privatizers import Noise
from dprl.simulation.kinds import Run
from dprl.simulation.loops.batches import BatchRun
from dprl.simulation.loops.eliminate import EliminationRun
from dprl.simulation.loops.module_run import ModuleRun
from dprl.simulation.loops.regress import RegressionRun
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.spec import RunSpec


class Loop(Protocol):
    """The way that runs are played."""

    def __call__(self, spec: RunSpec, seed: int) -> Run:
        """Begin one seed."""

    def noise_of_run(self, spec: RunSpec) -> Noise:
        """Return the noise of any seed, which follows from the spec alone."""

    def lack(self, spec: RunSpec) -> str:
        """Explain why numba plays the run, in one sentence; "" if the module does."""

    @property
    def kernel(self) -> Callable[..., Any]:
        """The part that numba compiles first when it plays the run."""


LOOPS: dict[str, Loop] = {
    "replan": ModuleRun,
    "eliminate": EliminationRun,
    "regress": RegressionRun,
    "batches": BatchRun,
}

__all__ = ["LOOPS", "BatchRun", "EliminationRun", "ModuleRun", "RegressionRun", "SeedRun"]
