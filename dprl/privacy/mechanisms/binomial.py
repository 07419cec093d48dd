"""Binomial noise from shuffled random bits (Bai et al. 2025, Algorithm 4), for each batch or each node of a tree.

The unit of noise is one bit, and the analyser subtracts the mean. A row of a stream's `batches` describes one batch:
the number of bits for each counter, the probability that a bit is 1, and the number of counters that one change raises.
If the size of the batch is decided during the run, the first number is a rule and the second its parameter: VARIANCE
has the variance of the bits, and AS_IN_PAPER has tau. For a tree, one row describes every node.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.mdp.sampling import binomial
from dprl.mdp.tabular import Array
from dprl.privacy.errors import binomial_tail, bits_length
from dprl.privacy.losses import Binomial, Losses
from dprl.privacy.mechanisms.mechanism import At, Leaves, Mechanism, Stream, column, no_rows
from dprl.privacy.mechanisms.tree import levels, nodes, scattered, split, stems, tree
from dprl.statistics import Change

VARIANCE, AS_IN_PAPER = 0.0, -1.0
MANY = 1e15  # users


@kernel
def bits_of(users: int, rule: float, amount: float) -> tuple[int, float]:
    """Return how many random bits a batch of `users` users adds to a counter, and the probability that a bit is 1.

    With VARIANCE, each user adds enough bits for trials >= 4 amount, and trials q (1 - q) = amount. With AS_IN_PAPER, n
    < tau users add ceil(tau / n) fair bits each, and more users one Bernoulli(tau / 2n) bit each.
    """
    if rule == AS_IN_PAPER:
        if users < amount:
            return users * int(np.ceil(amount / users)), 0.5
        return users, min(amount / (2.0 * users), 0.5)
    trials = users * int(np.ceil(4.0 * amount / users))
    share = min(amount / trials, 0.25)
    return trials, 2.0 * share / (1.0 + np.sqrt(1.0 - 4.0 * share))


@kernel
def binomial_sum(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Add centred Binomial noise for batch i to each cell of `noise`, which accumulates over the batches."""
    trials, probability = int(batches[i, 0]), batches[i, 1]
    if batches[i, 0] <= VARIANCE:
        trials, probability = bits_of(leaves[i + 1] - leaves[i], batches[i, 0], batches[i, 1])
    mean = trials * probability
    for c in range(noise.shape[0]):
        noise[c] += binomial(rng, trials, probability) - mean


@kernel
def add_bits(rng: np.random.Generator, count: int, noise: Array) -> None:
    """Add the sum of `count` fair bits, minus its mean, to each cell of `noise`."""
    for c in range(noise.shape[0]):
        noise[c] += binomial(rng, count, 0.5) - 0.5 * count


