"""Checks of a mechanism: its noise against what it says of it, and what it proves against the best attack."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import stats

from dprl.kernels import compiled
from dprl.mdp.tabular import Array
from dprl.privacy import accounting
from dprl.privacy.mechanisms import SIGNATURE, Mechanism, Stream, make_stream
from dprl.statistics import Change
from dprl.testing import seen
from dprl.testing.report import Report, checked, require, texts

NORMS = ("l1", "l2", "cells")
TIMES = (1, 2, 3, 7, 24, 127)  # users at each release; 127 is 7 nodes of a tree, the most there are below 128
CELLS = 20_000  # counters that are drawn at a time: what a check resolves is about 1%
LEVEL = 1e-4  # chance that a right mechanism would have failed a check, had its seed been drawn at random
DELTA = 0.01
ATTACKED = (1, 2, 3)
# Replacing a user of one step: 2 counters of n, 2 of m and 2 of r by 1 each.
CHANGE = Change(((6, 1.0),))


def check_mechanism(mechanism: Mechanism, stream: Stream | None = None, *, compiles: bool = True) -> Report:
    """Check a mechanism, registered or not, from 20,000 draws of fixed seeds.

    - record: key, texts, the norm that it asks for, and functions where functions are asked.
    - holds nothing: its kernel closes over nothing, and sees no module or global that could hold something.
    - repeats: one seed has the same bits, whatever was drawn before.
    - same bits compiled: compiled and as plain Python; what follows is then drawn by the compiled one.
    - spread: the standard deviation of the last release is the stated one, of no release more; the mean is 0.
    - own reports: where each user draws noise (`fresh`), that of n users is a sum of n draws.
    - for attackers: `telling` and `scattered` give the streams that attacks look at.
    - symmetric: at each release noise is as often above a bound as below its negative.
    - tail: the bound is broken no more often than it says, and is not loose; so is that of the length of several.
    - independent counters: no counter tells anything of another.
    - likelihood ratio: `log_ratio` is one: its exponential has mean 1 where the other user is there.
    - proof: no event tells two users apart better than `losses` proves, and with half the noise one does.

    Args:
        mechanism: its record.
        stream: what is released, of a mechanism that needs to know more than times; by default releases of up to 127
            users.
        compiles: False while its kernel is still plain NumPy that numba need not know.

    Returns:
        The checks that were passed.

    Raises:
        CheckFailed: by the first check that was not, in a sentence.
        ValueError: it is one whose noise depends on what it is added to.
    """
    if mechanism.answers is not None:
        raise ValueError(
            "mechanism: one that answers questions has tests of its own; give one that adds noise."
        )
    told = stream or make_stream(np.array(TIMES))
    checks: list[Callable[[Mechanism], None]] = [record, holds_nothing, _named(repeats, told)]
    if compiles:
        checks.append(_named(same_bits_compiled, told))
    first = checked(mechanism, checks)
    checks = [_named(check, told) for check in (spread, symmetric, tail, independent_counters)]
    if stream is None:
        checks += [likelihood_ratio, proof]
        checks += [own_reports, for_attackers] if mechanism.fresh else [for_attackers]
    rest = checked(machine(mechanism) if compiles else mechanism, checks)
    return Report(mechanism.key, first.passed + rest.passed)


def _named(check: Callable[[Mechanism, Stream], None], stream: Stream) -> Callable[[Mechanism], None]:
    def named(mechanism: Mechanism) -> None:
        check(mechanism, stream)

    named.__name__ = check.__name__
    return named


def machine(mechanism: Mechanism) -> Mechanism:
    """The same with its kernel compiled."""
    return replace(mechanism, add_noise=compiled(mechanism.add_noise, SIGNATURE))


def noise_of(mechanism: Mechanism, stream: Stream, cells: int, seed: int) -> Array:
    """[M, cells] unit noise of each release, from the mechanism's kernel."""
    memory = np.zeros((mechanism.rows(stream.items, stream.releases), cells))
    rng = np.random.Generator(np.random.SFC64(seed))
    if mechanism.prepare:
        mechanism.prepare(rng, stream, memory)
    noise, found = np.zeros(cells), []
    for i in range(stream.releases):
        mechanism.add_noise(i, stream.leaves, stream.batches, memory, rng, noise)
        found.append(noise.copy())
    return np.array(found)


CALLED = (
    "add_noise",
    "rows",
    "std",
    "tail",
    "length",
    "losses",
    "telling",
    "log_ratio",
    "scattered",
    "halved",
)


def record(mechanism: Mechanism) -> None:
    """Key, texts, the norm that it asks for, and functions where functions are asked."""
    texts(mechanism)
    require(mechanism.norm in NORMS, f"norm: {mechanism.norm} is none of {', '.join(NORMS)}")
    for name in CALLED:
        require(callable(getattr(mechanism, name)), f"{name}: give a function")


def holds_nothing(mechanism: Mechanism) -> None:
    """The kernel closes over nothing; globals are functions and constants."""
    module = mechanism.add_noise.__module__
    seen.no_other_way(
        [mechanism.add_noise],
        ["dprl.privacy", "dprl.kernels", "dprl.mdp.sampling", module, module.rpartition(".")[0] or module],
    )


