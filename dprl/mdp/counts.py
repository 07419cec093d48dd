"""The array of visit counts, the only data about users that tabular learners see.

It is a float64 array [H, S, A, S + 2]. The row of (h, s, a) contains m[h, s, a, s'] for each next state s', then n[h,
s, a] = sum of m over s', then r[h, s, a], the sum of rewards. Counts are exact up to 2^53. If the possible next states
are declared, the array is [H, S, A, B + 2] on their table (mdp/structure.py).
"""

from __future__ import annotations

import numpy as np

from dprl.mdp.tabular import Array


def empty(H: int, S: int, A: int, B: int | None = None) -> Array:
    """Return an array of zero counts, [H, S, A, S + 2], or [H, S, A, B + 2] if B is given."""
    return np.zeros((H, S, A, (S if B is None else B) + 2))


def transitions(counts: Array) -> Array:
    """Return a view of the transition counts m, [..., S] or [..., B]."""
    return counts[..., :-2]


def visits(counts: Array) -> Array:
    """Return a view of the visit counts n, [...]."""
    return counts[..., -2]


def rewards(counts: Array) -> Array:
    """Return a view of the reward sums r, [...]."""
    return counts[..., -1]
