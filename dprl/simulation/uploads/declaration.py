"""What is declared of an uploaded data set: public, and never read off the data.

That a state stands in somebody's trajectory, how long an episode was, or how large a reward, is what privacy protects.
A list of states that was read off the file would change when one person does, by a label that nobody else has, and no
noise in the counters of the others would hide that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dprl.brief import described
from dprl.environments import ENVIRONMENTS, custom
from dprl.fields import SpecError, shown
from dprl.mdp import Size
from dprl.mdp.tabular import Array

NAME = "declared"
KEYS = {
    "states": "a list of labels, or how many (0, 1, ...)",
    "actions": "the same",
    "horizon": "steps of every episode",
    "rewards": "a number, or mean rewards in lists [S][A] or [H][S][A]; left out where they are to be learned",
    "reward_range": "[lowest, highest], by default [0, 1]",
    "start": "a label, or a probability of each state; by default all are as likely",
}
FORM = f"an object with {'; '.join(f'{key}: {what}' for key, what in KEYS.items())}"
MOST = 10_000  # labels
(_HORIZON,) = (field for field in ENVIRONMENTS["custom"].fields if field.name == "H")


@dataclass(frozen=True, eq=False)
class Declaration:
    """What everybody may know.

    Attributes:
        states, actions: labels. What is in the file and not among them counts as the last.
        size: S, A and H.
        reward_range: lowest and highest reward; those in the file are clipped to it.
        rewards: [H, S, A] mean rewards in units of the range, from 0 to 1; None where they are learned from the data.
        start: [S] probabilities of the first state.
        text: all that as canonical JSON.
    """

    states: tuple[str, ...]
    actions: tuple[str, ...]
    size: Size
    reward_range: tuple[float, float]
    rewards: Array | None
    start: Array
    text: str

    __repr__ = described

    def in_units(self, values: Array, steps: int) -> Array:
        """Values of `steps` steps with rewards from 0 to 1, as they are with rewards as declared."""
        low, high = self.reward_range
        return np.asarray(steps * low + (high - low) * values)


@lru_cache(maxsize=32)
def declaration(text: str) -> Declaration:
    """The declaration in a JSON text. Raises SpecError: one sentence that names the part, whatever the text is."""
    if len(text) > custom.MAX_TEXT:
        raise SpecError(NAME, f"{len(text):,} characters are too many; give at most {custom.MAX_TEXT:,}.")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise SpecError(NAME, f"this is not JSON; give {FORM}.") from None
    if not isinstance(given, dict):
        raise SpecError(NAME, f"this is not an object; give {FORM}.")
    unknown = [key for key in given if key not in KEYS]
    missing = [key for key in ("states", "actions", "horizon") if key not in given]
    if unknown or missing:
        wrong = f"{shown(unknown[0])} is not known" if unknown else f"{missing[0]} is missing"
        raise SpecError(NAME, f"{wrong}; give {FORM}.")
    states, actions = _labels(given["states"], "states"), _labels(given["actions"], "actions")
    try:
        H = _HORIZON.check(given["horizon"])
    except SpecError:
        raise SpecError(
            f"{NAME}.horizon", f"{shown(given['horizon'])} is not allowed; give {_HORIZON.allowed}."
        ) from None
    size = Size(len(states), len(actions), H)
    low, high = _range(given.get("reward_range", [0, 1]))
    rewards = given.get("rewards")
    scaled = None if rewards is None else (_rewards(rewards, size, low, high) - low) / (high - low)
    start = given.get("start")
    canonical = {
        "states": list(states),
        "actions": list(actions),
        "horizon": H,
        **({} if rewards is None else {"rewards": rewards}),
        "reward_range": [low, high],
        **({} if start is None else {"start": start}),
    }
    return Declaration(
        states, actions, size, (low, high), scaled, _start(start, states), json.dumps(canonical, separators=(",", ":"))
    )  # fmt: skip


def _labels(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST:
        return tuple(map(str, range(value)))
    if not isinstance(value, list) or not 1 <= len(value) <= MOST:
        raise SpecError(
            f"{NAME}.{key}", f"{shown(value)} is not allowed; give 1 to {MOST:,} labels, or how many."
        )
    labels = custom.labels(value, key, len(value), NAME)
    twice = next((label for i, label in enumerate(labels) if label in labels[:i]), None)
    if twice is not None or any(label != label.strip() for label in labels):
        wrong = f"{shown(twice)} stands twice" if twice is not None else "a label begins or ends with a space"
        raise SpecError(f"{NAME}.{key}", f"{wrong}; give labels that can be told apart.")
    return labels


def _range(value: Any) -> tuple[float, float]:
    low, high = _numbers(value, "reward_range", (1,), (2,))
    if not 0 < float(high) - float(low) < math.inf:
        raise SpecError(
            f"{NAME}.reward_range",
            f"{shown(value)} is not allowed; give two numbers, the lowest reward and the highest.",
        )
    return float(low), float(high)


def _rewards(value: Any, size: Size, low: float, high: float) -> Array:
    """[H, S, A] as declared."""
    S, A, H, _ = size
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = np.full((S, A), float(value)).tolist()
    table = _numbers(value, "rewards", (2, 3), (S, A), (H, S, A))
    if table.min() < low or table.max() > high:
        raise SpecError(
            f"{NAME}.rewards",
            f"{table.min():g} to {table.max():g} is not within reward_range, {low:g} to {high:g}; widen that.",
        )
    return np.array(np.broadcast_to(table, (H, S, A)))


def _start(value: Any, states: tuple[str, ...]) -> Array:
    if value is None:
        return np.full(len(states), 1 / len(states))
    if isinstance(value, str) and value in states:
        return np.asarray(np.eye(len(states))[states.index(value)])
    if isinstance(value, str):
        raise SpecError(f"{NAME}.start", f"{shown(value)} is not one of the states.")
    start = _numbers(value, "start", (1,), (len(states),))
    if start.min() < 0 or abs(start.sum() - 1) > 1e-9:
        raise SpecError(f"{NAME}.start", "these are no probabilities; give numbers from 0 that add up to 1.")
    return start


def _numbers(value: Any, key: str, ndims: tuple[int, ...], *shapes: tuple[int, ...]) -> Array:
    array: Array = custom.array_of(value, key, ndims, NAME)
    if array.shape not in shapes or not np.isfinite(array).all():
        sizes = " or ".join("".join(f"[{n}]" for n in shape) for shape in shapes)
        raise SpecError(f"{NAME}.{key}", f"this is not allowed; give finite numbers in lists {sizes}.")
    return array


def declaration_text(given: Mapping[str, Any]) -> str:
    """A declaration as canonical JSON. Raises SpecError."""
    try:
        return declaration(json.dumps(given)).text
    except TypeError:
        raise SpecError(NAME, f"this cannot be written as JSON; give {FORM}.") from None
