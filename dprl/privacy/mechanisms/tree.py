"""The binary tree that adds noise to running sums (Chan, Shi, Song 2011), for any distribution of the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.mdp.tabular import Array
from dprl.privacy.mechanisms.mechanism import Leaves, Stream


@kernel
def tree(
    i: int,
    leaves: Leaves,
    memory: Array,
    rng: np.random.Generator,
    noise: Array,
    add: Callable[[np.random.Generator, int, Array], None],
    each: int,
) -> None:
    """Compute the noise of release i, the sum over its prefix's nodes. add(rng, count, noise) adds `count` draws.

    A node is an interval of items, and its `each` draws stay the same for as long as prefixes use it. Prefixes only
    grow, so their nodes form a stack: a later prefix keeps the nodes above the highest bit in which the two differ, and
    all nodes below are new. memory[level] is the sum of the nodes at `level` and above. Nodes that the next release
    will not use are drawn as one sum. If the next release is not known yet, every node is kept.
    """
    before, now, after = leaves[i], leaves[i + 1], leaves[i + 2]
    top = highest_bit(before ^ now)
    dying = highest_bit(now ^ after) if after > 0 else 62 if after < 0 else -1
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
                add(rng, each, noise)
                for c in range(noise.shape[0]):
                    memory[level, c] = noise[c]
            else:
                lumped += 1
    if lumped > 0:
        add(rng, lumped * each, noise)


@kernel
def highest_bit(x: int) -> int:
    """Return the position of the highest set bit of x >= 1."""
    position = 0
    while x > 1:
        x >>= 1
        position += 1
    return position


def levels(items: int) -> int:
    """Return the number of the tree's levels, floor(log2 items) + 1. Each item is in at most one node per level."""
    return int(items).bit_length()


def nodes(stream: Stream) -> NDArray[np.int64]:
    """Return the largest number of nodes in any prefix of the stream, repeated for each release [M]."""
    return np.full(stream.releases, levels(stream.items + 1) - 1, dtype=np.int64)


def stems(stream: Stream) -> Stream:
    """Reduce the stream to the prefixes with 1, 2, 4, ... items, the only nodes that contain the first item."""
    ends = 2 ** np.arange(levels(stream.items))
    return replace(stream, leaves=np.concatenate([[0], ends, [-1]]).astype(np.int64))


def scattered(rng: np.random.Generator, stream: Stream, count: int) -> tuple[Stream, NDArray[np.int64]]:
    """Place `count` items at random, and keep only the prefixes that determine the nodes containing them.

    See `Mechanism.scattered`. Item p is in one node at each level l at which bit l of p is 0. The node is a prefix
    minus a shorter prefix.
    """
    items = rng.integers(0, stream.items, count)
    ends = {
        (p >> level << level) + (1 << level)
        for p in items.tolist()
        for level in range(levels(stream.items))
        if not p >> level & 1
    }
    whole = {end for end in ends if end <= stream.items}
    for end in tuple(whole):
        shorter = end & (end - 1)
        while shorter:
            whole.add(shorter)
            shorter &= shorter - 1
    found = np.array(sorted(whole), dtype=np.int64)
    few = replace(stream, leaves=np.concatenate([[0], found, [-1]]).astype(np.int64))
    return few, np.sort(np.searchsorted(found, items, side="right"))


def split(stream: Stream, sums: Array) -> Array:
    """Compute the tree nodes [M, n] from the sums [M, n]. Each node is a prefix minus a shorter prefix.

    The shorter length lacks the lowest bit of the longer one. Raises ValueError if it is not among the releases.
    """
    ends = stream.leaves[1:-1]
    shorter = ends - (ends & -ends)
    place = np.searchsorted(ends, shorter)
    if np.any(ends[np.minimum(place, len(ends) - 1)] != shorter, where=shorter > 0):
        raise ValueError("these releases do not determine the sums of all nodes")
    return np.asarray(sums - np.where((shorter > 0)[:, None], sums[np.minimum(place, len(ends) - 1)], 0.0))
