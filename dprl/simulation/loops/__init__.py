"""Loops, one file and one line each: from a spec to a run that is played in slices."""

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
    """The way in which runs of some learners are played."""

    def __call__(self, spec: RunSpec, seed: int) -> Run:
        """Start one seed of this spec."""

    def noise_of_run(self, spec: RunSpec) -> Noise:
        """Return the noise of any seed, which follows from the spec alone."""

    def lack(self, spec: RunSpec) -> str:
        """Explain in one sentence why numba plays the run; "" if the module does."""

    @property
    def kernel(self) -> Callable[..., Any]:
        """Return the part that numba compiles first when it plays the run."""


LOOPS: dict[str, Loop] = {
    "replan": ModuleRun,
    "eliminate": EliminationRun,
    "regress": RegressionRun,
    "batches": BatchRun,
}

__all__ = ["LOOPS", "BatchRun", "EliminationRun", "ModuleRun", "RegressionRun", "SeedRun"]
