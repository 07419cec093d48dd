"""Users' own environment models, given as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from dprl.environments.environment import Environment, horizon
from dprl.fields import Field, SpecError, not_allowed, read_json, reject, shown, similar
from dprl.mdp import TabularMDP
from dprl.mdp.structure import Table, every_state, on_table
from dprl.mdp.tabular import Array, check_unit, probabilities
from dprl.messages import messages
from dprl.names import Given

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
SAID = messages("refusals")["model"]
MOST = 10**6  # the most probabilities of a model with all next states; larger models list only possible ones


@lru_cache(maxsize=8)
def parsed(model: str) -> tuple[str, Array, Array, Array, tuple[str, ...], tuple[str, ...]]:
    """Read a model from JSON: return its name, P, R, d1, and the labels of states and actions. Raises SpecError."""
    if len(model) > MAX_TEXT:
        raise SpecError(NAME, f"{len(model):,} characters are too many; give at most {MAX_TEXT:,}.")
    given = read_json(NAME, model, FORM)
    if not isinstance(given, dict):
        raise SpecError(NAME, f"this is not an object; give {FORM}.")
    known = (*EXAMPLE, "H", "possible", "bernoulli")
    if unknown := next((key for key in given if key not in known), ""):
        raise SpecError(NAME, f"the key {shown(unknown)} is unknown{similar(unknown, known)}; give {FORM}.")
    if missing := [key for key in ("P", "R", "d1") if key not in given]:
        raise SpecError(NAME, f"{' and '.join(missing)} must be given; give {FORM}.")
    P, R, d1 = (
        array_of(given[key], key, ndims) for key, ndims in (("P", (3, 4)), ("R", (2, 3)), ("d1", (1,)))
    )
    S, A = P.shape[-3], P.shape[-2]
    if 0 < P.shape[-1] < S and P.size // P.shape[-1] * S <= MOST and "possible" in given:
        P = _with_all(P, table(given["possible"], P))
    name = labels([given.get("name", "Custom MDP")], "name", 1)[0]
    states = labels(given.get("state_labels", [f"state {s}" for s in range(S)]), "state_labels", S)
    actions = labels(given.get("action_labels", [f"action {a}" for a in range(A)]), "action_labels", A)
    return name, P, R, d1, states, actions


def table(possible: Any, P: Array) -> Table:
    """Build the table of next states for P [S, A, B] or [H, S, A, B]. Raises SpecError if the table is invalid."""
    found = _rows(possible, P, len(P) if P.ndim == 4 else 1)
    if (np.broadcast_to(found < 0, P.shape if P.ndim == 4 else (1, *P.shape)) & (P != 0)).any():
        raise SpecError(f"{NAME}.P", "a probability is beyond the last possible next state; give 0 there.")
    return found


def _rows(possible: Any, P: Array, steps: int) -> Table:
    """Convert lists of next states, [S][A][..] or one such list per step, into a table [1 or steps, S, A, B]."""
    S, A, B = P.shape[-3:]
    try:
        given = possible if isinstance(possible[0][0][0], list) else [possible]
        rows = [row for step in given for actions in step for row in actions]
        whole = all(type(x) is int and 0 <= x < S for row in rows for x in row)
        if not whole or not all(0 < len(row) <= B and row == sorted(set(row)) for row in rows):
            raise ValueError
        padded = [[[row + [-1] * (B - len(row)) for row in actions] for actions in step] for step in given]
        found: Table = np.array(padded, dtype=np.int64)
        if found.shape[1:] != (S, A, B) or len(found) not in (1, steps):
            raise ValueError
    except (ValueError, TypeError, LookupError):
        raise reject(f"{NAME}.possible", SAID["possible"], most=B) from None
    return found


def _with_all(P: Array, possible: Table) -> Array:
    """Expand P [.., S, A, B], stored on the table `possible`, to P [.., S, A, S] over all states."""
    S = P.shape[-3]
    steps, _ = on_table(P if P.ndim == 4 else P[None], possible, every_state(S))
    return steps if P.ndim == 4 else steps[0]


def array_of(value: Any, key: str, ndims: tuple[int, ...], name: str = NAME) -> Array:
    """Convert nested lists of numbers to an array whose number of dimensions is in `ndims`, or raise SpecError."""
    try:
        array = np.array(value, dtype=object)
        flat = array.ravel()
        if array.ndim not in ndims or any(
            isinstance(x, bool) or not isinstance(x, int | float) for x in flat
        ):
            raise ValueError
        return array.astype(float)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise reject(f"{name}.{key}", SAID["lists"], depth=" or ".join(map(str, ndims))) from None


def labels(value: Any, key: str, count: int, name: str = NAME) -> tuple[str, ...]:
    """Check a list of `count` short texts, and return it as a tuple. Raises SpecError if the list is invalid."""
    if (
        not isinstance(value, list)
        or len(value) != count
        or not all(isinstance(x, str) and 0 < len(x) <= MAX_LABEL and x.isprintable() for x in value)
    ):
        raise reject(f"{name}.{key}", SAID["labels"], count=count, most=MAX_LABEL)
    return tuple(value)


def make(model: str = json.dumps(EXAMPLE), H: int = 10) -> TabularMDP:
    """Build the MDP of H steps that a JSON text describes (see FORM). Arrays that vary by step have H entries."""
    name, P, R, d1, states, actions = parsed(model)
    for key, array, ndim in (("P", P, 4), ("R", R, 3)):
        if array.ndim == ndim and len(array) != H:
            raise reject("environment_params.H", SAID["steps"], H=H, key=key, steps=len(array))
    S, A, B = P.shape[-3:]
    P, d1 = probabilities(f"{NAME}.P", P), probabilities(f"{NAME}.d1", d1)
    check_unit(f"{NAME}.R", R)
    given = read_json(NAME, model)
    on = table(given["possible"], P) if 0 < B < S and "possible" in given else None
    if (B != S and on is None) or R.shape[-2:] != (S, A) or d1.shape != (S,):
        raise reject(NAME, SAID["sizes"], P=P.shape, R=R.shape, d1=d1.shape, form=FORM)
    bernoulli = given.get("bernoulli", True)
    if not isinstance(bernoulli, bool):
        raise not_allowed(f"{NAME}.bernoulli", bernoulli, "true if rewards are drawn at random, else false")
    return TabularMDP(
        name=name,
        P=np.broadcast_to(P, (H, S, A, B)).copy(),
        R=np.broadcast_to(R, (H, S, A)).copy(),
        d1=d1.copy(),
        state_labels=states,
        action_labels=actions,
        bernoulli=bernoulli,
        drawing={"kind": "graph"},
        possible=on,  # type: ignore[arg-type]  # None: every state
    )


def possible(model: str, H: int) -> Table | None:
    """Return the table of next states that a model declares possible, or None if it declares none."""
    P, given = parsed(model)[1], read_json(NAME, model).get("possible")
    if given is None:
        return None
    found = _rows(given, P, H)
    return np.ascontiguousarray(found[..., : (found >= 0).sum(-1).max()])


def written(mdp: TabularMDP) -> str:
    """Return JSON text from which `make` rebuilds the model bit for bit, except for its drawing."""

    def steps(array: Any) -> Any:
        return array[0] if (array == array[0]).all() else array

    P, sparse = mdp.P, not mdp.dense
    if sparse and (mdp.H * mdp.S * mdp.A * mdp.S <= MOST or mdp.P.shape[3] >= mdp.S):
        P, sparse = _with_all(mdp.P, mdp.possible), False
    given: dict[str, Any] = {
        "name": mdp.name,
        "P": steps(P).tolist(),
        "R": steps(mdp.R).tolist(),
        "d1": mdp.d1.tolist(),
        "state_labels": list(mdp.state_labels),
        "action_labels": list(mdp.action_labels),
    }
    if sparse:
        whole = np.broadcast_to(mdp.possible, (len(mdp.possible), *P.shape[1:])).tolist()
        rows = [[[[x for x in row if x >= 0] for row in actions] for actions in step] for step in whole]
        given["possible"] = rows[0] if len(rows) == 1 else rows
    if not mdp.bernoulli:
        given["bernoulli"] = False
    return json.dumps(given, separators=(",", ":"))


def named(environment: Any, params: Any) -> tuple[Any, Any]:
    """Return an environment's name and parameters, given its name or a model.

    A model is a TabularMDP, a dict in FORM or JSON text. It becomes the parameter `model` of `custom`, next to `H`,
    which may be omitted if the model defines it. Raises SpecError for a model that is not JSON.
    """
    if isinstance(environment, str):
        if not environment.lstrip("\ufeff \t\r\n").startswith("{"):
            return environment, params
        text, H = environment, None
    elif isinstance(environment, TabularMDP):
        text, H = written(environment), environment.H
    elif isinstance(environment, Mapping):
        try:
            text, H = json.dumps(environment, default=_plain), None
        except (TypeError, ValueError, RecursionError):
            raise SpecError("environment", f"this cannot be written as JSON; give {FORM}.") from None
    elif hasattr(environment, "unwrapped"):
        raise SpecError("environment", SAID["no_horizon"])
    else:
        return environment, params
    if not isinstance(params, Mapping):
        return ENVIRONMENT.key, params  # whose check reports the allowed values
    told = dict(params)
    if "model" in told:
        raise SpecError("environment_params.model", "the environment is already a model; leave this out.")
    with suppress(SpecError):  # its faults are reported when it is checked
        text = json.dumps(read_json(NAME, text), separators=(",", ":"))
    if "H" not in told:
        told["H"] = H or _steps(text)
    elif (stated := H or _steps(text)) not in (None, told["H"]):
        raise reject("environment_params.H", SAID["horizons"], H=told["H"], own=stated)
    return ENVIRONMENT.key, {"model": text, **told}


class OwnModel(str):
    """The JSON text of a user's own model. When printed, it shows only the model's name."""

    def __str__(self) -> str:
        return parsed(self)[0]

    def __repr__(self) -> str:
        return repr(str(self))


def own_model(value: Any) -> OwnModel | None:
    """Return a user's own model as JSON with its horizon, or None for any other value. Raises SpecError if invalid."""
    key, params = named(value, {})
    if key != ENVIRONMENT.key or "model" not in params:
        return None
    text = params["model"]
    _size(text, params["H"] or 1)  # raises SpecError for a faulty model
    if params["H"] is None:
        raise SpecError(NAME, f'{parsed(text)[0]} has no horizon; add the key "H", such as "H": 10.')
    if params["H"] != _steps(text):
        text = json.dumps({**json.loads(text), "H": params["H"]}, separators=(",", ":"))
    return OwnModel(text)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # an array or one of its numbers
        return value.tolist()
    raise TypeError


