"""Checks of an environment: that it is the model that its record says, each time it is made."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS, Environment
from dprl.fields import check_params
from dprl.mdp import TabularMDP, planning
from dprl.simulation import FIELDS, SeedRun
from dprl.simulation.kinds import spec_from_json
from dprl.simulation.spec import RunSpec
from dprl.testing.report import Report, checked, offered, require, texts

KINDS = ("chain", "grid", "graph")
MOST = 10**6  # probabilities of a model that extreme parameters make


def check_environment(environment: Environment) -> Report:
    """Check an environment, registered or not.

    - record: key and texts, a field H, and `make` and `size` take what fields have.
    - model: shapes, sums and ranges are right, and sizes are those that it says, for its defaults and for each field at
      its ends and choices.
    - defaults: those of the fields are those of `make`.
    - repeats: the same parameters make the same model, in arrays of its own.
    - drawing: labels tell states and actions apart, and a grid has a place for each state.
    - runs: a spec with it travels as JSON, and a few users are simulated.

    Args:
        environment: its record.

    Returns:
        The checks that were passed.

    Raises:
        CheckFailed: by the first check that was not, in a sentence.
    """
    with offered(ENVIRONMENTS, environment, FIELDS, "environment"):
        return checked(environment, [record, model, defaults, repeats, drawing, runs])


def params_of(environment: Environment, given: dict[str, Any] | None = None) -> dict[str, Any]:
    """Its parameters, with defaults filled in."""
    return check_params("environment_params", environment.key, environment.fields, given or {})


def record(environment: Environment) -> None:
    """Key and texts, a field H, and what `make` and `size` take."""
    texts(environment)
    names = [field.name for field in environment.fields]
    require("H" in names, "fields: H is missing; give horizon(20)")
    for called in ("make", "size"):
        given = inspect.signature(getattr(environment, called)).parameters
        if any(one.kind is one.VAR_KEYWORD for one in given.values()):
            continue
        missing, more = [n for n in names if n not in given], [n for n in given if n not in names]
        require(not missing, f"{called}: it takes no {', '.join(missing)}, and fields have that")
        require(not more, f"{called}: it takes {', '.join(more)}, and fields do not have that")


def model(environment: Environment) -> None:
    """Of the defaults, and of each field at its ends and choices, as long as this is small."""
    whole(environment, params_of(environment))
    for field in environment.fields:
        ends: tuple[Any, ...] = field.choices or tuple(
            int(value) if field.kind == "int" else value
            for value in (field.low, field.high)
            if value is not None
        )
        for value in ends if field.kind != "text" else ():
            if value == field.low and field.low_open:
                continue
            params = params_of(environment, {field.name: value})
            S, A, H = environment.size(**params)[:3]
            B = environment.branching(**params) if environment.branching else S
            if H * S * A * B <= MOST:
                whole(environment, params)


def whole(environment: Environment, params: dict[str, Any]) -> TabularMDP:
    """A model that is right in every number."""
    mdp = environment.make(**params)
    require(isinstance(mdp, TabularMDP), "make: it returns no TabularMDP")
    stated = tuple(environment.size(**params)[:3])
    require(
        stated == (mdp.S, mdp.A, mdp.H), f"size: it says {stated}, and the model has {(mdp.S, mdp.A, mdp.H)}"
    )
    require(mdp.H == params["H"], f"make: the model has {mdp.H} steps where H = {params['H']}")
    for name, array in (("P", mdp.P), ("R", mdp.R), ("d1", mdp.d1)):
        require(array.dtype == np.float64, f"{name}: it is {array.dtype}; give float64")
        require(array.flags.c_contiguous, f"{name}: it is not contiguous; give np.ascontiguousarray")
        require(array.min() >= 0, f"{name}: a number is below 0")
    require(mdp.R.max() <= 1, "R: a mean reward is above 1")
    for name, array in (("P", mdp.P), ("d1", mdp.d1)):
        require(
            np.abs(array.sum(-1) - 1).max() <= 1e-12, f"{name}: probabilities do not sum to 1 within 1e-12"
        )
    best = planning.start_value(mdp, planning.optimum(mdp).V)
    require(0 <= best <= mdp.H * (1 + 1e-9), "the best value is below 0 or above H")
    return mdp


def defaults(environment: Environment) -> None:
    """Those of the fields are those of `make`."""
    ours, theirs = environment.make(), environment.make(**params_of(environment))
    same = (
        ours.P.shape == theirs.P.shape
        and np.array_equal(ours.P, theirs.P)
        and np.array_equal(ours.R, theirs.R)
    )
    require(same, "make() is another model than make with the defaults of the fields")


def repeats(environment: Environment) -> None:
    """The same parameters make the same model, in arrays that nobody else has."""
    params = params_of(environment)
    first = environment.make(**params)
    kept = [array.copy() for array in (first.P, first.R, first.d1)]
    second = environment.make(**params)
    for name, one, other, was in zip(
        ("P", "R", "d1"), (first.P, first.R, first.d1), (second.P, second.R, second.d1), kept, strict=True
    ):
        require(
            np.array_equal(other, was),
            f"{name}: made twice, it differs; draw from a seed that is a parameter",
        )
        require(np.array_equal(one, was), f"{name}: making the model again changed the one before")
        require(not np.shares_memory(one, other), f"{name}: two models share it; give each a copy")


def drawing(environment: Environment) -> None:
    """What figures rely on: labels to tell states and actions apart; on a grid a place for every state but an end."""
    drawn(environment.make(**params_of(environment)))


def drawn(mdp: TabularMDP) -> None:
    """The same, of a model."""
    for name, labels in (("state_labels", mdp.state_labels), ("action_labels", mdp.action_labels)):
        require(len(set(labels)) == len(labels), f"{name}: two are alike")
        require(all(label and label.isprintable() for label in labels), f"{name}: give printable texts")
    json.dumps(dict(mdp.drawing))
    kind = mdp.drawing.get("kind")
    require(kind in KINDS, f"drawing: kind {kind} is none of {', '.join(KINDS)}")
    if kind != "grid":
        return
    cells = [tuple(cell) for cell in mdp.drawing["cells"]]
    require(len(set(cells)) == len(cells), "drawing: two states have one place")
    require(len(cells) == mdp.S - ("end" in mdp.state_labels), "drawing: a state has no place")
    rows, columns = mdp.drawing["rows"], mdp.drawing["columns"]
    require(
        all(0 <= r < rows and 0 <= c < columns for r, c in cells), "drawing: a place is outside of the grid"
    )
    marks = {tuple(map(int, place.split(","))) for place in mdp.drawing["marks"]}
    require(marks <= set(cells), "drawing: a mark is outside of the grid")
    require(len(mdp.drawing["moves"]) == mdp.A, "drawing: give a move for each action")


def runs(environment: Environment) -> None:
    """A spec with it travels as JSON, and ten users are simulated as plain Python, where it is not too large."""
    params = params_of(environment)
    if np.prod(environment.size(**params)[:3]) > 2000:
        return
    spec = RunSpec(
        environment=environment.key, environment_params=params, algorithm="ucbvi", episodes=10, seeds=1
    )
    require(spec_from_json(spec.to_json()) == spec, "a spec with it differs after it was written as JSON")
    run = SeedRun(spec, 0, plain=True)
    while not run.advance(1e9):
        pass
    require(np.isfinite(run.trace().regret).all(), "the regret of a run is missing or infinite")
