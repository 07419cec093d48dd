"""Declared stationarity: the visitor of a spec takes as public that transitions and mean rewards do not depend on the
step. Counts are then pooled over the steps (docs/notes/privacy.md).

The model of an environment is known here, so that a declaration which is not true of it is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dprl.fields import SpecError, either
from dprl.learners import ALGORITHMS
from dprl.messages import filled, messages
from dprl.simulation import structure
from dprl.simulation.pairs import not_pooled

SPEC, DEPENDS = messages("refusals")["spec"], messages("refusals")["depends"]


def check_use(
    stationary: str,
    algorithm: str,
    mechanism: str | None = None,
    calibration: str | None = None,
    bonus: str | None = None,
) -> None:
    """Refuse a declaration of which a learner, its bonus or the noise makes nothing. Raises SpecError."""
    if stationary == "yes" and (reason := not_pooled(algorithm, mechanism, calibration, bonus)):
        able = [key for key, other in ALGORITHMS.items() if "stationary" in other.declarable]
        if algorithm in able:
            raise SpecError("stationary", filled(SPEC["stationary"], reason=reason))
        raise SpecError("stationary", filled(SPEC["stationary_other"], reason=reason, others=either(able)))


def check_truth(stationary: str, declared: str | None, environment: str, params: Mapping[str, Any]) -> None:
    """Refuse a declaration that is not true of the model.

    Args:
        stationary: of the spec.
        declared: structure, in canonical form.
        environment, params: of the spec, checked.

    Raises:
        SpecError: the model, or what is declared possible, depends on the step.
    """
    if stationary == "no":
        return
    if reason := dependence(environment, json.dumps(dict(params), sort_keys=True)):
        raise SpecError("stationary", filled(SPEC["not_stationary"], reason=reason))
    if declared and len(structure.table(declared, environment, params)) > 1:
        raise SpecError("structure", SPEC["structure_own" if declared == structure.OWN else "structure"])


@lru_cache(maxsize=256)
def dependence(environment: str, params: str) -> str:
    """Where a model depends on the step, in words; "" where it does not. params: as JSON. Raises SpecError."""
    mdp = structure.whole(environment, json.loads(params))
    if len(mdp.possible) > 1 and (mdp.possible != mdp.possible[:1]).any():
        return str(DEPENDS["possible"])
    for what, of_steps in (("rewards", mdp.R[..., None]), ("transitions", mdp.P)):
        other = np.argwhere((of_steps != of_steps[:1]).any(-1))
        if len(other):
            h, s, a = (int(x) for x in other[0])
            labels = {"state": mdp.state_labels[s], "action": mdp.action_labels[a]}
            return filled(DEPENDS[what], s=s, a=a, h=h, **labels)
    return ""
