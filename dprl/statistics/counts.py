"""Counts of visits n and of transitions m, and sums of rewards r: the statistic of every tabular learner.

The array has the layout of mdp/counts.py, [H, S, A, B + 2], with B = S unless the possible next states are declared. At
each of H steps, a user is in one cell of n, one of m and one of r. E is a bound on the noise: |n^ - n|, |m^ - m| <= E/4
and |r^ - r| <= E (Qiao, Wang 2023 (online), Assumption 3.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.messages import filled, messages
from dprl.statistics.consistency import consistent, fit, unchanged
from dprl.statistics.statistic import BLANK_ONE, REPLACE_ONE, Change, PaperScale, Statistic
from dprl.words import listed

THEN, MOVED = messages("cards")["then"], messages("cards")["moved"]


@dataclass(frozen=True)
class Declared:
    """The facts about the declared transitions that determine the noise."""

    # the number of possible transitions at each step; a single number if all steps are alike
    transitions: tuple[int, ...]
    most: int  # the branching factor B, the largest number of next states of one (h, s, a)

    def total(self, H: int) -> int:
        return sum(self.transitions) if len(self.transitions) > 1 else H * self.transitions[0]


# the effect of replacing one user on a batch that releases n and m of a single layer
LAYER = Change(((4, 1.0),))


@dataclass(frozen=True)
class Counts(Statistic):
    """Visits n, transitions m and reward sums r as a statistic, with the post-processing of the noisy numbers."""

    publish: Callable[[Array, Array, Array, Array], None]  # kernel of the post-processing
    # units of release: noise is added to n * visits and r * reward, which are then divided by these units
    visits: float = 1.0
    reward: float = 1.0
    even: Counts | None = None  # the same statistic in units in which all its parts tolerate the same noise
    declared: Declared | None = None  # the possible transitions if they are declared; others have no counters
    played: bool = False  # whether a row counts only the reports of users whose policy plays it (played.py)

    parts = "n, m and r"
    counted = True
    norms = ("l1", "l2", "cells", "one-hot")
    in_papers = ("laplace-tree", "laplace", "binomial-sum")

    @property
    def formula(self) -> str:
        if self.declared:
            return "(declared transitions, n and r)"
        return "H*S*A*(S+2)"

    @property
    def then(self) -> str:
        """Explain which users' reports each row adds up, or return "" if it adds up all of them."""
        return str(THEN["played"]) if self.played else ""

    @property
    def moved(self) -> str:
        units = {"n": _per("n", self.visits), "r": _per("r", self.reward)}
        return filled(MOVED["counts"], **units)

    @property
    def evening(self) -> str:
        """Describe in words how the counts are rescaled, so that one noise scale suits all of them."""
        return filled(MOVED["units_noise" if self.evened().visits < 1 else "units"], units=self._units)

    @property
    def briefly(self) -> str:
        """Describe the rescaling in words, without its purpose."""
        return filled(MOVED["units"], units=self._units)

    @property
    def _units(self) -> str:
        even = self.evened()
        return listed(
            [_per(part, unit) for part, unit in (("n", even.visits), ("r", even.reward)) if unit < 1]
        )

    def cells(self, size: Size) -> int:
        if self.declared is None:
            return self.rows(size) * self._width(size)
        return self.declared.total(size.H) + 2 * self.rows(size)

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """Return the largest effect of one user on the counters.

        At each of H steps, replacing a user moves one unit from one counter to another in n, in m and perhaps in r, so
        the L1 norm is 2H for each of them. Blanking removes one unit from each.
        """
        moved = (2 if adjacency == REPLACE_ONE else 1) * size.H
        counts = ((2 * moved, 1.0),) if self.visits == 1 else ((moved, 1.0), (moved, self.visits))
        return Change((*counts, (moved, self.reward)), one_way=adjacency != REPLACE_ONE)

    def scales(self, size: Size, scale: float) -> Array:
        """Return the scale of the noise in each counter of one (h, s, a), [B + 2]."""
        scales = np.full(self._width(size), scale)
        scales[-2:] = scale / self.visits, scale / self.reward
        return scales

    @property
    def ellipsoid(self) -> tuple[float, float]:
        """Return tau^2 and rho^2, the squared axes of the ellipsoid that contains a row's true counts at one step.

            |m - m^|^2 + (n - n^)^2 / tau^2 + (r - r^)^2 / rho^2 <= R^2

        R bounds the length of the row's noise, and tau and rho are the scales of the noise in n and r, all in units of
        the noise in m^.
        """
        return self.visits**-2, self.reward**-2

    def counter(self, scale: float) -> float:
        return scale / self.visits

    def questions(self, size: Size) -> NDArray[np.int64]:
        """Return the index of the one-hot question about each cell: 3 h for m, 3 h + 1 for n, and 3 h + 2 for r."""
        part = np.append(np.zeros(self._width(size) - 2, dtype=np.int64), (1, 2))
        return np.asarray(3 * np.arange(size.H)[:, None] + np.tile(part, size.S * size.A)).ravel()

    def error_bound(self, scale: float, tail: Array) -> Array:
        """Return E, which bounds the noise in r; the noise in n and m is at most E/4."""
        return 4 * scale / self.visits * tail

    def paper_noise(self, model: str, size: Size, K: int, epsilon: float, delta: float) -> PaperScale:
        """Return the papers' noise, Laplace(3H/epsilon), multiplied by the number of levels for a tree over the users.
        3H is the L1 norm if a trajectory is blanked, and half the L1 norm if it is replaced."""
        L1 = self.sensitivity(size, BLANK_ONE).l1
        if model == "local":
            formula = "Laplace(3H/epsilon) on each counter of each user"
            return PaperScale(L1 / epsilon, formula, ("QW23-online section 5.2",))
        L = K.bit_length()
        formula = f"Laplace(3HL/epsilon) in each node, L = floor(log2 K) + 1 = {L}"
        return PaperScale(L1 * L / epsilon, formula, ("QW23-online section 5.1", "V20 Algorithm 2"))

    def row(self, size: Size) -> int:
        return self._width(size)

    def _width(self, size: Size) -> int:
        return (self.declared.most if self.declared else size.S) + 2

    def rows(self, size: Size) -> int:
        return size.H * size.S * size.A

    def evened(self) -> Counts:
        """Return the statistic with its parts rescaled, if possible, so that one noise scale suits all of them."""
        return replace(self.even or self, declared=self.declared, played=self.played)


