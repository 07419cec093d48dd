"""A learned policy as a file: the action for each state and step, the evidence for it, and the privacy guarantee.

policy = dprl.Policy.load("policy.json")
policy.act("severe", step=1)  # "treat", or None if too few people were treated and somebody else must decide
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dprl.fields import SpecError, check_type, read_json, read_text, shown
from dprl.messages.brief import described
from dprl.simulation.uploads.declaration import ENDED
from dprl.simulation.uploads.table import normal
from dprl.tables import csv

FORMAT = "dprl policy 2"
NAME = "policy"
SOMEBODY = "somebody decides"  # if evidence is lacking
KEYS = ("format", "states", "actions", "first_step", "steps", "people", "enough", "about", "digest")


@dataclass(frozen=True, eq=False)
class Policy:
    """A learned policy: the action in each state at each step, with its evidence.

    Attributes:
        states, actions: the labels.
        steps: the learned actions' labels [H][S].
        people: the noisy number of episodes in which people took that action there [H][S].
        enough: whether the true number is certainly at least one; otherwise no data support the action [H][S].
        first_step: the number of the first step, 0 or 1, as in the data file.
        about: the rest of the file: the algorithm, the guarantee and its scope, held-out people, versions.
    """

    states: tuple[str, ...]
    actions: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    people: tuple[tuple[float, ...], ...]
    enough: tuple[tuple[bool, ...], ...]
    about: Mapping[str, Any]
    first_step: int = 0

    __repr__ = described

    def act(self, state: str, step: int) -> str | None:
        """Return the action in a state at a step, or None if the data support none and someone else must decide.

        Steps are numbered from `first_step`. Raises SpecError if there is no such state or step.
        """
        state = normal(state) if isinstance(state, str) else state
        if state not in self.states:
            raise SpecError("state", f"{shown(state)} is not known; give one of {', '.join(self.states)}.")
        first, last = self.first_step, self.first_step + len(self.steps) - 1
        if isinstance(step, bool) or not isinstance(step, int) or not first <= step <= last:
            raise SpecError("step", f"{shown(step)} is not allowed; give {first} to {last}.")
        h, place = step - first, self.states.index(state)
        return self.steps[h][place] if self.enough[h][place] else None

    @classmethod
    def load(cls, file: str | Path) -> Policy:
        """Read a policy from a file or its text. Raises SpecError if it is not a policy or has been changed."""
        check_type(NAME, file, str | Path, "the path of a policy.json")
        text = str(file)
        if not text.lstrip().startswith("{"):
            text = read_text(NAME, file, "the path of a policy.json")
        given = read_json(NAME, text, "a policy.json that dprl has written")
        if not isinstance(given, dict) or given.get("format") != FORMAT or set(given) != set(KEYS):
            raise SpecError(NAME, f"this is not a file of the format {FORMAT}; give a policy.json.")
        if given.pop("digest") != _digest(given):
            raise SpecError(NAME, "the file has been changed since it was written; give the original.")
        rows = ([tuple(row) for row in given[name]] for name in ("steps", "people", "enough"))
        steps, people, enough = map(tuple, rows)
        labels = tuple(given["states"]), tuple(given["actions"])
        return cls(*labels, steps, people, enough, given["about"], given["first_step"])

    @property
    def met(self) -> list[str]:
        """Return the states that users can be in during an episode: all but "ended", which pads shorter episodes."""
        left_out = ENDED if self.about["declared"].get("absorbing") == ENDED else None
        return [state for state in self.states if state != left_out] or list(self.states)

    @property
    def digest(self) -> str:
        """Return the SHA-256 digest of the policy file's content."""
        return _digest(self._parts(KEYS[:-1]))

    def to_json(self) -> str:
        """Return the content of the policy file as JSON text."""
        return json.dumps(self._parts(KEYS), indent=1, ensure_ascii=False) + "\n"

    def _parts(self, names: Iterable[str]) -> dict[str, Any]:
        return {name: FORMAT if name == "format" else getattr(self, name) for name in names}

    def csv_text(self) -> str:
        """Return the policy as CSV text. Each row has a step, a state in `met`, the action (empty if the data support
        none), the noisy number of episodes in which people took it, and who decides."""
        from pandas import DataFrame

        met = self.met
        rows = [
            (h + self.first_step, state, action if enough else "", people, NAME if enough else SOMEBODY)
            for h, row in enumerate(zip(self.steps, self.people, self.enough, strict=True))
            for state, action, people, enough in zip(self.states, *row, strict=True)
            if state in met
        ]
        return csv(DataFrame(rows, columns=["step", "state", "action", "episodes_with_noise", "decides"]))


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