def repeats(mechanism: Mechanism, stream: Stream) -> None:
    """A seed has the same bits, whatever was drawn before."""
    first = noise_of(mechanism, stream, 50, 1)
    other = noise_of(mechanism, stream, 50, 2)
    require(not np.array_equal(first, other), "two seeds gave the same noise")
    require(np.array_equal(noise_of(mechanism, stream, 50, 1), first), "one seed gave two noises")


def _errors(values: Array, expected: float) -> float:
    """By how many standard errors the mean of values [n] is off."""
    spread = float(values.std(ddof=1)) / math.sqrt(values.size)
    off = float(values.mean()) - expected
    return abs(off) / spread if spread else (0.0 if off == 0 else math.inf)


def critical(comparisons: int) -> float:
    """Standard errors that so many right means together stay below, but for LEVEL."""
    return float(stats.norm.isf(LEVEL / (2 * comparisons)))


def spread(mechanism: Mechanism, stream: Stream) -> None:
    """The standard deviation of the last release is the stated one, of no release more; the mean is 0."""
    noise, std = noise_of(mechanism, stream, CELLS, 9), mechanism.std(stream)
    require(
        np.shape(std) == (stream.releases,), f"std: its shape is {np.shape(std)}; give {(stream.releases,)}"
    )
    limit = critical(3 * stream.releases)
    for i, (row, stated) in enumerate(zip(noise, std, strict=True)):
        require(_errors(row, 0.0) < limit, f"the mean noise of release {i} is not 0")
        more = row.std() > stated and _errors(row**2, float(stated) ** 2) >= limit
        require(not more, f"std: release {i} has {row.std():.3g}, and {stated:.3g} is stated")
    last = float(noise[-1].std())
    require(
        _errors(noise[-1] ** 2, float(std[-1]) ** 2) < limit,
        f"std: the last release has {last:.3g}, and {std[-1]:.3g} is stated",
    )


def symmetric(mechanism: Mechanism, stream: Stream) -> None:
    """Noise is as often above a bound as below its negative, which schedules that decide as they go rest on."""
    noise, std = noise_of(mechanism, stream, CELLS, 17), mechanism.std(stream)
    bounds = (0.25, 1.0, 2.0)
    for i, (row, size) in enumerate(zip(noise, std, strict=True)):
        for bound in bounds:
            above, below = int((row > bound * size).sum()), int((row < -bound * size).sum())
            chance = stats.binomtest(above, above + below).pvalue if above + below else 1.0
            require(
                chance > LEVEL / (len(bounds) * stream.releases),
                f"noise of release {i} is {above:,} times above {bound:g} std, and {below:,} times below its negative",
            )


def tail(mechanism: Mechanism, stream: Stream, failure: float = 1e-2, draws: int = CELLS) -> None:
    """The bound is broken no more often than it says, at each release, and 60% of it is, at one of them; that of the
    length of four counters is not, either."""
    noise = np.abs(noise_of(mechanism, stream, draws, 13))
    bound = mechanism.tail(stream, failure)
    require(
        np.shape(bound) == (stream.releases,),
        f"tail: its shape is {np.shape(bound)}; give {(stream.releases,)}",
    )
    limit = stats.binom.isf(LEVEL / stream.releases, draws, failure)
    broken = (noise > bound[:, None]).sum(1)
    require(
        (broken <= limit).all(), f"tail: {failure:g} is allowed, and {broken.max() / draws:.3g} are beyond"
    )
    loose = (noise > 0.6 * bound[:, None]).sum(1).max()
    require(loose > limit, "tail: even 60% of the bound is not broken as often as the bound may be")
    longest = mechanism.length(stream, 4, failure)
    lengths = np.sqrt((noise.reshape(stream.releases, -1, 4) ** 2).sum(-1))
    beyond = (lengths > longest[:, None]).sum(1).max()
    most = stats.binom.isf(LEVEL / stream.releases, lengths.shape[1], failure)
    require(beyond <= most, f"length: {failure:g} is allowed, and {beyond / lengths.shape[1]:.3g} are beyond")


def independent_counters(mechanism: Mechanism, stream: Stream) -> None:
    """No counter tells anything of another."""
    noise = noise_of(mechanism, stream, CELLS, 4)
    lags = (1, 2, 52, 53, 54, 512)
    limit = critical(stream.releases * len(lags))
    for row in noise:
        for lag in lags:
            require(
                _errors(row[lag:] * row[:-lag], 0.0) < limit, f"counters {lag} apart have noise in common"
            )


