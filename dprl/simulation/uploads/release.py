"""The curator of an uploaded data set: each release is drawn once, exactly, and recorded before it is shown."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice

import numpy as np

from dprl.mdp.tabular import Array
from dprl.privacy.curator import CuratorNoise
from dprl.privacy.exact import BITS, EXACT, STEPS
from dprl.simulation.uploads import kept
from dprl.statistics import DATASET, REWARDS, TRANSITIONS
from dprl.statistics.family import Query

QUERIES = {query.family: query for query in (DATASET, TRANSITIONS, REWARDS)}
AT_ONCE = 100  # numbers drawn between two looks at the clock


def noise_in_words(noise: CuratorNoise) -> str:
    """Describe the noise in the sums of the people learned from; texts are equal if and only if it is the same draw."""
    assert noise.mechanism is not None
    scales = {family: scale for family, scale in noise.scales.items() if family in QUERIES}
    return json.dumps([noise.mechanism.key, scales, BITS], sort_keys=True)


class UploadCurator:
    """A curator who holds one uploaded data set and answers queries about it.

    The answers depend on the counts only through recorded values: the noisy sums of every family that the guarantee
    covers. The same query always has the same answer, no matter who asks. Raises SpecError if the recorded releases of
    this data set are damaged.
    """

    def __init__(self, data: kept.Kept, noise: CuratorNoise, errors: Mapping[str, float]) -> None:
        self._data, self._noise, self._errors = data, noise, errors
        self._scales = {family: scale for family, scale in noise.scales.items() if family in QUERIES}
        self._which = noise_in_words(noise)
        self._noisy = kept.drawn_sums(data.name, self._which)
        self._cells = sum(QUERIES[family].sums(data.record).size for family in self._scales)
        self._drawn: list[float] = []
        self._rest = self._draws()

    @property
    def share(self) -> float:
        """Return the share of the draws that are done, 0 to 1."""
        return 1.0 if self._noisy is not None else len(self._drawn) / self._cells

    def draw(self, seconds: float) -> bool:
        """Draw for about `seconds`; return whether everything is drawn and recorded, now or earlier. Raises SpecError
        if it cannot be recorded or the data set is gone."""
        until = time.perf_counter() + seconds
        while self._noisy is None:
            self._drawn += islice(self._rest, AT_ONCE)
            if len(self._drawn) == self._cells:
                self._noisy = kept.write_down(self._data.name, self._which, self._arrays())
            elif time.perf_counter() > until:
                return False
        return True

    def _draws(self) -> Iterator[float]:
        """Yield every sum with noise added in whole steps; only the result is rounded to a float."""
        assert self._noise.mechanism is not None
        draw = EXACT[self._noise.mechanism.key].draw
        for family, scale in self._scales.items():
            steps = Fraction(scale) * STEPS
            for value in QUERIES[family].sums(self._data.record).flat:
                yield (int(value * STEPS) + draw(steps)) / STEPS

    def _arrays(self) -> dict[str, Array]:
        shapes = [QUERIES[family].sums(self._data.record).shape for family in self._scales]
        parts = np.split(np.array(self._drawn), np.cumsum([math.prod(shape) for shape in shapes])[:-1])
        return {
            name: part.reshape(shape) for name, part, shape in zip(self._scales, parts, shapes, strict=True)
        }

    def release(self, query: Query) -> Array:
        """Return the statistics as the learner sees them. Raises RuntimeError if the guarantee does not cover these
        sums, or if nothing is drawn yet."""
        known = QUERIES.get(query.family)
        if known is not query or self._noisy is None or query.family not in self._noisy:
            raise RuntimeError(f"{query.family} is not what noise was drawn for")
        noisy = np.zeros(self._data.record.shape)
        known.sums(noisy)[...] = self._noisy[query.family]
        nothing = np.zeros(known.sums(noisy).size)
        return query.answer(noisy, nothing, self._errors.get(query.family, 0.0))
