"""All experiments by key."""

from __future__ import annotations

from dprl.papers.experiments import TEN
from dprl.papers.printed import BOUNDS_KEPT, FIGURES, PRINTED
from dprl.papers.rates import RATES

CLAIMS = {claim.key: claim for claim in (*TEN, *RATES, *PRINTED, *BOUNDS_KEPT, *FIGURES)}
