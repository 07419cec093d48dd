"""The best attack on a release: somebody who knows every other user and asks which of two trajectories one user had.

The others' data are subtracted, which leaves the noise and one user. The attacker knows the mechanism, scale and all,
and scores an execution by its log-likelihood ratio, than which no test is better (Neyman, Pearson). What any learner or
reader makes of a release is a function of it, so they find out no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dprl.kernels import compiled
from dprl.mdp.tabular import Array
from dprl.privacy.mechanisms import SIGNATURE, Mechanism, Stream
from dprl.privacy.mechanisms.unary import chances
from dprl.privacy.privatizers import Noise

DRAWS = 2_000_000  # numbers drawn at a time


@cache
def _kernel(add_noise: Callable[..., None]) -> Callable[..., None]:
    kernel: Callable[..., None] = compiled(add_noise, SIGNATURE)
    return kernel


def unit_noises(
    mechanism: Mechanism, stream: Stream, cells: int, rng: np.random.Generator
) -> Iterator[Array]:
    """[cells] unit noise in the sums of each of M releases, from the mechanism's kernel, in one array."""
    memory = np.zeros((mechanism.rows(stream.items, stream.releases), cells))
    if mechanism.prepare:
        mechanism.prepare(rng, stream, memory)
    add_noise, noise = _kernel(mechanism.add_noise), np.zeros(cells)
    for i in range(stream.releases):
        add_noise(i, stream.leaves, stream.batches, memory, rng, noise)
        yield noise


def unit_noise(mechanism: Mechanism, stream: Stream, cells: int, rng: np.random.Generator) -> Array:
    """[M, cells] unit noise in the sums of each release."""
    return np.array([noise.copy() for noise in unit_noises(mechanism, stream, cells, rng)])


def outcomes(noise: Noise, draws: int, rng: np.random.Generator) -> Array:
    """[draws] what noise may do to one count of visits at the last release, in visits. Batches whose ends are decided
    as a run goes are taken to be equally long; of those who answer questions all have visited.

    Raises:
        ValueError: there is no noise.
    """
    if noise.mechanism is None:
        raise ValueError("without noise a count is as it is")
    stream, counted = noise.stream, noise.statistic.counter(noise.scales.ravel()[0])
    if noise.mechanism.answers:
        return counted * estimation_errors(noise.mechanism, stream, draws, rng)
    if not stream.leaves[1]:
        ends = np.linspace(0, stream.items, stream.releases + 1).astype(np.int64)
        stream = replace(stream, leaves=np.append(ends, stream.leaves[-1]))
    last = np.zeros(draws)
    for unit in unit_noises(noise.mechanism, stream, draws, rng):
        last = unit
    return counted * last


def estimation_errors(mechanism: Mechanism, stream: Stream, draws: int, rng: np.random.Generator) -> Array:
    """[draws] the error of an estimate of n where all users of the stream are in one state, in units."""
    memory, error = np.zeros((mechanism.rows(stream.items, stream.releases), draws)), np.zeros(draws)
    memory[3], memory[4] = chances(replace(stream, questions=np.ones(draws, dtype=np.int64)))
    visits = stream.items * stream.often
    memory[0] = memory[1] = rng.binomial(visits, memory[3])
    memory[2] = visits
    _kernel(mechanism.add_noise)(0, stream.leaves, stream.batches, memory, rng, error)
    return error


@dataclass(frozen=True)
class Game:
    """Two worlds that differ in the user who comes first, whom most of the noise covers.

    Attributes:
        stream: the releases that tell something of this user.
        first, second: [cells] what the user adds to the counters in which the two differ, in units of noise.
    """

    mechanism: Mechanism
    stream: Stream
    first: Array
    second: Array

    @property
    def draws(self) -> int:
        """Numbers of one execution."""
        return self.stream.releases * len(self.first)

    def play(self, rng: np.random.Generator, executions: int) -> tuple[Array, Array]:
        """[executions] scores of releases in the first world, and of others in the second."""
        scores: tuple[list[Array], list[Array]] = ([], [])
        most = max(1, DRAWS // max(self.draws, 1))
        for begun in range(0, executions, most):
            now = min(most, executions - begun)
            for own, found in zip((self.first, self.second), scores, strict=True):
                found.append(self._scores(rng, now, own))
        return np.concatenate(scores[0]), np.concatenate(scores[1])

    def _scores(self, rng: np.random.Generator, executions: int, own: Array) -> Array:
        if not len(own):
            return np.zeros(executions)  # the two are the same
        if self.mechanism.answers:
            seen = self.mechanism.answers(rng, self.stream, executions, own)
            return self.mechanism.log_ratio(self.stream, seen, 0, self.first, self.second)
        noise = unit_noise(self.mechanism, self.stream, executions * len(own), rng)
        seen = noise.reshape(-1, executions, len(own)) + own
        return self.mechanism.log_ratio(self.stream, seen, 0, self.first, self.second)


def game(noise: Noise, first: Array, second: Array, *, half: bool = False) -> Game:
    """The attack on a privatizer's noise.

    Args:
        noise: of a run with privacy.
        first, second: [cells] what one user adds to the statistic in each world.
        half: the noise is half as large as it should be, which the attacker knows.

    Raises:
        ValueError: there is no noise.
    """
    if noise.mechanism is None:
        raise ValueError("without noise there is nothing to attack")
    moved = np.flatnonzero(first != second)
    rows = first.reshape(-1, noise.scales.size)
    scales = np.broadcast_to(noise.scales.ravel(), rows.shape).ravel()[moved]
    stream = noise.mechanism.telling(noise.stream)
    if stream.questions is not None:
        stream = replace(stream, questions=stream.questions[moved])
    if half:
        stream, factor = noise.mechanism.halved(stream)
        scales = scales * factor
    return Game(noise.mechanism, stream, first[moved] / scales, second[moved] / scales)
