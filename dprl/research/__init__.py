"""Results in a script or a notebook: traces that draw themselves, and sweeps that compute themselves.

The classes here extend those of the simulation, which uses neither charts nor the store.
"""

from dprl.research.background import run, run_async
from dprl.research.sweeps import Sweep, SweepResult
from dprl.research.traces import Comparison, Trace, compare, spec_from_json

__all__ = ["Comparison", "Sweep", "SweepResult", "Trace", "compare", "run", "run_async", "spec_from_json"]
