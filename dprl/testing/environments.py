"""Checks of an environment: that it is the model that its record says, each time it is made."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS, Environment
from dprl.fields import Field, SpecError, check_params, shown
from dprl.mdp import TabularMDP, planning
from dprl.mdp.tabular import Array
from dprl.simulation import FIELDS, SeedRun
from dprl.simulation.kinds import spec_from_json
from dprl.simulation.spec import RunSpec
from dprl.testing.report import Report, offered, own_key, require, run_checks, texts

KINDS = ("chain", "grid", "graph")
GRID = ("rows", "columns", "cells", "marks", "moves")
MOST = 10**6  # probabilities of a model that extreme parameters make
SMALL = 10**5  # of one that is made from random parameters, and often
RANDOM = 20  # parameters drawn at random
OFTEN = 100  # times that a small model is made


def check_environment(environment: Environment) -> Report:
    """Check an environment, registered or not.

    - record: key and texts, a field H, and `make` and `size` take what fields have.
    - model: shapes, sums and ranges are right, and sizes are those that it says, for its defaults, for each field at
      its ends and choices, and for 20 draws of all fields.
    - defaults: those of the fields are those of `make`.
    - repeats: the same parameters make the same model, a hundred times, in arrays of its own.
    - drawing: labels tell states and actions apart, and a grid has a place for each state.
    - runs: a spec with it travels as JSON, and a few users are simulated.

    Args:
        environment: its record.

    Returns:
        The checks that were passed.

    Raises:
        CheckFailed: by the first check that was not, in a sentence.
    """
    own_key(ENVIRONMENTS, environment)
    with offered(ENVIRONMENTS, environment, FIELDS, "environment"):
        return run_checks(environment, [record, model, defaults, repeats, drawing, runs])


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
    """Of the defaults, of each field at its ends and choices, and of random ones, as long as this is small."""
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
            if numbers(environment, params) <= MOST:
                whole(environment, params)
    for params in at_random(environment):
        whole(environment, params)


def numbers(environment: Environment, params: dict[str, Any]) -> int:
    """Probabilities in its model."""
    with told(params):
        S, A, H = environment.size(**params)[:3]
        B = environment.branching(**params) if environment.branching else S
    return int(H * S * A * B)


def at_random(environment: Environment) -> Iterator[dict[str, Any]]:
    """Parameters drawn from their ranges, whose model is small and which `make` does not refuse together."""
    rng = np.random.default_rng(38)
    for _ in range(RANDOM):
        params = params_of(environment, {field.name: _drawn(field, rng) for field in environment.fields})
        if numbers(environment, params) <= SMALL and not refused(environment, params):
            yield params


def refused(environment: Environment, params: dict[str, Any]) -> bool:
    """Whether `make` says that a parameter does not go with others."""
    try:
        environment.make(**params)
    except Exception as error:  # any other is a fault, which is found where the model is looked at
        return isinstance(error, SpecError) and error.field.rpartition(".")[2] in params
    return False


def _drawn(field: Field, rng: np.random.Generator) -> Any:
    """A value of a field: whole numbers are small as often as large."""
    if field.choices:
        return str(rng.choice(field.choices))
    if field.kind not in ("int", "float") or field.low is None or field.high is None:
        return field.default
    share = rng.random()
    if field.kind == "int":
        low = max(int(field.low), 1)
        return min(int(low * (field.high / low) ** share), int(field.high)) if field.high >= 1 else low
    return field.low + (1 - share) * (field.high - field.low)


@contextmanager
def told(params: dict[str, Any]) -> Iterator[None]:
    """What is wrong in this block is said with its parameters."""
    try:
        yield
    except Exception as error:
        error.add_note("with " + ", ".join(f"{name}={shown(value)}" for name, value in params.items()))
        raise


def first_wrong(name: str, array: Array) -> str:
    """The first number that is not from 0 to 1, and its index."""
    found = np.argwhere(~((array >= 0) & (array <= 1)))
    return f"{name}{found[0].tolist()} is {array[tuple(found[0])]:.6g}" if len(found) else ""


def first_off(name: str, array: Array, tolerance: float) -> str:
    """The first row that does not sum to 1, and its index."""
    sums = np.atleast_1d(array.sum(-1))
    found = np.argwhere(np.abs(sums - 1) > tolerance)
    row = str(found[0].tolist()) if len(found) and array.ndim > 1 else ""
    return f"{name}{row} sums to {sums[tuple(found[0])]:.15g}" if len(found) else ""


def whole(environment: Environment, params: dict[str, Any]) -> TabularMDP:
    """A model that is right in every number."""
    with told(params):
        mdp = environment.make(**params)
        require(isinstance(mdp, TabularMDP), "make: it returns no TabularMDP")
        stated = tuple(environment.size(**params)[:3])
        require(
            stated == (mdp.S, mdp.A, mdp.H),
            f"size: it says {stated}, and the model has {(mdp.S, mdp.A, mdp.H)}",
        )
        require(mdp.H == params["H"], f"make: the model has {mdp.H} steps where H = {params['H']}")
        right(mdp)
        return mdp


def right(mdp: TabularMDP) -> None:
    """A model that is right in every number."""
    for name, array in (("P", mdp.P), ("R", mdp.R), ("d1", mdp.d1)):
        require(array.dtype == np.float64, f"{name}: it is {array.dtype}; give float64")
        require(array.flags.c_contiguous, f"{name}: it is not contiguous; give np.ascontiguousarray")
        place = first_wrong(name, array)
        require(not place, f"{place}; give numbers from 0 to 1")
    for name, array in (("P", mdp.P), ("d1", mdp.d1)):
        place = first_off(name, array, 1e-12)
        require(not place, f"{place}; give probabilities that sum to 1 within 1e-12")
    best = planning.start_value(mdp, planning.optimum(mdp).V)
    require(0 <= best <= mdp.H * (1 + 1e-9), "the best value is below 0 or above H")


def defaults(environment: Environment) -> None:
    """Those of the fields are those of `make`."""
    params = params_of(environment)
    ours, theirs = environment.make(), environment.make(**params)
    if not alike(ours, theirs):
        require(
            alike(environment.make(), environment.make()),
            "two calls of make() differ; draw from a seed that is a parameter",
        )
        require(False, "make() is another model than make with the defaults of the fields")


def alike(one: TabularMDP, other: TabularMDP) -> bool:
    """Whether two models are the same in every number."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("P", "R", "d1"))


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
    for count in range(3, OFTEN if numbers(environment, params) <= SMALL else 10):
        same = alike(second, environment.make(**params))
        require(same, f"made {count} times, the model differs; make it from its parameters alone")
    for given in at_random(environment):
        with told(given):
            same = alike(environment.make(**given), environment.make(**given))
            require(same, "made twice, the model differs; draw from a seed that is a parameter")


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
    missing = [name for name in GRID if name not in mdp.drawing]
    require(not missing, f"drawing: a grid has {', '.join(GRID)}, and this has no {', '.join(missing)}")
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