def _steps(text: str) -> int | None:
    """Return the horizon that a model defines, by the key "H" or by describing every step; None if it defines none."""
    _, P, R, *_ = parsed(text)
    said = [len(array) for array, ndim in ((P, 4), (R, 3)) if array.ndim == ndim]
    given = read_json(NAME, text).get("H")
    return said[0] if said else given


def _size(model: str, H: int) -> tuple[int, int, int]:
    _, P, *_ = parsed(model)
    S, A = P.shape[-3], P.shape[-2]
    if H * P.size // (len(P) if P.ndim == 4 else 1) <= MOST:  # small enough to be checked at once
        make(model, H)
    return S, A, H


def _name(model: str, **_: object) -> str:
    return parsed(model)[0]


def _branching(model: str, H: int) -> int:
    return int(parsed(model)[1].shape[-1])


# the type of a spec's field `environment`, which accepts a name or a model and reads as a name
Named = Given[str, str | TabularMDP | Mapping[str, Any]]


ENVIRONMENT = Environment(
    key="custom",
    title="Your own",
    summary="Your own MDP: transition probabilities, rewards and start distribution as JSON.",
    source="you",
    fields=(Field("model", "text", json.dumps(EXAMPLE), FORM), horizon(10)),
    make=make,
    size=_size,
    smaller="if few next states are possible, declare them (structure=environment); otherwise give fewer states",
    branching=_branching,
    possible=possible,
    name=_name,
)
