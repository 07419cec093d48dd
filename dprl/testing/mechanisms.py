"""Checks of a mechanism: whether its noise has the stated properties, and whether attacks refute its privacy proof."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from dprl.fields import SpecError, check_type
from dprl.mdp.tabular import Array
from dprl.privacy import accounting
from dprl.privacy.mechanisms import Mechanism, Stream, make_stream, stream_of_releases
from dprl.statistics import Change
from dprl.testing.report import require, run_checks, texts

RELEASES = 63
# the number of users at each release, if each user draws their own noise
TIMES = np.unique(np.random.default_rng(38).integers(1, 2000, RELEASES))
CELLS = 20_000  # counters drawn at a time: enough to resolve about 1%
LEVEL = 1e-4  # probability that a correct mechanism fails a check by chance
FAR = 5.5  # a correct mechanism's means stay within this many standard errors
DELTA = 0.01  # delta of the attack
HALVED = (1.0, 0.5, 0.25, 0.125, 0.0625)


def check_mechanism(mechanism: Mechanism) -> tuple[str, ...]:
    """Check a mechanism, registered or not, with 20,000 draws from fixed seeds, and return the names of the checks.

    - record: it has a key, texts, and a known norm of sensitivity.
    - repeats: one seed gives the same bits twice, and memory has as many rows as the kernel uses.
    - noise: its mean is 0, its standard deviation is as stated, and it exceeds its bounds no more often than stated.
    - proof: an attack on 3 releases shows no more than `losses` proves, but shows more if the noise is reduced.

    Raises CheckFailed at the first check that fails, and SpecError if the noise depends on the data.

    Example:
        >>> dprl.testing.check_mechanism(dprl.MECHANISMS["laplace-tree"])
        ('record', 'repeats', 'noise', 'proof')
    """
    check_type("mechanism", mechanism, Mechanism, "a Mechanism")
    if mechanism.answers is not None:
        raise SpecError(
            "mechanism", "give a mechanism that adds noise; one that answers questions has its own tests."
        )
    return run_checks(mechanism, [record, repeats, noise, proof])


def stream_of(mechanism: Mechanism) -> Stream:
    """Return a stream for the mechanism: releases by a curator, or users who each draw their own noise."""
    return make_stream(TIMES) if mechanism.fresh else stream_of_releases(RELEASES)


def noise_of(mechanism: Mechanism, stream: Stream, cells: int, seed: int) -> Array:
    """Draw unit noise [M, cells] for M releases from the mechanism's kernel."""
    rows = mechanism.rows(stream.items, stream.releases)
    memory, sums = np.zeros((rows, cells)), np.zeros(cells)
    rng = np.random.Generator(np.random.SFC64(seed))
    if mechanism.prepare:
        mechanism.prepare(rng, stream, memory)
    found = np.empty((stream.releases, cells))
    for i in range(stream.releases):
        try:
            mechanism.add_noise(i, stream.leaves, stream.batches, memory, rng, sums)
        except IndexError as error:
            raise AssertionError(f"rows: memory has {rows} rows, but release {i} needs more") from error
        found[i] = sums
    return found


def errors(values: Array, expected: float) -> float:
    """Return how many standard errors the mean of the values [n] is away from its expectation."""
    return abs(float(values.mean()) - expected) / max(float(values.std()) / math.sqrt(values.size), 1e-300)


def record(mechanism: Mechanism) -> None:
    texts(mechanism)
    require(mechanism.norm in ("l1", "l2"), f"norm: {mechanism.norm} is not allowed; give l1 or l2")


def repeats(mechanism: Mechanism) -> None:
    """Check that noise depends only on the seed: the same seed repeats it, and another seed changes it."""
    first, other, again = (noise_of(mechanism, stream_of(mechanism), 50, seed) for seed in (1, 2, 1))
    require(not np.array_equal(first, other), "two seeds gave the same noise")
    require(np.array_equal(first, again), "the same seed gave different noise")


def noise(mechanism: Mechanism, failure: float = 1e-2) -> None:
    """Compare the mechanism's stated means, standard deviations and bounds with the draws of each release."""
    stream = stream_of(mechanism)
    drawn, std = noise_of(mechanism, stream, CELLS, 9), mechanism.std(stream)
    lengths = np.sqrt((drawn.reshape(stream.releases, -1, 4) ** 2).sum(-1))
    bounds = mechanism.tail(stream, failure), mechanism.length(stream, 4, failure)
    for name, told in zip(("std", "tail", "length"), (std, *bounds), strict=True):
        require(np.shape(told) == (stream.releases,), f"{name}: give a number for each release")
    for i, (row, stated) in enumerate(zip(drawn, std, strict=True)):
        require(row.std() > 1e-9 * stated, f"release {i} has the same noise in all counters")
        require(errors(row, 0.0) < FAR, f"the mean noise of release {i} is {row.mean():.3g} instead of 0")
        off = errors(row**2, float(stated) ** 2) >= FAR
        wrong = off and (row.std() > stated or i + 1 == stream.releases)
        require(not wrong, f"std: release {i} has {row.std():.3g}, but {stated:.3g} is stated")
    for name, sizes, bound in zip(("tail", "length"), (np.abs(drawn), lengths), bounds, strict=True):
        beyond = (sizes > bound[:, None]).sum(1).max()
        allowed = stats.binom.isf(LEVEL / stream.releases, sizes.shape[1], failure)
        share = beyond / sizes.shape[1]
        require(beyond <= allowed, f"{name}: a share of {failure:g} may exceed it, but {share:.3g} do")


def proof(mechanism: Mechanism) -> None:
    """Check that attacks on three releases do not exceed the epsilon that the mechanism's `losses` prove."""
    stream = make_stream(np.arange(1, 4)) if mechanism.fresh else stream_of_releases(3)
    moved = np.repeat((1.0, 0.0), 3), np.repeat((0.0, 1.0), 3)  # a user adds 1 to three counters

    def proved(scale: float) -> float:
        places = mechanism.losses(Change(((6, 1.0),)), scale, stream)
        require(isinstance(places, tuple) and places, "losses: give a tuple with one tuple for each place")
        return max(accounting.epsilon_of(place, DELTA) for place in places)

    low, high = 1e-3, 1e6
    require(proved(high) <= 1, "losses: even with noise of scale 10^6, epsilon is above 1")
    while high / low > 1 + 1e-4:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if proved(middle) <= 1 else (middle, high)
    drawn = noise_of(mechanism, stream, CELLS * 6, 30).reshape(3, CELLS, 6)
    most = [shown(mechanism, stream, drawn, *(one / (high * part) for one in moved)) for part in HALVED]
    require(most[0] <= 1, f"losses: epsilon 1 is claimed, but an attack shows {most[0]:.3g}")
    require(max(most) > 1, "losses: even with 1/16 of the noise, no attack shows an epsilon above 1")


def shown(mechanism: Mechanism, stream: Stream, drawn: Array, first: Array, second: Array) -> float:
    """Return a lower bound on epsilon at DELTA from log-likelihood ratios, using Clopper-Pearson intervals."""
    ratios = [mechanism.log_ratio(stream, drawn + own, 0, first, second) for own in (first, second)]
    best = 0.0
    for threshold in (0.5, 1.0, 1.5, 2.0):
        inside, outside = (int((one > threshold).sum()) for one in ratios)
        low, high = (
            stats.binomtest(count, CELLS).proportion_ci(1 - LEVEL, method="exact")
            for count in (inside, outside)
        )
        best = max(best, math.log((low.low - DELTA) / high.high) if low.low > DELTA else 0.0)
    return best
