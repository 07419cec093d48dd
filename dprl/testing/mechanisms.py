"""Checks of a mechanism: its noise against what it says of it; what it proves is checked in `attacks.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy import stats

from dprl.kernels import compiled
from dprl.privacy.mechanisms import MECHANISMS, SIGNATURE, Mechanism, Stream, make_stream, stream_of_releases
from dprl.privacy.outside import NORMS as SCALED
from dprl.testing import attacks, seen
from dprl.testing.draws import LEVEL, critical, errors, noise_of_kernel
from dprl.testing.report import NOT_COMPILED, Report, own_key, require, run_checks, texts

T = TypeVar("T")
Check = Callable[[Mechanism], str | None]

NORMS = ("l1", "l2", "cells")
RELEASES = 63  # the last is 6 nodes of a tree, the most there are so far
# Users at each release where each has noise of their own, drawn once: sorted, from 1 to 2,000.
TIMES = np.unique(np.random.default_rng(38).integers(1, 2000, RELEASES))
CELLS = 20_000  # counters that are drawn at a time: what a check resolves is about 1%
NOT_SCALED = "its noise has no scale to be multiplied by"


def check_mechanism(
    mechanism: Mechanism, stream: Stream | None = None, *, compiles: bool = True, bound: bool = False
) -> Report:
    """Check a mechanism, registered or not, from 20,000 draws of fixed seeds.

    It is handed what its privacy model hands it: 63 releases, or, where each user draws noise (`fresh`), releases of
    up to 2,000 users at times drawn at random.

    - record: key, texts, the norm that it asks for, and functions where functions are asked.
    - holds nothing: its kernel closes over nothing, and sees no module or global that could hold something.
    - repeats: one seed has the same bits, whatever was drawn before; memory has as many rows as the kernel uses.
    - same bits compiled: compiled and as plain Python; what follows is then drawn by the compiled one.
    - spread: the standard deviation of the last release is the stated one, of no release more; the mean is 0.
    - symmetric: at each release noise is as often above a bound as below its negative.
    - tail: the bound is broken no more often than it says, and is not loose; so is that of the length of several.
    - independent counters: no counter tells anything of another.
    - own reports: where each user draws noise (`fresh`), that of n users is a sum of n draws.
    - for attackers: `telling` and `scattered` give the streams that attacks look at.
    - likelihood ratio: `log_ratio` is one, wherever a user enters: the first 63 releases, and places among 511.
    - proof: no event tells two users apart better than `losses` proves, at the place where most is revealed; with half
      the noise one does.

    Args:
        mechanism: its record.
        stream: other releases to look at noise in, from repeats to independent counters.
        compiles: False while its kernel is still plain NumPy that numba need not know.
        bound: `losses` is more than its noise reveals, as where no loss has the shape of the noise. Then a sixteenth of
            the noise is enough for an attack to show more than is proved, and the report says how much it took.

    Returns:
        The checks that were passed, and what was not checked and why.

    Raises:
        CheckFailed: by the first check that was not, in a sentence.
        ValueError: it is one whose noise depends on what it is added to.
    """
    if mechanism.answers is not None:
        raise ValueError(
            "mechanism: one that answers questions has tests of its own; give one that adds noise."
        )
    told = usual(mechanism) if stream is None else stream
    own_key(MECHANISMS, mechanism)
    checks: list[Check] = [record, holds_nothing, _named(repeats, told)]
    if compiles:
        checks.append(_named(same_bits_compiled, told))
    first = run_checks(mechanism, checks)
    checks = [_named(check, told) for check in (spread, symmetric, tail, independent_counters)]
    checks += [own_reports] if mechanism.fresh else []
    checks.append(_named(attacks.for_attackers, told))
    left: tuple[str, ...] = () if compiles else (f"same bits compiled: {NOT_COMPILED}",)
    if mechanism.norm in SCALED:
        checks += [attacks.likelihood_ratio, _named(attacks.proof, bound)]
    else:
        left += (f"likelihood ratio, proof: {NOT_SCALED}",)
    rest = run_checks(machine(mechanism) if compiles else mechanism, checks)
    return replace(rest, passed=first.passed + rest.passed, left=left)


def usual(mechanism: Mechanism) -> Stream:
    """What its privacy model hands it: users where each has noise of their own, otherwise releases."""
    return make_stream(TIMES) if mechanism.fresh else stream_of_releases(RELEASES)


def _named(check: Callable[[Mechanism, T], str | None], given: T) -> Check:
    def named(mechanism: Mechanism) -> str | None:
        return check(mechanism, given)

    named.__name__ = check.__name__
    return named


def machine(mechanism: Mechanism) -> Mechanism:
    """The same with its kernel compiled."""
    return replace(mechanism, add_noise=compiled(mechanism.add_noise, SIGNATURE))


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
    """A seed has the same bits, whatever was drawn before, and the kernel finds the memory that it asks for."""
    first = noise_of_kernel(mechanism, stream, 50, 1)
    other = noise_of_kernel(mechanism, stream, 50, 2)
    require(not np.array_equal(first, other), "two seeds gave the same noise")
    require(np.array_equal(noise_of_kernel(mechanism, stream, 50, 1), first), "one seed gave two noises")
    if mechanism.norm in SCALED:
        noise_of_kernel(mechanism, attacks.unit_stream(mechanism, attacks.LONG), 2, 1)


def spread(mechanism: Mechanism, stream: Stream) -> None:
    """The standard deviation of the last release is the stated one, of no release more; the mean is 0."""
    noise, std = noise_of_kernel(mechanism, stream, CELLS, 9), mechanism.std(stream)
    require(
        np.shape(std) == (stream.releases,), f"std: its shape is {np.shape(std)}; give {(stream.releases,)}"
    )
    limit = critical(3 * stream.releases)
    for i, (row, stated) in enumerate(zip(noise, std, strict=True)):
        alike = row.std() < 1e-9 * stated
        require(
            not alike, f"release {i} has the same noise in all counters; draw one for each, or there is none"
        )
        require(
            errors(row, 0.0) < limit,
            f"the mean noise of release {i} is {row.mean():.3g} and not 0: it drifts, or counters share draws",
        )
        more = row.std() > stated and errors(row**2, float(stated) ** 2) >= limit
        require(not more, f"std: release {i} has {row.std():.3g}, and {stated:.3g} is stated")
    last = float(noise[-1].std())
    require(
        errors(noise[-1] ** 2, float(std[-1]) ** 2) < limit,
        f"std: the last release has {last:.3g}, and {std[-1]:.3g} is stated",
    )


def symmetric(mechanism: Mechanism, stream: Stream) -> None:
    """Noise is as often above a bound as below its negative, which schedules that decide as they go rest on."""
    noise, std = noise_of_kernel(mechanism, stream, CELLS, 17), mechanism.std(stream)
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
    noise = np.abs(noise_of_kernel(mechanism, stream, draws, 13))
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
    noise = noise_of_kernel(mechanism, stream, CELLS, 4)
    lags = (1, 2, 52, 53, 54, 512)
    limit = critical(stream.releases * len(lags))
    for row in noise:
        for lag in lags:
            require(errors(row[lag:] * row[:-lag], 0.0) < limit, f"counters {lag} apart have noise in common")


def own_reports(mechanism: Mechanism) -> None:
    """Noise of n users is a sum of n draws, so that each can draw by themselves."""
    stream = make_stream(TIMES)
    noise, each = (
        noise_of_kernel(mechanism, stream, CELLS, 19),
        float(mechanism.std(make_stream(np.array([1])))[0]),
    )
    limit = critical(2 * len(TIMES))
    for users, row, std in zip(TIMES, noise, mechanism.std(stream), strict=True):
        sums = math.sqrt(users) * each
        require(
            math.isclose(float(std), sums, rel_tol=1e-9),
            f"std: {users} users have {std:.3g}, and the sum of so many draws {sums:.3g}; is it fresh?",
        )
        require(
            errors(row**2, sums**2) < limit,
            f"noise of {users} users has std {row.std():.3g}, and the sum of so many draws {sums:.3g}",
        )
    for i, row in enumerate(np.diff(noise, axis=0)):
        off = errors(row * noise[i], 0.0)
        require(off < limit, "who comes later adds noise that hangs together with that of before")


def same_bits_compiled(mechanism: Mechanism, stream: Stream) -> None:
    """Compiled, the kernel has the bits that it has as plain Python."""
    ours = noise_of_kernel(mechanism, stream, 30, 5)
    theirs = noise_of_kernel(machine(mechanism), stream, 30, 5)
    require(ours.tobytes() == theirs.tobytes(), "compiled and plain Python differ")
