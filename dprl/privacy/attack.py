"""The best attack on a release: the attacker knows all other data and guesses which of two trajectories a user has.

Once the other users' data are subtracted, only the noise and one user remain. The attacker knows the mechanism and its
scale, and scores each run by its log-likelihood ratio, which is the best possible test (Neyman, Pearson). Everything
that a learner or a reader concludes is a function of the release, so it cannot reveal more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dprl.engine import compiled
from dprl.mdp.tabular import Array
from dprl.privacy.mechanisms import SIGNATURE, Mechanism, Stream
from dprl.privacy.mechanisms.mechanism import entered, first_items
from dprl.privacy.privatizers import Noise

DRAWS = 2_000_000  # numbers drawn at a time


def unit_noise(mechanism: Mechanism, stream: Stream, cells: int, rng: np.random.Generator) -> Array:
    """Draw the noise that the mechanism adds to each release at scale one, [M, cells]."""
    memory = np.zeros((mechanism.rows(stream.items, stream.releases), cells))
    if mechanism.prepare:
        mechanism.prepare(rng, stream, memory)
    add_noise, noise = compiled(mechanism.add_noise, SIGNATURE), np.zeros(cells)
    found = np.empty((stream.releases, cells))
    for i in range(stream.releases):
        add_noise(i, stream.leaves, stream.batches, memory, rng, noise)
        found[i] = noise
    return found


@dataclass(frozen=True)
class Game:
    """A game in which an attacker must tell apart two cases that differ in the data of the least protected user."""

    mechanism: Mechanism
    stream: Stream  # the releases that depend on this user
    # first, second: the user's contribution to the counters that differ between the cases [cells], in units of noise
    first: Array
    second: Array
    # the release at which each of the user's episodes enters, which the attacker knows
    at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    @property
    def draws(self) -> int:
        """Return how many random draws one round of the game needs."""
        return self.stream.releases * len(self.first)

    def play(self, rng: np.random.Generator, executions: int) -> tuple[Array, Array]:
        """Simulate `executions` runs in each case, and return the attacker's scores in both cases [executions]."""
        scores: tuple[list[Array], list[Array]] = ([], [])
        most = max(1, DRAWS // max(self.draws, 1))
        for begun in range(0, executions, most):
            now = min(most, executions - begun)
            for own, found in zip((self.first, self.second), scores, strict=True):
                found.append(self._scores(rng, now, own))
        return np.concatenate(scores[0]), np.concatenate(scores[1])

    def _scores(self, rng: np.random.Generator, executions: int, own: Array) -> Array:
        if not len(own):
            return np.zeros(executions)  # both cases are the same
        if self.mechanism.answers:
            told = [self.mechanism.answers(rng, self.stream, executions, own) for _ in self.at]
            return self.mechanism.log_ratio(
                self.stream, np.concatenate(told), self.at, self.first, self.second
            )
        noise = unit_noise(self.mechanism, self.stream, executions * len(own), rng)
        added = entered(self.stream, self.at)[:, None, None] * own
        seen = noise.reshape(-1, executions, len(own)) + added
        return self.mechanism.log_ratio(self.stream, seen, self.at, self.first, self.second)


def game(
    noise: Noise,
    first: Array,
    second: Array,
    *,
    half: bool = False,
    episodes: int = 1,
    places: np.random.Generator | None = None,
) -> Game:
    """Prepare the attack on the noise of a private run.

    first, second [cells]: the effects of each of the user's episodes in the two cases. half: whether the noise is
    halved, as the attacker knows. places: chooses where the episodes enter; by default the most revealing release.
    """
    assert noise.mechanism is not None
    moved = np.flatnonzero(first != second)
    rows = first.reshape(-1, noise.scales.size)
    scales = np.broadcast_to(noise.scales.ravel(), rows.shape).ravel()[moved]
    stream, at = noise.mechanism.telling(noise.stream), np.zeros(episodes, dtype=np.int64)
    if noise.mechanism.fresh:
        stream, at = first_items(stream, episodes), np.arange(episodes)
    elif places is not None:
        stream, at = noise.mechanism.scattered(places, noise.stream, episodes)
    if stream.questions is not None:
        stream = replace(stream, questions=stream.questions[moved])
    if half:
        stream, factor = noise.mechanism.halved(stream)
        scales = scales * factor
    return Game(noise.mechanism, stream, first[moved] / scales, second[moved] / scales, at)
