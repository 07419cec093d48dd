"""Laplace noise in every user's report, or in the nodes of a binary tree. Unit noise is Laplace(1), with variance 2."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dprl.engine import kernel
from dprl.mdp.tabular import Array
from dprl.privacy.errors import laplace_length, laplace_tail
from dprl.privacy.losses import Laplace, Losses
from dprl.privacy.mechanisms.mechanism import (
    At,
    Leaves,
    Mechanism,
    Stream,
    column,
    first_item,
    increments,
    no_rows,
    scattered_reports,
)
from dprl.privacy.mechanisms.tree import levels, nodes, scattered, split, stems, tree
from dprl.statistics import Change


@kernel
def add_laplace(rng: np.random.Generator, count: int, noise: Array) -> None:
    """Add the sum of `count` independent Laplace(1) draws to each cell of `noise`.

    One draw is an exponential with a random sign, and one uniform draw yields 53 signs. A sum of many draws is
    distributed as Gamma(count) - Gamma(count).
    """
    if count > 2:
        for c in range(noise.shape[0]):
            noise[c] += rng.standard_gamma(count) - rng.standard_gamma(count)
        return
    for _ in range(count):
        bits = 0
        left = 0
        for c in range(noise.shape[0]):
            if left == 0:
                bits = int(rng.random() * 9007199254740992.0)  # 2^53
                left = 53
            draw = rng.standard_exponential()
            if bits & 1:
                draw = -draw
            bits >>= 1
            left -= 1
            noise[c] += draw


@kernel
def laplace_sum(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Add one Laplace(1) draw for each new item, because the noise in a sum is the sum of the noise in its items."""
    add_laplace(rng, leaves[i + 1] - leaves[i], noise)


@kernel
def laplace_tree(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Add noise to running sums by a binary tree with Laplace(1) noise in every node (the Binary Mechanism)."""
    tree(i, leaves, memory, rng, noise, add_laplace, 1)


def _losses(touched: Callable[[Stream], int]) -> Callable[[Change, float, Stream], tuple[Losses, ...]]:
    """Return the function `losses` of a mechanism, given how many draws depend on one item of a running counter."""

    def losses(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
        seen = [(count * touched(stream), size) for count, size in change.moves]
        seen += [(count * change.times(stream.releases), size) for count, size in change.anew]
        return (tuple(Laplace(count, size / scale) for count, size in seen),)

    return losses


def laplace_ratio(
    apart: Callable[[Stream, Array], Array],
) -> Callable[[Stream, Array, At, Array, Array], Array]:
    """Return the function `log_ratio`. `apart` maps sums [M, n] to independent Laplace(1) draws plus data."""

    def log_ratio(stream: Stream, seen: Array, at: At, first: Array, second: Array) -> Array:
        weights = column(stream, at, apart)
        draws = apart(stream, seen.reshape(len(seen), -1)).reshape(seen.shape)
        touched = np.flatnonzero(np.abs(weights) > 1e-9)
        w, x = weights[touched, None, None], draws[touched]
        return np.asarray((np.abs(x - w * second) - np.abs(x - w * first)).sum((0, 2)))

    return log_ratio


LAPLACE_TREE = Mechanism(
    key="laplace-tree",
    title="Laplace tree",
    summary="Binary Mechanism: sums from a binary tree with one Laplace draw in each node.",
    source="Chan, Shi, Song 2011, Algorithm 2; QW23-online 5.1",
    add_noise=laplace_tree,
    rows=lambda items, releases: levels(items),
    std=lambda stream: np.sqrt(2.0 * nodes(stream)),
    tail=lambda stream, failure: laplace_tail(nodes(stream), failure),
    length=lambda stream, cells, failure: laplace_length(nodes(stream), cells, failure),
    losses=_losses(lambda stream: levels(stream.items)),
    telling=stems,
    log_ratio=laplace_ratio(split),
    scattered=scattered,
    norm="l1",
    needs_delta=False,
)

LAPLACE = Mechanism(
    key="laplace",
    title="Laplace",
    summary="Every user adds Laplace noise to every count before sending it.",
    source="QW23-online 5.2",
    add_noise=laplace_sum,
    rows=no_rows,
    std=lambda stream: np.sqrt(2.0 * stream.leaves[1:-1]),
    tail=lambda stream, failure: laplace_tail(stream.leaves[1:-1], failure),
    length=lambda stream, cells, failure: laplace_length(stream.leaves[1:-1], cells, failure),
    losses=_losses(lambda stream: 1),
    telling=first_item,
    log_ratio=laplace_ratio(increments),
    scattered=scattered_reports,
    fresh=True,
    norm="l1",
    needs_delta=False,
)
