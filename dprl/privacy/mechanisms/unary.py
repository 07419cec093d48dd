"""One-hot questions (unary encoding): each bit of the answer is flipped at random (Erlingsson, Pihur, Korolova 2014).

At each step, a user is in one cell of m, one of n and (for a reward of 1) one of r: three one-hot vectors. A user
answers about the steps of one random group, and at each of them about m, n or r at random. Each bit of an answer is
flipped with probability 1 / (e^bit + 1). The released value is an unbiased estimate of the sum over *all* users, and
its error comes from flipped bits and from users who were not asked. Users round rewards at random to 0 or 1.

The unit is one user in a cell of m. The probability of a question about a part is proportional to the square of the
unit in which the part is released, so that all cells have the same error in these units.

A stream has `questions` [cells], which gives each cell's question as 3 step + part, with the parts m, n and r. The rows
of `batches` [3, 3] are: the number of groups, the bit, and the largest number of steps per user; the output of
`response` for the bit; and the probabilities of the parts.

memory [5, cells]: for the users since the last release, the number asked who are in the cell, the number asked, and the
true sum over all; then the probability of being asked about the cell, and its unit.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np

from dprl.engine import kernel
from dprl.mdp.sampling import binomial
from dprl.mdp.tabular import Array
from dprl.privacy.errors import EXACT, bounded_length
from dprl.privacy.losses import Losses, Response
from dprl.privacy.mechanisms.mechanism import At, Leaves, Mechanism, Stream, first_item, scattered_reports
from dprl.statistics import Change

PARTS = 3


def response(bit: float) -> tuple[float, float, float]:
    """Return the probabilities that a bit is kept and that it is flipped, and the variance of an answer.

    They are 1 / (1 + e^-bit), 1 / (1 + e^bit) and 1 / (4 sinh^2(bit / 2)) for the privacy loss bit > 0. Answers have
    mean 0 or 1. We use decimals, because the C library's exponentials, and draws based on them, differ between CPUs.
    """
    less = EXACT.exp(Decimal(-bit))
    whole, gap = EXACT.add(1, less), EXACT.subtract(1, less)
    exact = EXACT.divide(1, whole), EXACT.divide(less, whole), EXACT.divide(less, EXACT.multiply(gap, gap))
    kept, turned, variance = map(float, exact)
    return kept, turned, variance


def asking(H: int, shares: tuple[float, float, float], epsilon: float) -> Array:
    """Return `Stream.batches` [3, 3] for one-hot answers, with the number of groups that minimises their variance."""
    groups, _ = clearest(H, epsilon)
    steps = math.ceil(H / groups)
    bit = epsilon / (2 * steps)
    while 2 * steps * bit > epsilon:
        bit = math.nextafter(bit, 0.0)
    return np.array([[groups, bit, steps], response(bit), shares])


def clearest(H: int, epsilon: float) -> tuple[int, float]:
    """Return the number of groups that minimises the variance, and the variance per user if all answer about one part.

    A user who answers about j steps spends epsilon / j on each answer, in which two bits can differ. The variance is
    that of a count that includes all users, because a bound on the error has to cover it.
    """

    def variance(groups: int) -> float:
        j = math.ceil(H / groups)
        return (response(epsilon / (2 * j))[2] + 1) * groups

    groups = min(sorted({math.ceil(H / j) for j in range(1, H + 1)}), key=variance)  # the fewest for each j
    return groups, variance(groups)


@kernel
def turn_over(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Add to `noise` the error in the scaled answers since the last release, relative to the true sums."""
    kept, turned = batches[1, 0], batches[1, 1]
    for c in range(noise.shape[0]):
        inside, asked = memory[0, c], memory[1, c]
        ones = binomial(rng, int(inside), kept) + binomial(rng, int(asked - inside), turned)
        estimate = (ones - asked * turned) / ((kept - turned) * memory[3, c])
        noise[c] += memory[4, c] * (estimate - memory[2, c])
        memory[0, c] = 0.0
        memory[1, c] = 0.0
        memory[2, c] = 0.0


