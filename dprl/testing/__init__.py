"""Checks of algorithms, environments and mechanisms of your own: the contract tests of this package, as a library.

Each check passes, or says in one sentence what is wrong. Nothing has to be registered or installed for it.
"""

from dprl.testing.environments import check_environment
from dprl.testing.learners import check_learner, run_plain
from dprl.testing.mechanisms import check_mechanism
from dprl.testing.offering import offering
from dprl.testing.report import CheckFailed, Report

__all__ = [
    "CheckFailed",
    "Report",
    "check_environment",
    "check_learner",
    "check_mechanism",
    "offering",
    "run_plain",
]
