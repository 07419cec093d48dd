"""How a mechanism's noise is held against what it states, more sharply than `dprl.testing` does for plug-ins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy import stats

from dprl.engine import compiled
from dprl.privacy.mechanisms import SIGNATURE, Mechanism, Stream, make_stream
from dprl.testing.mechanisms import CELLS, TIMES, noise_of
from dprl.testing.report import require
from tests.compare import LEVEL, critical, standard_errors


def machine(mechanism: Mechanism) -> Mechanism:
    """The same with its kernel compiled."""
    return replace(mechanism, add_noise=compiled(mechanism.add_noise, SIGNATURE))


def symmetric(mechanism: Mechanism, stream: Stream) -> None:
    """Noise is as often above a bound as below its negative, which schedules that decide as they go rest on."""
    noise, std = noise_of(mechanism, stream, CELLS, 17), mechanism.std(stream)
    bounds = np.array((0.25, 1.0, 2.0))
    for i, (row, size) in enumerate(zip(noise, std, strict=True)):
        above, below = ((side[:, None] > bounds * size).sum(0) for side in (row, -row))
        chance = np.minimum(2 * stats.binom.cdf(np.minimum(above, below), above + below, 0.5), 1.0)
        k = int(chance.argmin())
        require(
            chance[k] > LEVEL / (len(bounds) * stream.releases),
            f"noise of release {i} is {above[k]:,} times above {bounds[k]:g} std, and {below[k]:,} times below its "
            "negative",
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
                standard_errors(row[lag:] * row[:-lag], 0.0) < limit,
                f"counters {lag} apart have noise in common",
            )


def own_reports(mechanism: Mechanism) -> None:
    """Noise of n users is a sum of n draws, so that each can draw by themselves."""
    stream = make_stream(TIMES)
    noise, each = noise_of(mechanism, stream, CELLS, 19), float(mechanism.std(make_stream(np.array([1])))[0])
    limit = critical(2 * len(TIMES))
    for users, row, std in zip(TIMES, noise, mechanism.std(stream), strict=True):
        sums = math.sqrt(users) * each
        require(
            math.isclose(float(std), sums, rel_tol=1e-9),
            f"std: {users} users have {std:.3g}, and the sum of so many draws {sums:.3g}; is it fresh?",
        )
        require(
            standard_errors(row**2, sums**2) < limit,
            f"noise of {users} users has std {row.std():.3g}, and the sum of so many draws {sums:.3g}",
        )
    for i, row in enumerate(np.diff(noise, axis=0)):
        off = standard_errors(row * noise[i], 0.0)
        require(off < limit, "who comes later adds noise that hangs together with that of before")


def same_bits_compiled(mechanism: Mechanism, stream: Stream) -> None:
    """Compiled, the kernel has the bits that it has as plain Python."""
    ours, theirs = (noise_of(each, stream, 30, 5) for each in (mechanism, machine(mechanism)))
    require(ours.tobytes() == theirs.tobytes(), "compiled and plain Python differ")
