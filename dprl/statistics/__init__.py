"""Statistics: the noisy sums over users that learners may see, each with the largest effect of one user on it."""

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
