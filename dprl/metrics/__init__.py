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
    action_shares,
    bite,
    count_noise,
    optimism,
    rarest,
    time_shared,
    weighed,
    worse_actions,
)
from dprl.metrics.regions import Region, half_widths, outline, region, widths_over_steps
from dprl.metrics.seeds import (
    BANDS,
    FEWEST_FOR_MEDIAN,
    LEVEL,
    Array,
    Integers,
    Statistic,
    align,
    extra_regret,
    median_band,
    per_episode,
    regret_band,
)
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
    share_of_worst,
    t_interval,
)
