"""One user's episode as a value: how it is written, and what it adds to the counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from dprl.fields import SpecError, shown
from dprl.mdp import Size
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array

ALLOWED = "steps such as 0/1/1, that is state/action/reward with reward 0 or 1, and 0/1/1*5 for five of them"
_STEP = re.compile(r"(\d{1,9})/(\d{1,9})/([01])(?:\*(\d{1,6}))?\Z")
MOST_TEXT = 4000


@dataclass(frozen=True)
class Trajectory:
    """steps: H of (state, action, reward). After the last step the user stays where that step was made."""

    steps: tuple[tuple[int, int, int], ...]

    @classmethod
    def parse(cls, name: str, text: object, size: Size) -> Trajectory:
        """The trajectory written as `state/action/reward ...`; the last step is repeated until there are H.

        Raises SpecError, naming the field `name`.
        """
        words = text.split() if isinstance(text, str) and len(text) <= MOST_TEXT else []
        steps: list[tuple[int, int, int]] = []
        for word in words:
            found = _STEP.match(word)
            if found is None:
                raise SpecError(name, f"{shown(word)} is not allowed; give {ALLOWED}.")
            s, a, reward = (int(part) for part in found.groups()[:3])
            if s >= size.S or a >= size.A:
                raise SpecError(
                    name,
                    f"{shown(word)} is not allowed; states are 0 to {size.S - 1} and actions 0 to {size.A - 1}.",
                )
            steps += [(s, a, reward)] * int(found[4] or 1)
            if len(steps) > size.H:
                raise SpecError(name, f"{len(steps)} steps are too many; an episode has {size.H}.")
        if not steps:
            raise SpecError(name, f"{shown(text)} is not allowed; give {ALLOWED}.")
        return cls((*steps, *[steps[-1]] * (size.H - len(steps))))

    @property
    def text(self) -> str:
        """As `parse` reads it, as short as it gets."""
        runs = [(step, len(list(same))) for step, same in groupby(self.steps)]
        last = len(runs) - 1
        return " ".join(
            f"{s}/{a}/{reward}" + (f"*{count}" if count > 1 and i < last else "")
            for i, ((s, a, reward), count) in enumerate(runs)
        )

    def counts(self, size: Size) -> Array:
        """[H, S, A, S + 2] what this user adds: rows as in mdp/counts.py."""
        counts = empty(size.H, size.S, size.A)
        for h, (s, a, reward) in enumerate(self.steps):
            following = self.steps[h + 1][0] if h + 1 < len(self.steps) else s
            counts[h, s, a, following] += 1
            counts[h, s, a, size.S] += 1
            counts[h, s, a, size.S + 1] += reward
        return np.asarray(counts)


def farthest(size: Size) -> tuple[str, str]:
    """Two trajectories that differ in all 6H counters in which two can: in each step's state (or action)."""
    other = f"{size.S - 1}/0/1" if size.S > 1 else f"0/{size.A - 1}/1"
    return "0/0/1", other


def nearest(size: Size) -> tuple[str, str]:
    """Two trajectories that differ in one counter: the reward of the last step."""
    return "0/0/1", "0/0/0" if size.H == 1 else f"0/0/1*{size.H - 1} 0/0/0"
