"""Binomial noise from shuffled bits (B25 Algorithm 4). Unit: one bit; the analyser subtracts the mean."""

from __future__ import annotations

import numpy as np

from dprl.kernels import kernel
from dprl.mdp.sampling import binomial
from dprl.mdp.tabular import Array
from dprl.privacy.accounting import Binomial, Losses
from dprl.privacy.errors import binomial_tail
from dprl.privacy.mechanisms.mechanism import Change, Mechanism, Stream, no_rows


@kernel
def binomial_sum(i, leaves, knobs, memory, rng, noise):  # type: ignore[no-untyped-def]
    """Batch i adds Binomial(knobs[i, 0], knobs[i, 1]) less its mean; the batches' noises add up."""
    trials, probability = int(knobs[i, 0]), knobs[i, 1]
    mean = trials * probability
    for c in range(noise.shape[0]):
        noise[c] += binomial(rng, trials, probability) - mean


def losses(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
    """A user is in one batch. The batch with the least variance and the most lopsided one are looked at."""
    if scale != 1.0 or any(size > 1 for _, size in change.moves):
        raise ValueError("bits are neither scaled nor moved by more than one")
    moved = sum(count for count, _ in change.moves)
    up = moved if change.one_way else moved // 2
    trials, probability = stream.knobs.T
    batches = {int(np.argmin(trials * probability * (1 - probability))), int(np.argmin(probability))}
    return tuple((Binomial(int(trials[b]), float(probability[b]), up, moved - up),) for b in sorted(batches))


def _std(stream: Stream) -> Array:
    trials, probability = stream.knobs.T
    return np.asarray(np.sqrt(np.cumsum(trials * probability * (1 - probability))))


BINOMIAL_SUM = Mechanism(
    key="binomial-sum",
    title="Shuffled bits",
    summary="Every user adds a few random bits to each count; the shuffler mixes all bits of a batch.",
    source="B25 Algorithm 4",
    add_noise=binomial_sum,
    rows=no_rows,
    std=_std,
    tail=lambda stream, failure: binomial_tail(stream.knobs, failure),
    losses=losses,
    calibrations=("tight", "paper"),
    needs_delta=True,
)
