"""dprl: what privacy costs in reinforcement learning.

>>> import dprl
>>> spec = dprl.RunSpec(environment="riverswim", algorithm="dp-ucbvi", privacy="central", epsilon=1.0)
>>> trace = dprl.run(spec)
>>> trace.regret.shape
(5, 193)
"""

from dprl.environments import ENVIRONMENTS
from dprl.environments.gymnasium import from_gymnasium
from dprl.fields import SpecError
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.mdp import TabularMDP
from dprl.privacy import MECHANISMS, PRIVATIZERS, Guarantee
from dprl.research import Comparison, Sweep, SweepResult, Trace, compare, run, run_async, spec_from_json
from dprl.research.cited import cite
from dprl.simulation import (
    FIELDS,
    Budget,
    Estimate,
    OfflineSpec,
    Policy,
    RunSpec,
    SeedTrace,
    UploadSpec,
    estimate,
    following,
    upload,
)
from dprl.version import VERSION

__version__ = VERSION

__all__ = [
    "ALGORITHMS",
    "ENVIRONMENTS",
    "FIELDS",
    "MECHANISMS",
    "OFFLINE",
    "PRIVATIZERS",
    "Budget",
    "Comparison",
    "Estimate",
    "Guarantee",
    "OfflineSpec",
    "Policy",
    "RunSpec",
    "SeedTrace",
    "SpecError",
    "Sweep",
    "SweepResult",
    "TabularMDP",
    "Trace",
    "UploadSpec",
    "cite",
    "compare",
    "estimate",
    "following",
    "from_gymnasium",
    "run",
    "run_async",
    "spec_from_json",
    "upload",
]
