"""The interface of a noise mechanism: how it draws noise for running sums, and the size and privacy of the noise.

A mechanism draws *unit* noise, which a privatizer multiplies by a scale. Its kernel
    add_noise(i, leaves, batches, memory, rng, noise)
replaces `noise` [cells], the noise in the sums of release i - 1, by the noise of release i. Its other arguments are:
leaves: int64 [M + 2]; leaves[i + 1] is the number of items summed at release i, or 0 until the schedule has decided it;
leaves[0] is 0, and the last is -1.
batches: float64 [M, 3], the random bits in each release (binomial.py), not used by other mechanisms.
memory: float64 [rows, cells], the mechanism's workspace. Cells are independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array
from dprl.plugins import Entry
from dprl.privacy.losses import Losses
from dprl.statistics import Change

SIGNATURE = "void(int64, int64[::1], float64[:,::1], float64[:,::1], npy_rng, float64[::1])"

Leaves = NDArray[np.int64]
At = int | NDArray[np.int64]  # a release, or several


@dataclass(frozen=True)
class Stream:
    """The public facts about the releases, such as the number of items (for example users) that each of them sums."""

    leaves: Leaves
    batches: Array
    of_users: bool = True  # whether items are users, not releases
    # whether batches are released separately, so that noise does not add up over them
    forgotten: bool = False
    # the question to which each cell belongs [cells], if users answer only a few questions (unary.py)
    questions: NDArray[np.int64] | None = None

    @property
    def items(self) -> int:
        """Return the number of items that the last release sums up."""
        return int(self.leaves[-2])

    @property
    def releases(self) -> int:
        """Return the number of releases M."""
        return len(self.leaves) - 2


def half_scale(stream: Stream) -> tuple[Stream, float]:
    return stream, 0.5


@dataclass(frozen=True, repr=False)
class Mechanism(Entry):
    """A way to draw noise for released sums.

    Attributes:
        rows(items, releases): returns the number of rows of memory; raises SpecError for too many releases.
        prepare(rng, stream, memory): fills memory before the run; None if this is not needed.
        std(stream): returns the standard deviation of one counter's unit noise at each release [M] (for trees, at the
            worst release).
        tail(stream, failure): returns x [M] with P(|unit noise of one counter| > x) <= failure at each release.
        length(stream, cells, failure): returns x [M] with P(|z| > x) <= failure, for the vector z of the unit noise of
            `cells` counters at each release.
        losses(change, scale, stream): returns the privacy losses of a change under noise of this scale, at one or a few
            positions in the stream that include the worst.
        telling(stream): returns the stream of the releases that depend on the first item, each of which can be computed
            from the releases of the whole stream.
        log_ratio(stream, seen, at, first, second): returns ln P[seen | first] / P[seen | second] for n runs [n], which
            gives the best test. `seen` [M, n, cells] are the released sums minus all other items, in units of noise.
            The item `first` or `second` [cells] enters at release `at`; if `at` is an array, one such item enters at
            each release.
        scattered(rng, stream, count): returns the stream of the releases that depend on `count` items at random
            positions, and the release at which each item enters.
        halved(stream): returns a stream and a factor for its unit noise, which together halve the noise.
        fresh: whether every user adds noise to a report.
        norm: the norm of a `Change` that determines its losses: l1, l2 or cells, or one-hot if users answer questions.
        needs_delta: whether there is no guarantee at delta = 0.
        pure: whether the guarantee is always (epsilon, 0), even if a delta is allowed.
        answers(rng, stream, n, own): returns the reports [1, n, cells] of n users who each add `own` [cells], in units;
            None if noise does not depend on the data.
    """

    add_noise: Callable[..., None]
    rows: Callable[[int, int], int]
    std: Callable[[Stream], Array]
    tail: Callable[[Stream, float], Array]
    length: Callable[[Stream, int, float], Array]
    losses: Callable[[Change, float, Stream], tuple[Losses, ...]]
    norm: str
    needs_delta: bool
    telling: Callable[[Stream], Stream]
    log_ratio: Callable[[Stream, Array, At, Array, Array], Array]
    scattered: Callable[[np.random.Generator, Stream, int], tuple[Stream, NDArray[np.int64]]]
    prepare: Callable[[np.random.Generator, Stream, Array], None] | None = None
    halved: Callable[[Stream], tuple[Stream, float]] = half_scale
    fresh: bool = False
    pure: bool = False
    answers: Callable[[np.random.Generator, Stream, int, Array], Array] | None = None


def make_stream(ends: NDArray[np.int64], batches: Array | None = None, forgotten: bool = False) -> Stream:
    """Return a stream of users in which release i covers the first ends[i] users. ends: increasing numbers [M]."""
    leaves = np.concatenate([[0], ends, [-1]]).astype(np.int64)
    return Stream(leaves, np.zeros((1, 3)) if batches is None else batches, forgotten=forgotten)


def open_stream(users: int, releases: int, batches: Array | None = None) -> Stream:
    """Return a stream of users whose release times are decided during the run, with at most `releases` releases."""
    ends = np.zeros(releases, dtype=np.int64)
    ends[-1] = users
    return make_stream(ends, batches)


def stream_of_releases(count: int) -> Stream:
    """Return a stream whose items are the releases themselves: release i sums items 0 to i."""
    return replace(make_stream(np.arange(1, count + 1)), of_users=False)


def no_rows(items: int, releases: int) -> int:
    """Return 0, for a mechanism that needs no memory."""
    return 0


def all_releases(stream: Stream) -> Stream:
    """Return the whole stream, because every release depends on the first item."""
    return stream


def first_item(stream: Stream) -> Stream:
    """Return a stream with only the first item, for a mechanism in which each item has its own noise."""
    return first_items(stream, 1)


def first_items(stream: Stream, count: int) -> Stream:
    """Return a stream with the first `count` items, each with its own noise and released separately."""
    return replace(stream, leaves=np.array([*range(count + 1), -1]))


def scattered_reports(
    rng: np.random.Generator, stream: Stream, count: int
) -> tuple[Stream, NDArray[np.int64]]:
    """Place `count` items at random (see `Mechanism.scattered`). Any places will do if each item has its own noise."""
    return first_items(stream, count), np.arange(count)


def scattered_releases(
    rng: np.random.Generator, stream: Stream, count: int
) -> tuple[Stream, NDArray[np.int64]]:
    """Let `count` items enter at random releases (see `Mechanism.scattered`). A release covers all earlier items."""
    return stream, np.sort(rng.integers(0, stream.releases, count))


def entered(stream: Stream, at: At) -> NDArray[np.int64]:
    """Return the number of items in each release, [M], if the items enter at the releases `at`."""
    return np.asarray((np.arange(stream.releases)[:, None] >= np.atleast_1d(at)).sum(1))


def increments(stream: Stream, sums: Array) -> Array:
    """Return the items [M, ...] as differences between running sums, if each release adds one item."""
    return np.diff(sums, axis=0, prepend=0.0)


def column(stream: Stream, at: At, apart: Callable[[Stream, Array], Array]) -> Array:
    """Return the effect of items of size one on each independent draw [M], if they enter at the releases `at`.

    apart(stream, sums): the linear map from released sums [M, n] to independent unit draws plus data.
    """
    return apart(stream, entered(stream, at).astype(float)[:, None])[:, 0]
