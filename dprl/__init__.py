"""dprl: measure the cost of privacy in reinforcement learning.

>>> import dprl
>>> spec = dprl.RunSpec(environment="riverswim", algorithm="dp-ucbvi", privacy="central", epsilon=1.0)
>>> trace = dprl.run(spec)
>>> trace.regret.shape
(5, 193)
"""

from typing import TYPE_CHECKING, Any

from dprl import privacy
from dprl.environments import ENVIRONMENTS
from dprl.environments.gymnasium import from_gymnasium
from dprl.fields import SpecError
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.mdp import TabularMDP
from dprl.privacy import MECHANISMS
from dprl.research import Comparison, Sweep, SweepResult, Trace, compare, run, run_async, spec_from_json
from dprl.research.traces import cite
from dprl.simulation import (
    Budget,
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

if TYPE_CHECKING:
    from dprl import testing

__version__ = VERSION

__all__ = [
    "ALGORITHMS",
    "ENVIRONMENTS",
    "MECHANISMS",
    "OFFLINE",
    "Budget",
    "Comparison",
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
    "privacy",
    "run",
    "run_async",
    "spec_from_json",
    "testing",
    "upload",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import `dprl.testing` on first use, because the import takes a second."""
    if name == "testing":
        from importlib import import_module

        return import_module("dprl.testing")
    raise AttributeError(f"dprl has no attribute {name!r}; dir(dprl) lists all attributes.")
