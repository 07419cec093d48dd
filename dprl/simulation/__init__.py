"""Simulation: compute a run's results (its trace) from the run's description (its spec)."""

from dprl.simulation import offline, online  # register their kinds
from dprl.simulation.attack import AttackSpec, AttackTrace  # registers its kind, too
from dprl.simulation.base import Spec
from dprl.simulation.datasets import following
from dprl.simulation.details import SeedTrace
from dprl.simulation.kinds import (
    KINDS,
    Run,
    answer,
    answered,
    compiles,
    estimate,
    run,
    spec_from_dict,
    spec_from_json,
    start,
    trace_from_bytes,
)
from dprl.simulation.loops import EliminationRun, SeedRun
from dprl.simulation.loops.offline import OfflineRun, OfflineTrace
from dprl.simulation.offline_spec import OfflineSpec
from dprl.simulation.spec import FIELDS, RunSpec
from dprl.simulation.trace import Trace
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.policy import Policy
from dprl.simulation.uploads.run import UploadRun  # registers its kind, too
from dprl.simulation.uploads.spec import UploadSpec, upload
from dprl.simulation.uploads.trace import UploadTrace