@kernel
def binomial_tree(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Add noise to running sums by a binary tree over the batches. Every node has batches[0, 0] fair bits."""
    tree(i, leaves, memory, rng, noise, add_bits, int(batches[0, 0]))


def losses(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
    """Return the privacy losses of replacing one user, for the worst batches.

    In batch b, batches[b, 2] counters rise, and in a two-way change, as many fall. For each number of counters, the
    worst batch has the smallest variance or the smallest probability of a 1.
    """
    _only_bits(change, scale)
    result = []
    batches = _of_all_sizes(stream.batches)
    for moved in np.unique(batches[:, 2]):
        alike = batches[batches[:, 2] == moved]
        trials, probability, _ = alike.T
        for b in sorted(
            {int(np.argmin(trials * probability * (1 - probability))), int(np.argmin(probability))}
        ):
            down = 0 if change.one_way else int(moved)
            result.append((Binomial(int(trials[b]), float(probability[b]), int(moved), down),))
    return tuple(result)


def _only_bits(change: Change, scale: float) -> None:
    if scale != 1.0 or any(size > 1 for _, size in change.moves):
        raise ValueError("noise of random bits needs scale 1 and counters that change by at most 1")


def _tree_losses(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
    """Return the privacy losses of replacing one user, whose batch is in one node at each level of the tree."""
    _only_bits(change, scale)
    trials, probability, raised = stream.batches[0]
    moved = int(raised) * levels(stream.items)
    return ((Binomial(int(trials), float(probability), moved, 0 if change.one_way else moved),),)


def _tree_variance(stream: Stream) -> Array:
    return np.asarray(nodes(stream) * variances(stream)[0])


def _tree_tail(stream: Stream, failure: float) -> Array:
    trials, probability, _ = stream.batches[0]
    worst = np.array([[trials * nodes(stream)[0], probability]])
    return np.full(stream.releases, binomial_tail(worst, failure)[0])


def _of_all_sizes(batches: Array) -> Array:
    """Return the batches. Two batches, with the fewest and with the most users, replace each batch of unknown size."""
    rows = []
    for trials, amount, moved in np.unique(batches, axis=0):
        sizes = (1, int(MANY)) if trials <= VARIANCE else ()
        rows += [(*bits_of(users, trials, amount), moved) for users in sizes] or [(trials, amount, moved)]
    return np.array(rows)


def variances(stream: Stream) -> Array:
    """Return the variance of each batch's noise in one counter [M], or its maximum if the batch's size is unknown."""
    trials, probability, _ = stream.batches.T
    known = trials * probability * (1 - probability)
    return np.asarray(
        np.where(trials > VARIANCE, known, np.where(trials == VARIANCE, probability, probability / 2))
    )


def _std(stream: Stream) -> Array:
    variance = variances(stream)
    return np.asarray(np.sqrt(variance if stream.forgotten else np.cumsum(variance)))


def _length(stream: Stream, cells: int, failure: float) -> Array:
    return bits_length(_std(stream) ** 2, cells, failure)


def _tail(stream: Stream, failure: float) -> Array:
    if stream.batches[0, 0] <= VARIANCE:
        return _length(stream, 1, failure)
    if not stream.forgotten:
        return binomial_tail(stream.batches[:, :2], failure)
    batches, which = np.unique(stream.batches[:, :2], axis=0, return_inverse=True)
    return np.array([binomial_tail(batch[None], failure)[0] for batch in batches])[which]


def first_batch(stream: Stream) -> Stream:
    """Reduce a stream to its first batch, because a user is in only one batch. An unknown size counts as one user."""
    return replace(
        stream,
        leaves=np.array([0, max(int(stream.leaves[1]), 1), -1]),
        batches=np.ascontiguousarray(stream.batches[:1]),
    )


def scattered_batches(
    rng: np.random.Generator, stream: Stream, count: int
) -> tuple[Stream, NDArray[np.int64]]:
    """Put `count` items into random batches (see `Mechanism.scattered`). A batch of unknown size counts as one user."""
    chosen, at = np.unique(rng.integers(0, stream.releases, count), return_inverse=True)
    sizes = np.maximum(np.diff(stream.leaves[:-1])[chosen], 1)
    leaves = np.concatenate([[0], np.cumsum(sizes), [-1]]).astype(np.int64)
    return replace(stream, leaves=leaves, batches=np.ascontiguousarray(stream.batches[chosen])), np.sort(at)


def bits_ratio(stream: Stream, seen: Array, at: At, first: Array, second: Array) -> Array:
    """Return an attacker's log-likelihood ratios [n] from the batches that contain the user."""
    batches = zip(*np.unique(at, return_counts=True), strict=True)
    return np.asarray(sum(_of_batch(stream, seen, int(b), int(n), first, second) for b, n in batches))


def _of_batch(stream: Stream, seen: Array, at: int, times: int, first: Array, second: Array) -> Array:
    """Return an attacker's log-likelihood ratios [n] for one batch that contains the user `times` times."""
    from scipy.stats import binom

    trials, probability = stream.batches[at, :2]
    if trials <= VARIANCE:
        users = int(stream.leaves[at + 1] - stream.leaves[at])
        trials, probability = bits_of(users, trials, probability)
    bits = seen[at] - (seen[at - 1] if at else 0.0) + trials * probability
    outcomes = [np.rint(bits - times * own).astype(np.int64) for own in (first, second)]
    low = int(min(o.min() for o in outcomes))
    known = binom.logpmf(np.arange(low, int(max(o.max() for o in outcomes)) + 1), trials, probability)
    return np.asarray((known[outcomes[0] - low] - known[outcomes[1] - low]).sum(1))


def tree_ratio(stream: Stream, seen: Array, at: At, first: Array, second: Array) -> Array:
    """Return an attacker's log-likelihood ratios [n] from the tree's nodes that contain the items."""
    from scipy.stats import binom

    trials, probability, _ = stream.batches[0]
    weights = column(stream, at, split)
    touched = np.flatnonzero(np.abs(weights) > 1e-9)
    bits = split(stream, seen.reshape(len(seen), -1)).reshape(seen.shape)[touched] + trials * probability
    times = np.rint(weights[touched, None, None])
    ratio = binom.logpmf(np.rint(bits - times * first), trials, probability)
    ratio -= binom.logpmf(np.rint(bits - times * second), trials, probability)
    return np.asarray(ratio.sum((0, 2)))


def fewer_bits(stream: Stream) -> tuple[Stream, float]:
    """Return a stream whose random bits have a quarter of the variance. The factor 1 leaves the noise unscaled."""
    trials, probability, moved = stream.batches.T
    ruled, fair = trials <= VARIANCE, probability == 0.5
    batches = np.column_stack(
        [
            np.where(fair & ~ruled, np.ceil(trials / 4), trials),
            np.where(fair & ~ruled, 0.5, probability / 4),
            moved,
        ]
    )
    return replace(stream, batches=batches), 1.0


BINOMIAL_SUM = Mechanism(
    key="binomial-sum",
    title="Shuffled bits",
    summary="Every user adds random bits to each count; the shuffler mixes all bits of a batch.",
    source="B25 Algorithm 4",
    add_noise=binomial_sum,
    rows=no_rows,
    std=_std,
    tail=_tail,
    length=_length,
    losses=losses,
    norm="cells",
    needs_delta=True,
    telling=first_batch,
    log_ratio=bits_ratio,
    scattered=scattered_batches,
    halved=fewer_bits,
)

BINOMIAL_TREE = Mechanism(
    key="binomial-tree",
    title="Shuffled bits, tree",
    summary="Shuffled bits in the nodes of a binary tree over the batches; the shuffler mixes all bits of a node.",
    source="Chan, Shi, Song 2011, over batches; B25 Algorithm 4",
    add_noise=binomial_tree,
    rows=lambda items, releases: levels(items),
    std=lambda stream: np.sqrt(_tree_variance(stream)),
    tail=_tree_tail,
    length=lambda stream, cells, failure: bits_length(_tree_variance(stream), cells, failure),
    losses=_tree_losses,
    norm="cells",
    needs_delta=True,
    telling=stems,
    log_ratio=tree_ratio,
    scattered=scattered,
    halved=fewer_bits,
)
