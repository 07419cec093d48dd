"""A curator without noise, for learning from exactly given sums."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.statistics.family import Query


class Certain:
    """A curator without noise, who says of its errors what one with noise would."""

    def __init__(self, record: Array, errors: Mapping[str, float]) -> None:
        self._record, self._errors = record, errors

    def release(self, query: Query) -> Array:
        """What the learner sees."""
        H, S, A, _ = self._record.shape
        return query.answer(
            self._record, np.zeros(query.draws(Size(S, A, H))), self._errors.get(query.family, 0.0)
        )
