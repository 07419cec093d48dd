"""The declared structure of a spec: which transitions its visitor takes as public knowledge to be possible at all.

A spec's `structure` is OWN, what the environment itself knows (a map), or a table of one's own as JSON: for each state
and action a list of the next states that are possible, [S][A][..], or that for each step, [H][S][A][..].
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError, check_params, read_json, shown
from dprl.learners import ALGORITHMS
from dprl.mdp import Size, TabularMDP
from dprl.mdp.structure import Table, on_table, table_of, transitions
from dprl.statistics.counts import Declared

OWN = "environment"
ALLOWED = f"{OWN}, or lists of possible next states, as [S][A][..] or [H][S][A][..]"
MAX_TEXT = 2_000_000  # characters
MAX_MODEL = 50_000_000  # probabilities of a model that is made whole, to be looked at


def checked(given: str | None, learner: str, size: Size) -> str | None:
    """What is declared in a spec, in canonical form. Raises SpecError, also where the learner makes nothing of it."""
    if given is None or "structure" in ALGORITHMS[learner].declarable:
        return given if given is None else canonical(given, size)
    able = [key for key, other in ALGORITHMS.items() if "structure" in other.declarable]
    raise SpecError(
        "structure",
        f"{learner} has no form that makes use of one; give none, or algorithm {', '.join(able[:-1])} or {able[-1]}.",
    )


def canonical(text: str, size: Size) -> str:
    """OWN, or a table as short JSON, each list in increasing order. Raises SpecError."""
    if text == OWN:
        return text
    if len(text) > MAX_TEXT:
        raise SpecError("structure", f"{len(text):,} characters are too many; give at most {MAX_TEXT:,}.")
    try:
        steps = read_json("structure", text)
        nested = isinstance(steps[0][0][0], list)
    except (ValueError, TypeError, LookupError, RecursionError):
        raise SpecError("structure", f"{shown(text)} is not allowed; give {ALLOWED}.") from None
    return json.dumps(
        [_step(step, size) for step in steps] if nested else _step(steps, size), separators=(",", ":")
    )


def _step(given: Any, size: Size) -> list[list[list[int]]]:
    """[S][A][..] checked. Raises SpecError."""
    if not isinstance(given, list) or len(given) != size.S:
        raise SpecError("structure", f"this is not a list for each of the {size.S} states; give {ALLOWED}.")
    for s, actions in enumerate(given):
        if not isinstance(actions, list) or len(actions) != size.A:
            raise SpecError("structure", f"state {s} has not a list for each of the {size.A} actions.")
        for a, row in enumerate(actions):
            if (
                not isinstance(row, list)
                or not row
                or not all(type(x) is int and 0 <= x < size.S for x in row)
            ):
                raise SpecError(
                    "structure",
                    f"state {s}, action {a}: give one or more next states, each a whole number from 0 to {size.S - 1}.",
                )
    return [[sorted(set(row)) for row in actions] for actions in given]


def table(text: str, environment: str, params: Mapping[str, Any]) -> Table:
    """What is declared. text: canonical. Raises SpecError: the model has a transition that is not."""
    return _known(text, environment, json.dumps(dict(params), sort_keys=True))[0]


def declared(text: str, environment: str, params: Mapping[str, Any]) -> Declared:
    """What noise depends on of it. Raises SpecError as `table` does."""
    return _known(text, environment, json.dumps(dict(params), sort_keys=True))[1]


def written(environment: str, params: Mapping[str, Any]) -> str:
    """The table that OWN stands for, as text. Raises SpecError."""
    world = ENVIRONMENTS[environment]
    given = check_params("environment_params", world.key, world.fields, params)
    found = table(OWN, environment, given)
    S, A, _ = world.size(**given)[:3]
    steps = [
        [[[x for x in row if x >= 0] for row in actions] for actions in states]
        for states in np.broadcast_to(found, (len(found), S, A, found.shape[3])).tolist()
    ]
    return json.dumps(steps if len(steps) > 1 else steps[0], separators=(",", ":"))


def whole(environment: str, params: Mapping[str, Any]) -> TabularMDP:
    """The model, to be compared with what is declared of it. Raises SpecError where it is too large for that."""
    world = ENVIRONMENTS[environment]
    size = Size(*world.size(**params))
    numbers = size.H * size.S * size.A * (world.branching(**params) if world.branching else size.S)
    if numbers > MAX_MODEL:
        raise SpecError(
            "environment_params",
            f"S={size.S}, A={size.A}, H={size.H} has {numbers:,} probabilities to compare with what is declared, "
            f"and at most {MAX_MODEL:,} are allowed; give a smaller one.",
        )
    return world.make(**params)


@lru_cache(maxsize=64)
def _known(text: str, environment: str, params: str) -> tuple[Table, Declared]:
    world, given = ENVIRONMENTS[environment], json.loads(params)
    mdp, size = whole(environment, given), Size(*world.size(**given))
    if text == OWN and world.possible:
        text = canonical(world.possible(**given) or OWN, size)
    found = _own(mdp) if text == OWN else _read(text)
    if len(found) not in (1, size.H):
        raise SpecError(
            "structure", f"{len(found)} steps are described and the horizon is {size.H}; give {ALLOWED}."
        )
    if (found == found[:1]).all():  # one step for all where they are alike
        found = np.ascontiguousarray(found[:1])
    found.flags.writeable = False
    restricted(mdp, found)
    return found, Declared(transitions(found, size.S, size.A), found.shape[3])


def _read(text: str) -> Table:
    steps = json.loads(text)
    if not isinstance(steps[0][0][0], list):
        steps = [steps]
    B = max(len(row) for states in steps for actions in states for row in actions)
    return np.array(
        [[[row + [-1] * (B - len(row)) for row in actions] for actions in states] for states in steps],
        dtype=np.int64,
    )


def _own(mdp: TabularMDP) -> Table:
    """What is possible in a model, one step for all where they are alike."""
    if not mdp.dense:
        return mdp.possible.copy()
    allowed = mdp.P > 0
    return table_of(allowed[:1] if (allowed == allowed[0]).all() else allowed)


def restricted(mdp: TabularMDP, found: Table) -> TabularMDP:
    """The same model on a table. Raises SpecError: it has a transition that is not in the table."""
    P, missing = on_table(mdp.P, mdp.possible, found)
    if missing:
        h, s, a, to = missing
        raise SpecError(
            "structure",
            f"the model goes from state {s} ({mdp.state_labels[s]}) by action {a} ({mdp.action_labels[a]}) to state "
            f"{to} ({mdp.state_labels[to]}) at step {h}, which is not declared to be possible; declare that too.",
        )
    return replace(mdp, P=P, possible=found.copy())
