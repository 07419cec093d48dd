"""Checks to run on your own algorithms, environments and mechanisms before you register them.

Each function returns the names of its checks if all pass, or raises `CheckFailed` with one sentence.
"""

from dprl.testing.algorithms import check_algorithm
from dprl.testing.environments import check_environment
from dprl.testing.mechanisms import check_mechanism
from dprl.testing.report import CheckFailed

__all__ = ["CheckFailed", "check_algorithm", "check_environment", "check_mechanism"]