def _per(part: str, unit: float) -> str:
    return part if unit == 1 else f"{part}/{1 / unit:g}"


# Post-processed to counts that real users could have. r tolerates noise of E, and n and m tolerate E/4.
CONSISTENT = Counts(publish=consistent, even=Counts(publish=consistent, reward=0.25))
# Raw counts with their noise.
NOISY = Counts(publish=unchanged, even=Counts(publish=unchanged, reward=0.25))
# Fitted to n^ and m^ by least squares. Units of one half lower the noise in values (docs/report/online.md, "If the
# possible transitions are declared").
FITTED = Counts(publish=fit, even=Counts(publish=fit, visits=0.5, reward=0.5))


ADD_SCALED = "float64(float64[:,:,:,::1], float64[::1], float64[::1], float64[:,:,:,::1])"


@kernel
def add_scaled(counts: Array, noise: Array, scales: Array, noisy: Array) -> float:
    """Add scaled noise to the counts, and return the smallest E for which this release is within its bounds.

    counts and noisy are [H, S, A, B + 2], with NaN in noisy if a counter is not released. noise [cells] is unit noise
    in the order of the counts, and scales [B + 2] are the scales within a row.
    """
    H, S, A, width = counts.shape
    worst_count = 0.0
    worst_reward = 0.0
    c = 0
    for h in range(H):
        for s in range(S):
            for a in range(A):
                for x in range(width - 1):
                    if np.isnan(noisy[h, s, a, x]):
                        continue
                    z = scales[x] * noise[c]
                    noisy[h, s, a, x] = counts[h, s, a, x] + z
                    worst_count = max(worst_count, abs(z))
                    c += 1
                z = scales[width - 1] * noise[c]
                noisy[h, s, a, width - 1] = counts[h, s, a, width - 1] + z
                worst_reward = max(worst_reward, abs(z))
                c += 1
    return max(4.0 * worst_count, worst_reward)
