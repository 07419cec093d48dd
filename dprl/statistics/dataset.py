"""Counts of visits n and of transitions m in a data set: the statistics of offline tabular learners.

The array has the layout of mdp/counts.py, [H, S, A, S + 2]; its last column, the sums of rewards, stays 0, because
rewards are known or released separately. At each of H steps, one trajectory is in one cell of n and one of m. E is a
bound on the noise: |n' - n|, |m' - m| <= E/2 (Qiao, Wang 2023 (offline), Lemma C.2).
"""

from __future__ import annotations

import numpy as np

from dprl.engine import kernel, ready
from dprl.mdp import Size, counts
from dprl.mdp.tabular import Array
from dprl.statistics.consistency import nearest_counts
from dprl.statistics.family import Family
from dprl.statistics.statistic import BLANK_ONE, REPLACE_ONE, Change

SIGNATURE = "void(float64[:,:,:,::1], float64, float64[:,:,:,::1])"  # of `project`


@kernel
def project(noisy: Array, error: float, released: Array) -> None:
    """Compute released transitions m~ and visits n~ = sum m~ from m' = (m + noise)_+ and n' = (n + noise)_+.

    m~ >= 0 minimises max |m~ - m'| subject to |n~ - n'| <= error/2 (Qiao, Wang 2023 (offline), eq. 3-4).
    """
    H, S, A, width = noisy.shape
    X = width - 2
    for h in range(H):
        for s in range(S):
            for a in range(A):
                for x in range(X + 1):
                    noisy[h, s, a, x] = max(noisy[h, s, a, x], 0.0)
                released[h, s, a, X] = nearest_counts(noisy, h, s, a, error / 2.0, 0.0, released)
                released[h, s, a, X + 1] = 0.0


class CellsOfSteps:
    """Counts or sums, divided into `parts` parts. At each step, a trajectory adds to one cell of each part."""

    family: str
    parts = 1
    half = 0

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """Return the effect of replacing a trajectory. At each step, one unit moves to another cell in each part."""
        moved = self.parts * size.H
        return Change(
            ((2 * moved if adjacency == REPLACE_ONE else moved, 1.0),), one_way=adjacency != REPLACE_ONE
        )

    def released_once(self, size: Size, what: str, weight: float = 1.0) -> Family:
        """Return a family with only this query, released once. `what` describes the family."""
        replaced, blanked = (self.sensitivity(size, adjacency) for adjacency in (REPLACE_ONE, BLANK_ONE))
        return Family(self.family, what, replaced, blanked, weight=weight)


class Dataset(CellsOfSteps):
    """The query for the counts n and m of a data set."""

    family = "counts"
    parts = 2
    formula = "H*S*A*(S+1)"

    def draws(self, size: Size) -> int:
        return size.H * size.S * size.A * (size.S + 1)

    def sums(self, record: Array) -> Array:
        """Return a view of the sums to which noise is added, [H, S, A, S + 1]."""
        return record[..., :-1]

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        """Return the noisy visits n~ and transitions m~ after projection, without rewards, [H, S, A, S + 2]."""
        noisy = record.copy()
        sums = self.sums(noisy)
        sums += noise.reshape(sums.shape)
        released = np.empty_like(noisy)
        ready(project, SIGNATURE)(noisy, error, released)
        return released


class Transitions(CellsOfSteps):
    """The query for the transitions m alone, without projection, so that noise is independent across steps."""

    family = "transitions"

    def draws(self, size: Size) -> int:
        return size.H * size.S * size.A * size.S

    def sums(self, record: Array) -> Array:
        """Return a view of the sums to which noise is added, [H, S, A, S]."""
        return counts.transitions(record)

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        """Return noisy transitions m~ and their sums n~, possibly negative, [H, S, A, S + 2]; `error` is not used."""
        released = np.zeros_like(record)
        m = counts.transitions(released)
        m[...] = self.sums(record) + noise.reshape(m.shape)
        counts.visits(released)[...] = m.sum(-1)
        return released


class RewardSums(CellsOfSteps):
    """The query for sums of rewards in [0, 1] at each (h, s, a). Learners need it if mean rewards are unknown."""

    family = "rewards"

    def draws(self, size: Size) -> int:
        return size.H * size.S * size.A

    def sums(self, record: Array) -> Array:
        """Return a view of the sums to which noise is added, [H, S, A]."""
        return counts.rewards(record)

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        """Return the sums with noise, [H, S, A]; `error` is not used."""
        sums = self.sums(record)
        return np.asarray(sums + noise.reshape(sums.shape))


DATASET = Dataset()
TRANSITIONS = Transitions()
REWARDS = RewardSums()
