"""Statistics: the noisy sums over users that learners may see, and one user's largest effect on them."""

from dprl.statistics.counts import CONSISTENT, FITTED, NOISY
from dprl.statistics.dataset import DATASET, REWARDS, TRANSITIONS
from dprl.statistics.statistic import BLANK_ONE, REPLACE_ONE, Change, PaperScale, Statistic
