"""Statistics: what a learner may see of its users, one file a kind. A statistic says how far one user moves it."""

from dprl.statistics.counts import CONSISTENT, FITTED, NOISY
from dprl.statistics.statistic import ADD_REMOVE, REPLACE_ONE, Change, Statistic

__all__ = ["ADD_REMOVE", "CONSISTENT", "FITTED", "NOISY", "REPLACE_ONE", "Change", "Statistic"]
