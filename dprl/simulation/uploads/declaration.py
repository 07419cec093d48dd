"""The declaration of an uploaded data set, which is public and never derived from the data.

Privacy must hide which states occur, how long episodes are, and how large rewards are. A list of states taken from the
file could change with one person, who alone has some label, and noise in the counters would not hide that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import numpy as np

from dprl.environments import custom
from dprl.environments.environment import horizon
from dprl.fields import Field, SpecError, check_type, not_allowed, read_json, reject, shown
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.messages import messages
from dprl.messages.brief import described
from dprl.simulation.uploads.table import COLUMNS, normal

SAID = messages("refusals")["declaration"]
NAME = "declared"
KEYS = SAID["keys"]
FORM = f"an object with {'; '.join(f'{key}: {what}' for key, what in KEYS.items())}"
MOST = 10_000  # labels
BETWEEN = " / "  # joins the labels of the columns that make up a state
PERSON = "person"  # a column that a file may have in addition to COLUMNS
ENDED = "ended"  # the name of an absorbing state that users are in only after their episode
_HORIZON = replace(horizon(1), name=f"{NAME}.horizon")
_EPISODES = Field(f"{NAME}.episodes", "int", 1, "", 1, 1000)
MOST_GROUPS = 8
MOST_FLOAT = float(np.finfo(float).max)

# the columns that make up a state, each with its labels or, for numbers, the edges of its bins
Parts = tuple[tuple[str, tuple[str, ...] | tuple[float, ...]], ...]


@dataclass(frozen=True, eq=False)
class Declaration:
    """The public facts about a data set, as its owner declares them."""

    states: tuple[str, ...]  # any other label in the file counts as the last of them
    actions: tuple[str, ...]  # likewise
    size: Size  # S, A and H
    reward_range: tuple[float, float]  # the lowest and the highest; rewards in the file are clipped to it
    rewards: Array | None  # means, in units of the range, from 0 to 1 [H, S, A]; None if they are learned
    start: Array | None  # probabilities of the first state [S]; None if they are estimated from the release
    text: str  # all of this as canonical JSON
    parts: Parts  # the columns that make up the state, in order; () if the state is one column of labels
    columns: Mapping[str, str]  # the file's column names, by dprl's names for them
    absorbing: str  # the state in which a shorter episode continues, "" for none
    episodes: int  # the most episodes of one person that count, which are the first in the file
    grouped_by: str  # the column with a person's group at the first step of the first episode, "" for none
    groups: tuple[str, ...]  # its labels

    __repr__ = described

    @property
    def of_people(self) -> bool:
        """Return whether a column identifies the person of each episode, so that a person may have several episodes."""
        return PERSON in self.columns

    def in_units(self, values: Array, steps: int) -> Array:
        """Convert values over this many steps from rewards scaled to [0, 1] to rewards in the declared range."""
        low, high = self.reward_range
        return np.asarray(steps * low + (high - low) * values)


def wrong(part: str, key: str, **given: object) -> SpecError:
    """Return the error for one part of a declaration, with the message stored under `key`."""
    return reject(f"{NAME}.{part}", SAID[key], **given)


@lru_cache(maxsize=32)
def declaration(text: str) -> Declaration:
    """Read a declaration from JSON text. Raises only SpecError, with a sentence that names the faulty part."""
    if len(text) > custom.MAX_TEXT:
        raise SpecError(NAME, f"{len(text):,} characters are too many; give at most {custom.MAX_TEXT:,}.")
    given = read_json(NAME, text, FORM)
    if not isinstance(given, dict):
        raise SpecError(NAME, f"this is not an object; give {FORM}.")
    unknown = [key for key in given if key not in KEYS]
    lacking = [key for key in ("states", "actions", "horizon") if key not in given]
    if unknown or lacking:
        key = shown(unknown[0]) if unknown else lacking[0]
        raise reject(NAME, SAID["unknown" if unknown else "missing"], key=key, form=FORM)
    parts = _parts(given["states"])
    absorbing = given.get("absorbing", "")
    check_type(f"{NAME}.absorbing", absorbing, str, "the label of a state")
    absorbing = normal(absorbing)
    named = _product(parts, absorbing) if parts else given["states"]
    states, actions = _labels(named, "states"), _labels(given["actions"], "actions")
    if absorbing and absorbing not in states:
        raise wrong("absorbing", "no_such_state", state=shown(absorbing))
    columns = _columns(given.get("columns", {}), bool(parts))
    episodes = _EPISODES.check(given.get("episodes", 1))
    if episodes > 1 and PERSON not in columns:
        raise wrong("episodes", "whose", episodes=episodes, person=PERSON)
    H = _HORIZON.check(given["horizon"])
    size = Size(len(states), len(actions), H)
    low, high = _range(given.get("reward_range", [0, 1]))
    rewards = given.get("rewards")
    scaled = None if rewards is None else (_rewards(rewards, size, low, high) - low) / (high - low)
    start = normal(given["start"]) if isinstance(given.get("start"), str) else given.get("start")
    if start is None and episodes > 1:
        raise wrong("start", "no_start")
    grouped_by, groups = _groups(given["groups"], dict(parts)) if "groups" in given else ("", ())
    canonical = {
        "states": dict(parts) or states,
        "actions": actions,
        "horizon": H,
        "rewards": rewards,
        "reward_range": [low, high],
        "start": start,
        "columns": columns or None,
        "absorbing": absorbing or None,
        "episodes": episodes if "episodes" in given else None,
        "groups": {grouped_by: groups} if groups else None,
    }
    text = json.dumps({k: v for k, v in canonical.items() if v is not None}, separators=(",", ":"))
    return Declaration(
        states, actions, size, (low, high), scaled, _start(start, states), text, parts, columns, absorbing, episodes,
        grouped_by, groups,
    )  # fmt: skip


def _labels(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST:
        return tuple(map(str, range(value)))
    if not isinstance(value, list) or not 1 <= len(value) <= MOST:
        raise not_allowed(f"{NAME}.{key}", value, f"1 to {MOST:,} labels, or their number")
    labels = tuple(map(normal, custom.labels(value, key, len(value), NAME)))
    twice = next((label for i, label in enumerate(labels) if label in labels[:i]), None)
    if twice is not None:
        raise wrong(key, "twice", label=shown(twice))
    return labels


def _parts(value: Any) -> Parts:
    """Return the columns that together make up a state, each with labels or bin edges; () if one column is enough."""
    if not isinstance(value, dict):
        return ()
    found: dict[str, tuple[str, ...] | tuple[float, ...]] = {}
    for column, values in value.items():
        key = f"states.{shown(column)}"
        column = normal(column)
        if not column or column in found:
            raise wrong("states", "heading", column=shown(column))
        numbers = isinstance(values, list) and all(
            type(each) in (int, float) and abs(each) <= MOST_FLOAT for each in values
        )
        if not numbers:
            found[column] = _labels(values, key)
        elif not values or any(b <= a for a, b in pairwise(values)):
            raise wrong(key, "edges", values=shown(values))
        else:
            found[column] = tuple(float(each) for each in values)
    if not found:
        raise wrong("states", "no_column")
    return tuple(found.items())


def _groups(value: Any, parts: Mapping[str, tuple[Any, ...]]) -> tuple[str, tuple[str, ...]]:
    """Return the column that splits users into groups, and the groups' labels."""
    columns = [normal(column) for column in value] if isinstance(value, dict) else []
    labels = next(iter(value.values())) if len(columns) == 1 and columns[0] else None
    if not isinstance(labels, list) or not 2 <= len(labels) <= MOST_GROUPS:
        raise not_allowed(f"{NAME}.groups", value, f"one column with 2 to {MOST_GROUPS} labels")
    if isinstance(parts.get(columns[0], ("",))[0], float):
        raise wrong("groups", "numbers", column=shown(columns[0]))
    return columns[0], _labels(labels, "groups")


