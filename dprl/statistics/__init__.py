"""Statistics: what a learner may see of its users, one file a kind. A statistic says how far one user moves it."""

from dprl.statistics.counts import CONSISTENT, FITTED, NOISY
from dprl.statistics.dataset import DATASET, REWARDS, TRANSITIONS
from dprl.statistics.statistic import BLANK_ONE, REPLACE_ONE, Change, PaperScale, Statistic

__all__ = [
    "BLANK_ONE",
    "CONSISTENT",
    "DATASET",
    "FITTED",
    "NOISY",
    "REPLACE_ONE",
    "REWARDS",
    "TRANSITIONS",
    "Change",
    "PaperScale",
    "Statistic",
]
