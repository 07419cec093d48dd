"""Numbers that pages read off traces: bands over seeds, the price of privacy, exponents, noise, mistakes.

Pure: arrays in, arrays out. C is the number of checkpoints; a seed that has not got to one is NaN there.
"""

from __future__ import annotations

from dprl.metrics.arms import fewest_pulls, skewed_median
from dprl.metrics.attack import (
    Histogram,
    Measured,
    Roc,
    best_guess,
    epsilon_of_separation,
    guessed_right,
    histogram,
    posterior,
    roc,
    separation,
    surely,
)
from dprl.metrics.datasets import Bite, bite, enough, rarest
from dprl.metrics.growth import (
    Growth,
    flat_from,
    growth_by_decade,
    growth_exponent,
    growth_of_mean,
    last_exponent,
    late_share,
    power_law,
    unsettled,
)
from dprl.metrics.noise import Coverage, Noise, coverage, noise
from dprl.metrics.policies import action_shares, mistakes, optimism, time_shared, weighed
from dprl.metrics.regions import Region, half_widths, outline, region, spectrum, widths_over_steps
from dprl.metrics.seeds import (
    BANDS,
    FEWEST_FOR_MEDIAN,
    LEVEL,
    Array,
    Integers,
    Statistic,
    align,
    at_common_points,
    extra_regret,
    median_band,
    per_episode,
    regret_band,
)
from dprl.metrics.sweeps import Reversal, least, reversals, share_of_worst

__all__ = [
    "BANDS",
    "FEWEST_FOR_MEDIAN",
    "LEVEL",
    "Array",
    "Bite",
    "Coverage",
    "Growth",
    "Histogram",
    "Integers",
    "Measured",
    "Noise",
    "Region",
    "Reversal",
    "Roc",
    "Statistic",
    "action_shares",
    "align",
    "at_common_points",
    "best_guess",
    "bite",
    "coverage",
    "enough",
    "epsilon_of_separation",
    "extra_regret",
    "fewest_pulls",
    "flat_from",
    "growth_by_decade",
    "growth_exponent",
    "growth_of_mean",
    "guessed_right",
    "half_widths",
    "histogram",
    "last_exponent",
    "late_share",
    "least",
    "median_band",
    "mistakes",
    "noise",
    "optimism",
    "outline",
    "per_episode",
    "posterior",
    "power_law",
    "rarest",
    "region",
    "regret_band",
    "reversals",
    "roc",
    "separation",
    "share_of_worst",
    "skewed_median",
    "spectrum",
    "surely",
    "time_shared",
    "unsettled",
    "weighed",
    "widths_over_steps",
]