def chances(stream: Stream) -> tuple[Array, Array]:
    """Return for each cell the probability that a user is asked about it, and the cell's unit, both [cells]."""
    shares = stream.batches[-1]
    part = np.asarray(stream.questions) % PARTS
    return np.asarray(shares[part] / stream.batches[0, 0]), np.asarray(np.sqrt(shares[part] / shares[0]))


def _most(stream: Stream) -> tuple[float, float, float]:
    """Return three bounds on the error of one user's answers.

    They are the largest variance in any direction of a row, the largest effect of a bit of m, and the ratio of this
    effect for a bit of n or r to that for m. The proof is in docs/report/privacy.md.
    """
    (groups, _, _), (kept, turned, variance), shares = stream.batches
    asked = shares[0] / groups
    return ((variance + 1) / asked, kept / ((kept - turned) * asked), math.sqrt(shares[0] / shares.min()))


def _std(stream: Stream) -> Array:
    """Return the standard deviation of the noise at each release [M], for a count that includes all users."""
    most, _, more = _most(stream)
    return np.asarray(np.sqrt((most - more**-2) * stream.leaves[1:-1]))


def _tail(stream: Stream, failure: float) -> Array:
    most, counted, more = _most(stream)
    return bounded_length(stream.leaves[1:-1], most, counted * more, 1, failure)


def _length(stream: Stream, cells: int, failure: float) -> Array:
    """Bound the length of a row's error at each release, [M]. It covers all three parts, but a user answers about
    one."""
    most, counted, more = _most(stream)
    size = counted * max(math.sqrt(cells), more) + math.sqrt(3)
    return bounded_length(stream.leaves[1:-1], most, size, cells, failure)


def _losses(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
    """Return the privacy losses of replacing one user: at most two bits of each answer differ."""
    _, bit, steps = stream.batches[0]
    return ((Response(2 * int(steps), float(bit)),),)


def answers(rng: np.random.Generator, stream: Stream, executions: int, own: Array) -> Array:
    """Simulate one user's answers in many runs [1, executions, cells], with 0 for questions that were not asked."""
    (groups, _, _), (kept, turned, _), shares = stream.batches
    number = np.asarray(stream.questions)
    chance, unit = chances(stream)
    steps = 1 + int(number.max()) // PARTS
    group = rng.integers(0, int(groups), executions)
    part = rng.choice(PARTS, (executions, steps), p=shares / shares.sum())
    step = number // PARTS
    asked = (step % int(groups) == group[:, None]) & (part[:, step] == number % PARTS)
    ones = rng.random(asked.shape) < turned + (kept - turned) * own / unit
    return np.asarray(asked * unit * (ones - turned) / ((kept - turned) * chance))[None]


def answers_ratio(stream: Stream, seen: Array, at: At, first: Array, second: Array) -> Array:
    """Return an attacker's log-likelihood ratios [n] from the answered bits."""
    kept, turned, _ = stream.batches[1]
    _, unit = chances(stream)

    def log_likelihood(own: Array) -> Array:
        one = turned + (kept - turned) * own / unit
        return np.where(said > 0, np.log(one), np.where(said < 0, np.log1p(-one), 0.0))

    said = seen[np.atleast_1d(at)]
    return np.asarray((log_likelihood(first) - log_likelihood(second)).sum(2).sum(0))


def four_times_clearer(stream: Stream) -> tuple[Stream, float]:
    """Return a stream whose answered bits have a quarter of the variance. The factor 1 leaves the noise unscaled."""
    batches = stream.batches.copy()
    batches[0, 1] = 2 * math.asinh(2 * math.sinh(batches[0, 1] / 2))
    batches[1] = response(batches[0, 1])
    return replace(stream, batches=batches), 1.0


UNARY = Mechanism(
    key="unary",
    title="One-hot questions",
    summary="Every user answers questions about a few random counts, and flips each bit with some probability.",
    source="Erlingsson, Pihur, Korolova 2014; Wang, Blocki, Li, Jha 2017",
    add_noise=turn_over,
    rows=lambda items, releases: 5,
    std=_std,
    tail=_tail,
    length=_length,
    losses=_losses,
    norm="one-hot",
    needs_delta=False,
    pure=True,
    telling=first_item,
    log_ratio=answers_ratio,
    scattered=scattered_reports,
    halved=four_times_clearer,
    fresh=True,
    answers=answers,
)
