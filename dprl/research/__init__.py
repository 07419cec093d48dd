"""Runs, comparisons and sweeps for scripts and notebooks. They add charts and the store to `dprl.simulation`."""

from dprl.research.background import run, run_async
from dprl.research.sweeps import Sweep, SweepResult
from dprl.research.traces import Comparison, Trace, compare, spec_from_json
