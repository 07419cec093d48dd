"""Results in a script or a notebook: traces that draw themselves, sweeps that compute themselves.

The simulation knows neither charts nor the store. These classes are its own, with both in reach.
"""

from dprl.research.background import run, run_async
from dprl.research.sweeps import Sweep, SweepResult
from dprl.research.traces import AnySpec, AnyTrace, Comparison, Trace, compare, spec_from_json

__all__ = [
    "AnySpec",
    "AnyTrace",
    "Comparison",
    "Sweep",
    "SweepResult",
    "Trace",
    "compare",
    "run",
    "run_async",
    "spec_from_json",
]
