"""The loops that play a run in short slices of time. Each has its own file and is listed here."""

from __future__ import annotations

from dprl.learners import ALGORITHMS
from dprl.simulation.loops.batches import BatchRun
from dprl.simulation.loops.eliminate import EliminationRun
from dprl.simulation.loops.module_run import ModuleRun
from dprl.simulation.loops.regress import RegressionRun
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.loops.slices import SlicedRun
from dprl.simulation.spec import RunSpec

Loop = type[SlicedRun] | type[EliminationRun]

LOOPS: dict[str, Loop] = {
    "replan": ModuleRun,
    "eliminate": EliminationRun,
    "regress": RegressionRun,
    "batches": BatchRun,
}


def loop_of(spec: RunSpec) -> Loop:
    """Return the loop that plays a spec's runs."""
    return LOOPS[ALGORITHMS[spec.algorithm].loop]
