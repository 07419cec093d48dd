"""What a mechanism is: how noise is drawn for the running sums of a stream, with its variance and its guarantee.

A mechanism draws *unit* noise; a privatizer multiplies it by a scale. Its kernel has the form
    add_noise(i, leaves, knobs, memory, rng, noise)
and turns `noise` [cells], the noise in the sums released at i - 1, into that of release i.
leaves: int64 [M + 2]; leaves[i + 1] = items of the stream summed at release i, leaves[0] = 0, and -1 at the end;
knobs: float64 [.., ..], settings that differ from release to release, if the mechanism has any;
memory: float64 [rows, cells], the mechanism's own. Cells are independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array
from dprl.privacy.accounting import Losses

SIGNATURE = "void(int64, int64[::1], float64[:,::1], float64[:,::1], npy_rng, float64[::1])"

Leaves = NDArray[np.int64]


@dataclass(frozen=True)
class Stream:
    """The public facts about what is released. leaves: [M + 2], see above; knobs: see above; forgotten: each batch is
    released by itself, so that noise does not add up over them."""

    leaves: Leaves
    knobs: Array
    forgotten: bool = False

    @property
    def items(self) -> int:
        """Items in the whole stream."""
        return int(self.leaves[-2])

    @property
    def releases(self) -> int:
        """M."""
        return len(self.leaves) - 2


@dataclass(frozen=True)
class Change:
    """What one neighbouring change does to the counters at one item of the stream: `count` counters move by at most
    `size`, for each (count, size) in moves. Half of them go up and half down, or all up when `one_way`."""

    moves: tuple[tuple[int, float], ...]
    one_way: bool = False

    @property
    def l1(self) -> float:
        """L1 norm."""
        return sum(count * size for count, size in self.moves)

    @property
    def l2_squared(self) -> float:
        """Squared L2 norm."""
        return sum(count * size * size for count, size in self.moves)


@dataclass(frozen=True)
class Mechanism:
    """A way to draw noise.

    rows(items, releases): rows of memory, raises SpecError when it has no room for so many releases;
    prepare(rng, stream, memory): fills memory before the run, if need be;
    std(stream): [M] standard deviation of one counter's unit noise at each release (for trees: of the worst one);
    tail(stream, failure): [M] bound x with P(|unit noise of one counter| > x) <= failure at each release;
    losses(change, scale, stream): what a change reveals when unit noise is multiplied by `scale`, for each place
    in the stream where it reveals something else (one, or a few that include the worst);
    calibrations: `paper` if some paper prints its scale, `tight` if our accountant can solve for it;
    needs_delta: proves nothing at delta = 0.
    """

    key: str
    title: str
    summary: str
    source: str
    add_noise: Callable[..., None]
    rows: Callable[[int, int], int]
    std: Callable[[Stream], Array]
    tail: Callable[[Stream, float], Array]
    losses: Callable[[Change, float, Stream], tuple[Losses, ...]]
    calibrations: tuple[str, ...]
    needs_delta: bool
    prepare: Callable[[np.random.Generator, Stream, Array], None] | None = None


def make_stream(ends: NDArray[np.int64], knobs: Array | None = None, forgotten: bool = False) -> Stream:
    """The stream whose release i sums the first ends[i] items. ends: [M], increasing."""
    leaves = np.concatenate([[0], ends, [-1]]).astype(np.int64)
    return Stream(leaves, np.zeros((1, 3)) if knobs is None else knobs, forgotten)


def no_rows(items: int, releases: int) -> int:
    """No memory."""
    return 0
