"""The functions that run, sweep and describe offline specs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.learners import OFFLINE
from dprl.privacy.curator import PROMISES
from dprl.simulation import datasets, kinds
from dprl.simulation.axes import axis_fields, axis_value, params_along
from dprl.simulation.loops.offline import OfflineRun, OfflineTrace, noise_of_run
from dprl.simulation.offline_spec import AXIS, FIELDS, MEASURE, OfflineSpec
from dprl.simulation.online import v_star

OWNERS: dict[str, Mapping[str, Any]] = {"environment": ENVIRONMENTS, "algorithm": OFFLINE}


def along(base: OfflineSpec, chosen: Mapping[str, Any]) -> OfflineSpec:
    """Return the base spec with these values of the swept settings. Raises SpecError if they are incompatible.

    A new learner keeps the base spec's budget if it supports the same kind of guarantee.
    """
    changes = {name: value for name, value in chosen.items() if name in FIELDS}
    learner = OFFLINE[chosen.get("algorithm", base.algorithm)]
    if base.privacy in learner.privacies:
        kept = ["privacy", *PROMISES[base.privacy].fields]
        kept += ["calibration"] * (base.privacy in learner.paper_noise and base.rewards != "learned")
        changes = {name: getattr(base, name) for name in kept} | changes
    return base.replace(**changes, **params_along(base, chosen, OWNERS, FIELDS))


def covered(spec: OfflineSpec) -> dict[str, Any]:
    """Return how well the behaviour policy covers the environment's state-action pairs.

    Returns:
        d_m: the least positive d^mu.
        optimal: the least d^mu over the optimal policy's pairs.
        visits: the probability that a trajectory in the data set visits each pair, d^mu [H, S, A].
        best: the probability that the optimal policy (the lowest one) visits each pair [H, S, A].
    """
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    parts = datasets.parts(spec.behaviour, mdp)
    d_m, optimal = datasets.coverage(mdp, parts)
    best = datasets.occupancy(mdp, (datasets.Part(1.0, datasets.optimal_policy(mdp)),))
    return {
        "d_m": d_m,
        "optimal": optimal,
        "visits": datasets.occupancy(mdp, parts).tolist(),
        "best": best.tolist(),
    }


kinds.register(
    OfflineSpec,
    start=OfflineRun,
    estimate=OfflineSpec.estimate,
    trace=OfflineTrace,
    axis=AXIS,
    measure=MEASURE,
    axes=lambda base: {
        name: partial(axis_value, field) for name, field in axis_fields(base, OWNERS, FIELDS).items()
    },
    along=along,
    questions={
        "guarantee": lambda spec: noise_of_run(spec)[0].guarantee.to_dict(),
        "coverage": covered,
        "v_star": v_star,
    },
)
