"""The declared structure of an environment: its possible transitions, which count as public knowledge.

A spec's `structure` is None or OWN, which means that the environment declares them. A model of your own may list them
under its key `possible`; otherwise, all transitions with positive probability are possible.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.fields import either, not_allowed, reject
from dprl.learners import ALGORITHMS
from dprl.mdp import Size, TabularMDP
from dprl.mdp.structure import Table, on_table, table_of, transitions
from dprl.simulation.base import SAID
from dprl.statistics.counts import Declared

OWN = "environment"
MAX_MODEL = 50_000_000  # most probabilities in a model that is compared with its declaration


def check(given: str, learner: str) -> None:
    """Raise SpecError if the declared structure `given` is not allowed, or if the learner cannot use it."""
    if given != OWN:
        raise not_allowed("structure", given, f"{OWN}, or none")
    able = [key for key, other in ALGORITHMS.items() if "structure" in other.declarable]
    if learner not in able:
        raise reject("structure", SAID["no_structure"], algorithm=learner, able=either(able))


def declared(environment: str, params: Mapping[str, Any]) -> tuple[Table, Declared]:
    """Return the table of declared transitions, and the facts about them that affect the noise.

    Raises SpecError if the model has an undeclared transition.
    """
    return _known(environment, json.dumps(dict(params), sort_keys=True))


@lru_cache(maxsize=64)
def _known(environment: str, params: str) -> tuple[Table, Declared]:
    world, given = ENVIRONMENTS[environment], json.loads(params)
    size = Size(*world.size(**given))
    numbers = size.H * size.S * size.A * (world.branching(**given) if world.branching else size.S)
    if numbers > MAX_MODEL:
        told = {"S": size.S, "A": size.A, "H": size.H, "count": numbers, "most": MAX_MODEL}
        raise reject("environment_params", SAID["large_model"], **told)
    mdp = world.make(**given)
    found = world.possible(**given) if world.possible else None
    if found is None and mdp.dense:
        allowed = mdp.P > 0
        found = table_of(allowed[:1] if (allowed == allowed[0]).all() else allowed)
    elif found is None:
        found = mdp.possible.copy()
    if (found == found[:1]).all():  # if all steps are alike, one is enough
        found = np.ascontiguousarray(found[:1])
    found.flags.writeable = False
    restricted(mdp, found)
    return found, Declared(transitions(found, size.S, size.A), found.shape[3])


def restricted(mdp: TabularMDP, found: Table) -> TabularMDP:
    """Restrict the model to a table of possible next states. Raises SpecError if the model has other transitions."""
    P, missing = on_table(mdp.P, mdp.possible, found)
    if missing:
        h, s, a, to = missing
        labels = {"state": mdp.state_labels[s], "action": mdp.action_labels[a], "next": mdp.state_labels[to]}
        raise reject("structure", SAID["undeclared"], s=s, a=a, to=to, h=h, **labels)
    return replace(mdp, P=P, possible=found.copy())
