"""The interface of a mechanism: the noise for the running sums of a stream, with its variance and its guarantee.

A mechanism draws *unit* noise; a privatizer multiplies it by a scale. Its kernel has the form
    add_noise(i, leaves, batches, memory, rng, noise)
and replaces `noise` [cells], the noise in the sums of release i - 1, by the noise of release i.
leaves: int64 [M + 2]; leaves[i + 1] = items of the stream summed at release i, leaves[0] = 0, and -1 after the last;
0 if it is not known yet, because the schedule decides during the run;
batches: float64 [M, 3], the bits in each release of shuffled bits, see binomial.py; not used by other mechanisms;
memory: float64 [rows, cells], the mechanism's own. Cells are independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array
from dprl.messages.brief import described
from dprl.privacy.losses import Losses
from dprl.statistics import Change

SIGNATURE = "void(int64, int64[::1], float64[:,::1], float64[:,::1], npy_rng, float64[::1])"

Leaves = NDArray[np.int64]
At = int | NDArray[np.int64]  # a release, or several


@dataclass(frozen=True)
class Stream:
    """The public facts about the releases.

    Attributes:
        leaves, batches: see above.
        of_users: whether items are users, not releases.
        forgotten: whether each batch is released separately, so that noise does not add up over batches.
        questions: the question that each cell belongs to [cells], if users answer few of them; see unary.py.
    """

    leaves: Leaves
    batches: Array
    of_users: bool = True
    forgotten: bool = False
    questions: NDArray[np.int64] | None = None

    @property
    def items(self) -> int:
        """Return the number of items in the whole stream."""
        return int(self.leaves[-2])

    @property
    def releases(self) -> int:
        """Return the number of releases M."""
        return len(self.leaves) - 2


def half_scale(stream: Stream) -> tuple[Stream, float]:
    """Return the same draws, scaled by one half."""
    return stream, 0.5


@dataclass(frozen=True)
class Mechanism:
    """A way to draw noise.

    Attributes:
        rows(items, releases): number of rows of memory; raises SpecError for too many releases.
        prepare(rng, stream, memory): fills memory before the run, if need be.
        std(stream): [M] standard deviation of one counter's unit noise at each release (for trees: of the
            worst one).
        tail(stream, failure): [M] bound x with P(|unit noise of one counter| > x) <= failure at each release.
        length(stream, cells, failure): [M] the same for the Euclidean length of the unit noise of several
            counters.
        losses(change, scale, stream): the privacy losses of a change if unit noise is multiplied by `scale`, for each
            place in the stream where they differ (one, or a few that include the worst).
        telling(stream): the stream of the releases that depend on the first item, each of which can be computed from
            the releases of the whole stream.
        log_ratio(stream, seen, at, first, second): [n] ln P[seen | first] / P[seen | second] of n executions, where
            seen: [M, n, cells] are the released sums minus all other items, in units of noise, and the item that enters
                at release `at` is `first` or `second`: [cells]. No test is better. If `at` is an array, one such item
                enters at each of its releases.
        scattered(rng, stream, count): the stream of the releases that depend on this many items at random places, and
            the release at which each enters.
        halved(stream): noise half as large, as a stream and a factor for its unit noise.
        fresh: whether every user draws noise, for their own report.
        norm: the norm of a `Change` that determines its losses: l1, l2, or cells; one-hot if users answer questions.
        needs_delta: whether it proves nothing at delta = 0.
        pure: whether it always proves (epsilon, 0), even if a delta is allowed.
        answers(rng, stream, n, own): [1, n, cells] the reports of n users who each add `own` [cells], in units; None if
            noise does not depend on the data.
    """

    key: str
    title: str
    summary: str
    source: str
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

    __repr__ = described


def make_stream(ends: NDArray[np.int64], batches: Array | None = None, forgotten: bool = False) -> Stream:
    """Return the stream of users whose release i sums the first ends[i]. ends: increasing [M]."""
    leaves = np.concatenate([[0], ends, [-1]]).astype(np.int64)
    return Stream(leaves, np.zeros((1, 3)) if batches is None else batches, forgotten=forgotten)


def open_stream(users: int, releases: int, batches: Array | None = None) -> Stream:
    """Return the stream of users whose releases, at most `releases`, are decided during the run."""
    ends = np.zeros(releases, dtype=np.int64)
    ends[-1] = users
    return make_stream(ends, batches)


def stream_of_releases(count: int) -> Stream:
    """Return the stream whose items are the releases themselves: release i sums i + 1 of them."""
    return replace(make_stream(np.arange(1, count + 1)), of_users=False)


def no_rows(items: int, releases: int) -> int:
    """Return 0, for a mechanism without memory."""
    return 0


def all_releases(stream: Stream) -> Stream:
    """Return all releases, because each of them depends on the first item."""
    return stream


def first_item(stream: Stream) -> Stream:
    """Return the first item alone, for a mechanism in which each item has noise of its own."""
    return first_items(stream, 1)


def first_items(stream: Stream, count: int) -> Stream:
    """Return the first `count` items, each with noise of its own and released separately."""
    return replace(stream, leaves=np.array([*range(count + 1), -1]))


def scattered_reports(
    rng: np.random.Generator, stream: Stream, count: int
) -> tuple[Stream, NDArray[np.int64]]:
    """Return the stream of `Mechanism.scattered` for items with noise of their own, whose places do not matter."""
    return first_items(stream, count), np.arange(count)


def scattered_releases(
    rng: np.random.Generator, stream: Stream, count: int
) -> tuple[Stream, NDArray[np.int64]]:
    """Return the stream of `Mechanism.scattered` if a release covers all earlier items; each enters at random."""
    return stream, np.sort(rng.integers(0, stream.releases, count))


def entered(stream: Stream, at: At) -> NDArray[np.int64]:
    """Return the number of items, among those that enter at these releases, in the sums of each release, [M]."""
    return np.asarray((np.arange(stream.releases)[:, None] >= np.atleast_1d(at)).sum(1))


def increments(stream: Stream, sums: Array) -> Array:
    """Return the items [M, ...] of a stream from its running sums; each release adds one item."""
    return np.diff(sums, axis=0, prepend=0.0)


def column(stream: Stream, at: At, apart: Callable[[Stream, Array], Array]) -> Array:
    """Return the weights of items of size one, entering at release `at`, in each independent draw, [M].

    apart(stream, sums): the linear map from released sums [M, n] to independent unit draws, plus data.
    """
    return apart(stream, entered(stream, at).astype(float)[:, None])[:, 0]