def own_reports(mechanism: Mechanism) -> None:
    """Noise of n users is a sum of n draws, so that each can draw by themselves."""
    stream = make_stream(np.array(TIMES))
    noise, each = noise_of(mechanism, stream, CELLS, 19), float(mechanism.std(make_stream(np.array([1])))[0])
    for users, std in zip(TIMES, mechanism.std(stream), strict=True):
        sums = math.sqrt(users) * each
        require(
            math.isclose(float(std), sums, rel_tol=1e-9),
            f"std: {users} users have {std:.3g}, and the sum of so many draws {sums:.3g}; is it fresh?",
        )
    for i, row in enumerate(np.diff(noise, axis=0)):
        off = _errors(row * noise[i], 0.0)
        require(
            off < critical(len(TIMES)), "who comes later adds noise that hangs together with that of before"
        )


def for_attackers(mechanism: Mechanism) -> None:
    """`telling` and `scattered` give streams, which attacks look at."""
    stream = make_stream(np.array(ATTACKED))
    require(isinstance(mechanism.telling(stream), Stream), "telling: it returns no Stream")
    told = mechanism.scattered(np.random.Generator(np.random.SFC64(0)), stream, 2)
    right = isinstance(told, tuple) and len(told) == 2 and isinstance(told[0], Stream)
    require(right and np.shape(told[1]) == (2,), "scattered: give a stream, and at which release each enters")


# ---- what it proves


def scale_for(mechanism: Mechanism, stream: Stream, epsilon: float = 1.0) -> float:
    """The scale of its noise for which replacing a user of one step is (epsilon, DELTA), within a part in 10^6."""

    told = mechanism.losses(CHANGE, 1.0, stream)
    right = isinstance(told, tuple) and all(isinstance(place, tuple) and place for place in told) and told
    require(
        right, "losses: give a tuple that has, for each place, a tuple of losses, such as ((Gaussian(1.0),),)"
    )

    def proved(scale: float) -> float:
        return max(accounting.epsilon_of(x, DELTA) for x in mechanism.losses(CHANGE, scale, stream))

    low, high = 1e-3, 1e6
    require(proved(high) <= epsilon, "losses: even noise of scale 10^6 proves nothing")
    while high / low > 1 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if proved(middle) <= epsilon else (middle, high)
    return high


def attacked(mechanism: Mechanism, stream: Stream, scale: float, seed: int) -> tuple[Array, Array]:
    """[CELLS] log-likelihood ratios of executions with the first user, and of others with the second, who are in other
    counters. The attacker knows everything but the noise, and which of the two there is."""
    first, second = np.repeat([1.0, 0.0], 3) / scale, np.repeat([0.0, 1.0], 3) / scale
    found = []
    for i, own in enumerate((first, second)):
        unit = noise_of(mechanism, stream, 6 * CELLS, seed + i).reshape(stream.releases, CELLS, 6)
        found.append(mechanism.log_ratio(stream, unit + own, 0, first, second))
    return found[0], found[1]


def likelihood_ratio(mechanism: Mechanism) -> None:
    """exp(log_ratio) has mean 1 where the second user is there, and exp(-log_ratio) where the first is."""
    stream = make_stream(np.array(ATTACKED))
    ratios = attacked(mechanism, stream, scale_for(mechanism, stream), 20)
    for one in (np.exp(-ratios[0]), np.exp(ratios[1])):
        require(
            _errors(one, 1.0) < critical(2),
            f"log_ratio: its exponential has mean {one.mean():.3g}, and a likelihood ratio has 1",
        )


def least_epsilon(ratios: tuple[Array, Array], threshold: float) -> float:
    """A lower bound on epsilon at DELTA, from how often the ratio is above the threshold, with Clopper-Pearson."""
    inside, outside = (int((x > threshold).sum()) for x in ratios)
    sure = 1 - LEVEL
    low = stats.binomtest(inside, ratios[0].size).proportion_ci(sure, method="exact").low
    high = stats.binomtest(outside, ratios[1].size).proportion_ci(sure, method="exact").high
    return math.log((low - DELTA) / high) if low > DELTA else 0.0


def proof(mechanism: Mechanism) -> None:
    """No event tells two users apart better than `losses` proves; with half the noise one does, so that this can
    fail."""
    stream = make_stream(np.array(ATTACKED))
    scale = scale_for(mechanism, stream)
    proved = max(accounting.epsilon_of(x, DELTA) for x in mechanism.losses(CHANGE, scale, stream))
    ratios = attacked(mechanism, stream, scale, 30)
    shown = max(least_epsilon(ratios, at) for at in (proved / 2, proved, 1.5 * proved))
    require(shown <= proved, f"losses: epsilon {proved:.3g} is proved, and an attack shows {shown:.3g}")
    told, factor = mechanism.halved(stream)
    less = attacked(mechanism, told, scale * factor, 40)
    best = max(least_epsilon(less, at) for at in (proved / 2, proved, 1.5 * proved, 2 * proved))
    require(
        best > proved, "losses: with half the noise no attack shows more than is proved; the proof is loose"
    )


def same_bits_compiled(mechanism: Mechanism, stream: Stream) -> None:
    """Compiled, the kernel has the bits that it has as plain Python."""
    ours = noise_of(mechanism, stream, 30, 5)
    theirs = noise_of(machine(mechanism), stream, 30, 5)
    require(ours.tobytes() == theirs.tobytes(), "compiled and plain Python differ")
