"""The papers' claims as experiments, for `dprl reproduce` and the Papers page, and a ranking of all algorithms."""

from dprl.papers.claim import Claim, Setting, SpecSeries
from dprl.papers.experiments import TEN
from dprl.papers.printed import BOUNDS_KEPT, FIGURES, PRINTED
from dprl.papers.rates import RATES

CLAIMS = {claim.key: claim for claim in (*TEN, *RATES, *PRINTED, *BOUNDS_KEPT, *FIGURES)}
