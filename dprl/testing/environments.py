"""Checks of an environment: whether each of its models matches its registry record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from dprl.environments import Environment
from dprl.fields import check_params, check_type
from dprl.mdp import TabularMDP
from dprl.testing.report import require, run_checks, texts

LARGEST = 10**6  # most probabilities in a model that is checked


def check_environment(environment: Environment) -> tuple[str, ...]:
    """Check an environment, registered or not, and return the names of the checks.

    - record: it has a key, texts, and a field H.
    - models: with default parameters and at the limits of each field, its model is valid, and equal when made again.

    Raises CheckFailed at the first check that fails.

    Example:
        >>> dprl.testing.check_environment(dprl.ENVIRONMENTS["chain"])
        ('record', 'models')
    """
    check_type("environment", environment, Environment, "an Environment")
    return run_checks(environment, [record, models])


def record(environment: Environment) -> None:
    texts(environment)
    require("H" in [field.name for field in environment.fields], "fields: H is missing; give horizon(20)")


def settings(environment: Environment) -> Iterator[dict[str, Any]]:
    """Yield the default parameters, and then parameters in which one field is at a limit or has another choice."""
    yield {}
    for field in environment.fields:
        ends = field.choices or (field.low if not field.low_open else None, field.high)
        yield from ({field.name: end} for end in ends if end is not None and field.kind != "text")


def models(environment: Environment) -> None:
    """Make each model twice, and check its numbers, sizes and labels."""
    require(same(environment.make(), environment.make()), "two calls to make() differ; draw from a seed")
    for given in settings(environment):
        params = check_params("environment_params", environment.key, environment.fields, given)
        S, A, H = environment.size(**params)[:3]
        if H * S * A * (environment.branching(**params) if environment.branching else S) > LARGEST:
            continue
        one, other = environment.make(**params), environment.make(**params)
        at = f"with {params}, "
        require(same(one, other), f"{at}two models differ; make them from their parameters alone")
        require(given or same(one, environment.make()), "make() differs from make with the fields' defaults")
        made = one.S, one.A, one.H
        require((S, A, H) == made, f"{at}size gives {(S, A, H)}, but the model has {made}")
        require(H == params["H"], f"{at}the model has {H} steps")
        for name in ("P", "R", "d1"):
            array = getattr(one, name)
            require(((array >= 0) & (array <= 1)).all(), f"{at}a number in {name} is not between 0 and 1")
            shared = np.shares_memory(array, getattr(other, name))
            require(not shared, f"{name}: two models share this array; give each model its own")
            if name != "R":
                sums = array.sum(-1)
                require(np.allclose(sums, 1, rtol=0, atol=1e-12), f"{at}a row of {name} does not sum to 1")
        for labels in (one.state_labels, one.action_labels):
            require(len(set(labels)) == len(labels), f"{at}two labels are alike")
        json.dumps(dict(one.drawing))


def same(one: TabularMDP, other: TabularMDP) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("P", "R", "d1"))