def _bins(edges: tuple[float, ...]) -> list[str]:
    """Return a label for each bin: below the first edge, from each edge to the next, and from the last edge up."""
    between = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return [f"under {edges[0]:g}", *between, f"{edges[-1]:g} or more"]


def _product(parts: Parts, absorbing: str) -> list[str]:
    """Return labels for all combinations of column values (the last varies fastest) and for the absorbing state."""
    each = [_bins(values) if isinstance(values[0], float) else list(values) for _, values in parts]
    if math.prod(map(len, each)) > MOST:
        raise wrong("states", "combined", states=f"{math.prod(map(len, each)):,}", most=f"{MOST:,}")
    found = [BETWEEN.join(labels) for labels in product(*each)]
    return [absorbing, *found] if absorbing and absorbing not in found else found


def _columns(value: Any, parts: bool) -> dict[str, str]:
    """Return a dict from dprl's column names to the column names in the file."""
    known = [PERSON, *(name for name in COLUMNS if name != "state" or not parts)]
    named = value if isinstance(value, dict) else {"": ""}
    allowed = all(key in known and isinstance(name, str) and name.strip() for key, name in named.items())
    if not allowed or len({*map(normal, named.values())}) < len(named):
        raise wrong("columns", "not_columns", known=", ".join(known))
    return {name: normal(given) for name, given in value.items()}


def _range(value: Any) -> tuple[float, float]:
    low, high = _numbers(value, "reward_range", (1,), (2,))
    if not 0 < float(high) - float(low) < math.inf:
        raise not_allowed(f"{NAME}.reward_range", value, "two numbers, the lowest reward and the highest")
    return float(low), float(high)


def _rewards(value: Any, size: Size, low: float, high: float) -> Array:
    S, A, H, _ = size
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = [[value] * A] * S
    table = _numbers(value, "rewards", (2, 3), (S, A), (H, S, A))
    if table.min() < low or table.max() > high:
        ends = {"low": f"{low:g}", "high": f"{high:g}"}
        raise wrong("rewards", "beyond", least=f"{table.min():g}", most=f"{table.max():g}", **ends)
    return np.array(np.broadcast_to(table, (H, S, A)))


def _start(value: Any, states: tuple[str, ...]) -> Array | None:
    if value is None:
        return None
    if isinstance(value, str) and value in states:
        return np.asarray(np.eye(len(states))[states.index(value)])
    if isinstance(value, str):
        raise wrong("start", "no_state", state=shown(value))
    start = _numbers(value, "start", (1,), (len(states),))
    if start.min() < 0 or abs(start.sum() - 1) > 1e-9:
        raise wrong("start", "not_probabilities")
    return start


def _numbers(value: Any, key: str, ndims: tuple[int, ...], *shapes: tuple[int, ...]) -> Array:
    array: Array = custom.array_of(value, key, ndims, NAME)
    if array.shape not in shapes or not np.isfinite(array).all():
        sizes = " or ".join("".join(f"[{n}]" for n in shape) for shape in shapes)
        raise wrong(key, "not_numbers", sizes=sizes)
    return array


def declaration_text(given: Mapping[str, Any]) -> str:
    """Return a declaration as canonical JSON text. Raises SpecError if it cannot be written as JSON."""
    try:
        return declaration(json.dumps(given)).text
    except TypeError:
        raise SpecError(NAME, f"this cannot be written as JSON; give {FORM}.") from None
