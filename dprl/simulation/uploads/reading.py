"""Count the trajectories in a file.

Rows are numbered as a spreadsheet numbers them: the heading is row 1. An error about a file is for its owner, and
outside the privacy of a release. A label that is not declared counts as the last one that is, and a reward outside its
range as the nearest end; the owner is shown how often (`Outside`), which is not private either. So any accepted file is
n trajectories over the declared sets. Replacing one trajectory, whatever is in it, moves one unit at each step from one
cell to another in each of n and m, and at most one unit of reward.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from dprl.mdp.tabular import Array
from dprl.privacy.exact import STEPS
from dprl.simulation.uploads.check import HeldOut
from dprl.simulation.uploads.declaration import Declaration
from dprl.simulation.uploads.outside import Outside
from dprl.simulation.uploads.prepare import Prepared, prepared
from dprl.simulation.uploads.table import refuse

if TYPE_CHECKING:
    import pandas as pd

ROWS = 200_000  # counted at once
MOST_EPISODES = 2**23  # for this many, sums on the grid of the noise are exact in float64


class Counted(NamedTuple):
    """The counts of a file: those of the people learned from [H, S, A, S + 2], the number of all people, the sums over
    held-out people and their number, and the number of the first step in the file, 0 or 1."""

    record: Array
    n: int
    held: HeldOut
    checked: int
    first_step: int


def counted(
    file: BinaryIO | Path | pd.DataFrame,
    declared: Declaration,
    tell: Callable[[Outside], object] | None = None,
    held_out: float = 0.0,
) -> Counted:
    """Count the trajectories in a file: rows of counts as in mdp/counts.py, and rewards in units of the declared
    range, each rounded to the grid of the noise. The sums are exact, because there are at most MOST_EPISODES.

    tell: a function called with the parts outside of the declaration, if there are any. held_out: the probability with
    which each person is held out, whatever their rows are. Raises SpecError with a sentence that names row and column.
    """
    outside = Outside(declared)
    table = prepared(file, declared, outside)
    H = declared.size.H
    episodes = len(table.s) // H
    if episodes > MOST_EPISODES:
        refuse(1, "episode", f"there are more than {MOST_EPISODES:,} episodes; give fewer.")
    n = int(table.people.max()) + 1
    out = np.random.default_rng(secrets.randbits(128)).random(n) < held_out  # a coin each; no noise
    record, held = _count(table, declared, out[table.people])
    if tell is not None and outside:
        tell(outside)
    return Counted(record, n, held, int(out.sum()), table.first_step)


def _count(table: Prepared, declared: Declaration, out: np.ndarray) -> tuple[Array, HeldOut]:
    """Return the counts of those who are learned from, and of those held out. out: [episodes]."""
    S, A, H, _ = declared.size
    low, high = declared.reward_range
    record, held = np.zeros((2, H * S * A * (S + 2)))
    returns = np.zeros(2)
    each = max(ROWS // H, 1) * H
    for first in range(0, len(table.s), each):
        s, a, x, r = (column[first : first + each] for column in (table.s, table.a, table.x, table.r))
        at = np.arange(len(s)) % H
        units = (np.clip(r, low, high) - low) / (high - low)
        rewards = np.round(units * STEPS) / STEPS  # each person's, before they are summed
        cell = ((at * S + s) * A + a) * (S + 2)
        held_out = out[first // H : (first + len(s)) // H]
        for counts, chosen in ((record, ~held_out), (held, held_out)):
            rows = np.repeat(chosen, H)
            for cells, weights in ((cell + x, None), (cell + S, None), (cell + S + 1, rewards[rows])):
                counts += np.bincount(cells[rows], weights, len(counts))
        paid = rewards if declared.rewards is None else declared.rewards[at, s, a]
        # each episode's, from 0 to 1
        own = np.round(paid.reshape(-1, H)[held_out].sum(1) / H * STEPS) / STEPS
        returns += own.sum(), (np.round(own**2 * STEPS) / STEPS).sum()
    shape = (H, S, A, S + 2)
    return record.reshape(shape), HeldOut(held.reshape(shape), int(out.sum()), returns)
