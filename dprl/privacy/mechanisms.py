"""Mechanisms: how noise is drawn for the running sums of a stream, in one place, each with its variance.

A mechanism draws *unit* noise; a privatizer multiplies it by its scale. Its kernel has the form
    add_noise(i, leaves, memory, rng, noise)
and turns `noise` [cells], the noise in the released sums at release i - 1, into that of release i.
leaves: int64 [M + 2], leaves[i + 1] = items of the stream summed at release i, leaves[0] = 0, and -1 at the end;
memory: float64 [rows, cells], the mechanism's own; cells are independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.kernels import kernel
from dprl.mdp.tabular import Array
from dprl.privacy.errors import laplace_tail

SIGNATURE = "void(int64, int64[::1], float64[:,::1], npy_rng, float64[::1])"

Leaves = NDArray[np.int64]


@dataclass(frozen=True)
class Mechanism:
    """A way to draw noise.

    rows(leaves): rows of memory the kernel needs; terms(leaves): [M], how many independent unit draws are
    summed in one counter at each release; variance: of one unit draw; tail(terms, failure): see errors.py.
    """

    key: str
    title: str
    summary: str
    source: str
    add_noise: Callable[..., None]
    rows: Callable[[Leaves], int]
    terms: Callable[[Leaves], NDArray[np.int64]]
    variance: float
    tail: Callable[[NDArray[np.int64], float], Array]


def make_leaves(times: NDArray[np.int64]) -> Leaves:
    """[M + 2] leaves from the items [M] summed at each release: 0 before them, -1 after."""
    return np.concatenate([[0], times, [-1]]).astype(np.int64)


@kernel
def add_laplace(rng, count, source, target):  # type: ignore[no-untyped-def]
    """target = source + the sum of `count` independent Laplace(1) draws in each cell.

    One draw is an exponential with a random sign, whose bits come 53 to a uniform; a sum of many is
    Gamma(count) - Gamma(count), exactly.
    """
    if count > 2:
        for c in range(source.shape[0]):
            target[c] = source[c] + (rng.standard_gamma(count) - rng.standard_gamma(count))
        return
    for repeat in range(count):
        bits = 0
        left = 0
        for c in range(source.shape[0]):
            if left == 0:
                bits = int(rng.random() * 9007199254740992.0)  # 2^53
                left = 53
            draw = rng.standard_exponential()
            if bits & 1:
                draw = -draw
            bits >>= 1
            left -= 1
            target[c] = (source[c] if repeat == 0 else target[c]) + draw


@kernel
def no_noise(i, leaves, memory, rng, noise):  # type: ignore[no-untyped-def]
    """Leave the sums as they are."""


@kernel
def laplace_sum(i, leaves, memory, rng, noise):  # type: ignore[no-untyped-def]
    """Every item carries its own Laplace(1): the noise of a sum is the sum of the noises (local privacy)."""
    add_laplace(rng, leaves[i + 1] - leaves[i], noise, noise)


@kernel
def laplace_tree(i, leaves, memory, rng, noise):  # type: ignore[no-untyped-def]
    """Binary Mechanism (Chan, Shi, Song 2011): a prefix is the sum of the nodes in its binary expansion.

    A node is an interval of items and keeps its one draw of Laplace(1) for as long as prefixes use it.
    Releases only move forward, so the nodes of a prefix form a stack: going from one prefix to a later one
    keeps the nodes above the highest bit in which they differ, and everything below is new. memory[level]
    holds the sum of the nodes at `level` and above. Nodes that the next release will not use need not be told
    apart, so they are drawn as one sum.
    """
    before, now, after = leaves[i], leaves[i + 1], leaves[i + 2]
    top = highest_bit(before ^ now)
    dying = highest_bit(now ^ after) if after > 0 else 62
    kept = now >> (top + 1)
    if kept == 0:
        for c in range(noise.shape[0]):
            noise[c] = 0.0
    else:
        level = top + 1
        while kept & 1 == 0:
            kept >>= 1
            level += 1
        for c in range(noise.shape[0]):
            noise[c] = memory[level, c]
    lumped = 0
    for level in range(top, -1, -1):
        if (now >> level) & 1 == 1:
            if level > dying:
                add_laplace(rng, 1, noise, noise)
                for c in range(noise.shape[0]):
                    memory[level, c] = noise[c]
            else:
                lumped += 1
    if lumped > 0:
        add_laplace(rng, lumped, noise, noise)


@kernel
def highest_bit(x):  # type: ignore[no-untyped-def]
    """Position of the highest set bit of x >= 1."""
    position = 0
    while x > 1:
        x >>= 1
        position += 1
    return position


def levels(items: int) -> int:
    """Levels of the tree over a stream of `items`: L = floor(log2 items) + 1."""
    return int(items).bit_length()


def _bits(leaves: Leaves) -> NDArray[np.int64]:
    return np.bitwise_count(leaves[1:-1]).astype(np.int64)


LAPLACE_TREE = Mechanism(
    key="laplace-tree",
    title="Laplace tree",
    summary="Binary Mechanism: partial sums in a binary tree, each node with one Laplace draw.",
    source="Chan, Shi, Song 2011, Algorithm 2; QW23-online 5.1",
    add_noise=laplace_tree,
    rows=lambda leaves: levels(leaves[-2]),
    terms=_bits,
    variance=2.0,
    tail=laplace_tail,
)

LAPLACE = Mechanism(
    key="laplace",
    title="Laplace",
    summary="Every user adds Laplace noise to every count before sending it.",
    source="QW23-online 5.2",
    add_noise=laplace_sum,
    rows=lambda leaves: 0,
    terms=lambda leaves: leaves[1:-1],
    variance=2.0,
    tail=laplace_tail,
)

MECHANISMS: dict[str, Mechanism] = {m.key: m for m in (LAPLACE_TREE, LAPLACE)}


def memory(mechanism: Mechanism, leaves: Leaves, cells: int) -> Array:
    """The mechanism's memory, [rows, cells], zero."""
    return np.zeros((mechanism.rows(leaves), cells))


__all__: list[Any] = ["MECHANISMS", "SIGNATURE", "Mechanism", "levels", "make_leaves", "memory"]
