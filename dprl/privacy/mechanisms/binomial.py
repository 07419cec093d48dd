"""Binomial noise from shuffled bits (B25 Algorithm 4). Unit: one bit; the analyser subtracts the mean."""

from __future__ import annotations

import numpy as np

from dprl.kernels import kernel
from dprl.mdp.sampling import binomial
from dprl.mdp.tabular import Array
from dprl.privacy.accounting import Binomial, Losses
from dprl.privacy.errors import binomial_tail
from dprl.privacy.mechanisms.mechanism import Leaves, Mechanism, Stream, no_rows
from dprl.statistics import Change


@kernel
def binomial_sum(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Batch i adds Binomial(batches[i, 0], batches[i, 1]) less its mean; the batches' noises add up in `noise`."""
    trials, probability = int(batches[i, 0]), batches[i, 1]
    mean = trials * probability
    for c in range(noise.shape[0]):
        noise[c] += binomial(rng, trials, probability) - mean


def losses(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
    """A user is in one batch, where batches[b, 2] counters go up, and as many down unless the change goes one way.

    Looked at: for each number of counters, the batch with the least variance and the most lopsided one.
    """
    if scale != 1.0 or any(size > 1 for _, size in change.moves):
        raise ValueError("bits are neither scaled nor moved by more than one")
    result = []
    for moved in np.unique(stream.batches[:, 2]):
        alike = stream.batches[stream.batches[:, 2] == moved]
        trials, probability, _ = alike.T
        for b in sorted(
            {int(np.argmin(trials * probability * (1 - probability))), int(np.argmin(probability))}
        ):
            down = 0 if change.one_way else int(moved)
            result.append((Binomial(int(trials[b]), float(probability[b]), int(moved), down),))
    return tuple(result)


def _std(stream: Stream) -> Array:
    trials, probability, _ = stream.batches.T
    variance = trials * probability * (1 - probability)
    return np.asarray(np.sqrt(variance if stream.forgotten else np.cumsum(variance)))


def _tail(stream: Stream, failure: float) -> Array:
    if not stream.forgotten:
        return binomial_tail(stream.batches[:, :2], failure)
    batches, which = np.unique(stream.batches[:, :2], axis=0, return_inverse=True)
    return np.array([binomial_tail(batch[None], failure)[0] for batch in batches])[which]


BINOMIAL_SUM = Mechanism(
    key="binomial-sum",
    title="Shuffled bits",
    summary="Every user adds a few random bits to each count; the shuffler mixes all bits of a batch.",
    source="B25 Algorithm 4",
    add_noise=binomial_sum,
    rows=no_rows,
    std=_std,
    tail=_tail,
    losses=losses,
    calibrations=("tight", "paper"),
    needs_delta=True,
)
