"""One user's episode: its states, actions and rewards, their written form, and their effect on the counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from dprl.fields import SpecError, not_allowed, reject, shown
from dprl.mdp import Size
from dprl.mdp.counts import empty
from dprl.mdp.structure import Table, every_state, next_state
from dprl.mdp.tabular import Array
from dprl.simulation.base import SAID

ALLOWED = "each step as state/action/reward (0 or 1), such as 0/1/1, or 0/1/1*5 for five such steps"
_STEP = re.compile(r"(\d{1,9})/(\d{1,9})/([01])(?:\*(\d{1,6}))?\Z")
MOST_TEXT = 4000


@dataclass(frozen=True)
class Trajectory:
    """An episode of H steps (state, action, reward). After the last step, the user stays in the same state."""

    steps: tuple[tuple[int, int, int], ...]

    @classmethod
    def parse(cls, name: str, text: object, size: Size) -> Trajectory:
        """Parse steps written as state/action/reward; the last one is repeated up to step H. Raises SpecError."""
        words = text.split() if isinstance(text, str) and len(text) <= MOST_TEXT else []
        steps: list[tuple[int, int, int]] = []
        for word in words:
            found = _STEP.match(word)
            if found is None:
                raise not_allowed(name, word, ALLOWED)
            s, a, reward = (int(part) for part in found.groups()[:3])
            if s >= size.S or a >= size.A:
                raise reject(name, SAID["step"], value=shown(word), state=size.S - 1, action=size.A - 1)
            steps += [(s, a, reward)] * int(found[4] or 1)
            if len(steps) > size.H:
                raise SpecError(name, f"{len(steps)} steps are too many; an episode has {size.H}.")
        if not steps:
            raise not_allowed(name, text, ALLOWED)
        return cls((*steps, *[steps[-1]] * (size.H - len(steps))))

    @property
    def text(self) -> str:
        """Return the trajectory in the shortest form that `parse` reads."""
        runs = [(step, len(list(same))) for step, same in groupby(self.steps)]
        last = len(runs) - 1
        return " ".join(
            f"{s}/{a}/{reward}" + (f"*{count}" if count > 1 and i < last else "")
            for i, ((s, a, reward), count) in enumerate(runs)
        )

    def counts(self, size: Size, possible: Table | None = None) -> Array:
        """Return the counts of this trajectory, [H, S, A, B + 2]: rows as in mdp/counts.py.

        possible: the declared next states, by default all; a step to any other state is left out.
        """
        table = every_state(size.S) if possible is None else possible
        counts = empty(size.H, size.S, size.A, table.shape[3])
        for h, (s, a, reward) in enumerate(self.steps):
            following = self.steps[h + 1][0] if h + 1 < len(self.steps) else stays(table, h, s, a)
            where = np.flatnonzero(_row(table, h, s, a) == following)
            if where.size:
                counts[h, s, a, where[0]] += 1
                counts[h, s, a, -2:] += 1, reward
        return np.asarray(counts)


def _row(table: Table, h: int, s: int, a: int) -> Table:
    return np.array([next_state(table, h, s, a, x) for x in range(table.shape[3])])


def stays(table: Table, h: int, s: int, a: int, beside: int = -1) -> int:
    """Return s if it can follow (h, s, a), else the first state that can. Avoid the state `beside` if possible."""
    row = _row(table, h, s, a)
    known = [int(x) for x in row[row >= 0]]
    return next((x for x in (s, *known) if x in known and x != beside), known[0])


def farthest(size: Size, possible: Table | None = None) -> tuple[str, str]:
    """Return two trajectories that differ in as many counters as possible (6H unless S = A = 1). At each step, they
    differ in the state or, failing that, in the action. `possible` is as in `Trajectory.counts`."""
    table = every_state(size.S) if possible is None else possible
    first, second, s, other = [], [], 0, size.S - 1
    for h in range(size.H):
        a = size.A - 1 if s == other else 0
        first.append((s, 0, 1))
        second.append((other, a, 1))
        s = stays(table, h, s, 0)
        other = stays(table, h, other, a, beside=s)
    return Trajectory(tuple(first)).text, Trajectory(tuple(second)).text


def nearest(size: Size, possible: Table | None = None) -> tuple[str, str]:
    """Return two trajectories that differ in one counter, the last reward. `possible` is as in `farthest`."""
    table = every_state(size.S) if possible is None else possible
    steps, s = [], 0
    for h in range(size.H):
        steps.append((s, 0, 1))
        s = stays(table, h, s, 0)
    *most, (s, a, _) = steps
    return Trajectory(tuple(steps)).text, Trajectory((*most, (s, a, 0))).text
