"""Your own MDP, as JSON."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np

from dprl.environments.environment import Environment, horizon
from dprl.fields import Field, SpecError
from dprl.mdp import TabularMDP
from dprl.mdp.tabular import Array

MAX_TEXT = 2_000_000  # characters
MAX_LABEL = 60
EXAMPLE: dict[str, Any] = {
    "name": "Two rooms",
    "P": [[[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [0.7, 0.3]]],
    "R": [[0.1, 0.0], [1.0, 0.2]],
    "d1": [1.0, 0.0],
    "state_labels": ["hall", "study"],
    "action_labels": ["wait", "walk"],
}
NAME = "environment_params.model"
FORM = "an object with P [S][A][S] or [H][S][A][S], R [S][A] or [H][S][A], d1 [S], and labels if you like"


@lru_cache(maxsize=8)
def parsed(model: str) -> tuple[str, Array, Array, Array, tuple[str, ...], tuple[str, ...]]:
    """name, P, R, d1 and labels of a model's JSON text. Raises SpecError: one sentence, whatever the text is."""
    if len(model) > MAX_TEXT:
        raise SpecError(NAME, f"{len(model):,} characters are too many; give at most {MAX_TEXT:,}.")
    try:
        given = json.loads(model)
    except (ValueError, RecursionError):
        raise SpecError(NAME, f"this is not JSON; give {FORM}.") from None
    if not isinstance(given, dict):
        raise SpecError(NAME, f"this is not an object; give {FORM}.")
    unknown = [key for key in given if key not in (*EXAMPLE, "H", "possible")]
    if unknown or not {"P", "R", "d1"} <= set(given):
        raise SpecError(NAME, f"keys are missing or unknown; give {FORM}.")
    P, R, d1 = (
        array_of(given[key], key, ndims) for key, ndims in (("P", (3, 4)), ("R", (2, 3)), ("d1", (1,)))
    )
    S, A = P.shape[-3], P.shape[-2]
    name = labels([given.get("name", "Custom MDP")], "name", 1)[0]
    states = labels(given.get("state_labels", [f"state {s}" for s in range(S)]), "state_labels", S)
    actions = labels(given.get("action_labels", [f"action {a}" for a in range(A)]), "action_labels", A)
    return name, P, R, d1, states, actions


def array_of(value: Any, key: str, ndims: tuple[int, ...], name: str = NAME) -> Array:
    """Nested lists of numbers as an array. Raises SpecError on `name.key` when they are ragged, too deep or not
    numbers."""
    try:
        array = np.array(value, dtype=object)
        flat = array.ravel()
        if array.ndim not in ndims or any(
            isinstance(x, bool) or not isinstance(x, int | float) for x in flat
        ):
            raise ValueError
        return array.astype(float)
    except (ValueError, TypeError, OverflowError, RecursionError):
        depth = " or ".join(map(str, ndims))
        raise SpecError(
            f"{name}.{key}", f"this is not allowed; give numbers in lists nested {depth} deep."
        ) from None


def labels(value: Any, key: str, count: int, name: str = NAME) -> tuple[str, ...]:
    """A list of short texts. Raises SpecError on `name.key`."""
    if (
        not isinstance(value, list)
        or len(value) != count
        or not all(isinstance(x, str) and 0 < len(x) <= MAX_LABEL and x.isprintable() for x in value)
    ):
        raise SpecError(
            f"{name}.{key}", f"this is not allowed; give {count} texts of 1 to {MAX_LABEL} characters."
        )
    return tuple(value)


def make(model: str = json.dumps(EXAMPLE), H: int = 10) -> TabularMDP:
    """The MDP in a JSON text (FORM), for H steps; arrays that name every step must have H of them."""
    name, P, R, d1, states, actions = parsed(model)
    for key, array, ndim in (("P", P, 4), ("R", R, 3)):
        if array.ndim == ndim and len(array) != H:
            raise SpecError(
                "environment_params.H", f"{H} is not allowed; {key} describes {len(array)} steps: give that."
            )
    S, A = P.shape[-3], P.shape[-2]
    if P.shape[-1] != S or R.shape[-2:] != (S, A) or d1.shape != (S,):
        raise SpecError(
            NAME, f"the sizes of P {P.shape}, R {R.shape} and d1 {d1.shape} disagree; give {FORM}."
        )
    try:
        return TabularMDP(
            name=name,
            P=np.broadcast_to(P, (H, S, A, S)).copy(),
            R=np.broadcast_to(R, (H, S, A)).copy(),
            d1=d1,
            state_labels=states,
            action_labels=actions,
            drawing={"kind": "graph"},
        )
    except SpecError as error:  # which says P, R or d1
        raise SpecError(f"{NAME}.{error.field}", str(error).partition(": ")[2]) from None


def possible(model: str, H: int) -> str | None:
    """The next states that the model's owner declares possible, as text; None where they do not."""
    parsed(model)
    given = json.loads(model).get("possible")
    return None if given is None else json.dumps(given)


def _size(model: str, H: int) -> tuple[int, int, int]:
    _, P, *_ = parsed(model)
    S, A = P.shape[-3], P.shape[-2]
    if (
        H * S * A * S <= 10**6
    ):  # small enough to look at whole, so that what is wrong is said before anything runs
        make(model, H)
    return S, A, H


ENVIRONMENT = Environment(
    key="custom",
    title="Your own",
    summary="An MDP of your own: transition probabilities, rewards and start distribution as JSON.",
    source="you",
    fields=(Field("model", "text", json.dumps(EXAMPLE), FORM), horizon(10)),
    make=make,
    size=_size,
    possible=possible,
)
