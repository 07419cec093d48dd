"""Numbers that pages compute from traces: bands over seeds, the privacy cost, exponents, noise, mistakes.

All functions map arrays to arrays. C is the number of checkpoints; a seed that has not reached one is NaN there.
"""

from __future__ import annotations

from dprl.metrics.attack import (
    Measured,
    best_guess,
    clopper_pearson,
    epsilon_of_separation,
    guessed_right,
    histogram,
    posterior,
    roc,
    separation,
    surely,
)
from dprl.metrics.curves import (
    BANDS,
    FEWEST_FOR_MEDIAN,
    LEVEL,
    Array,
    Integers,
    Statistic,
    align,
    regret_band,
)
from dprl.metrics.growth import (
    FLAT,
    Growth,
    flat_from,
    growth_between,
    growth_by_decade,
    growth_exponent,
    late_share,
    power_law,
    unsettled,
)
from dprl.metrics.policies import (
    Bite,
    CountNoise,
    bite,
    count_noise,
    optimism,
    rarest,
    time_shared,
    worse_actions,
)
from dprl.metrics.regions import half_widths, outline, region
from dprl.metrics.verdicts import (
    VERDICTS,
    Finding,
    Verdict,
    at_most,
    every_more_than,
    fewest_pulls,
    grows,
    least,
    more_than,
    overall,
    rate,
    t_interval,
)
