"""Before privacy is spent on an uploaded data set: whether the bound can be above the least there is.

The learner itself is asked, its penalty included, by data sets that are made up from public numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dprl.learners.offline.learner import Learned
from dprl.mdp.counts import empty, rewards, transitions, visits
from dprl.simulation.expected import Certain
from dprl.simulation.loops.offline import learned_from
from dprl.simulation.uploads.run import noise_of, upload_problem_of
from dprl.simulation.uploads.spec import FIELDS, UploadSpec

CLOSE = 1.01  # ratio within which a least budget or number is found


def imagined(spec: UploadSpec, everybody_alike: bool) -> Learned:
    """What is learned where every step brings the most that is declared, and every state stays what it is.

    Args:
        spec: its public numbers only; the data set is not read.
        everybody_alike: all trajectories do one thing in whichever state it is that is asked about, and noise adds all
            that it may, E: but for a chance of at most beta no data set has a higher bound. Else each action in each
            state has the same share.
    """
    S, A, H, _ = spec.problem_size
    errors = noise_of(spec)[1]
    record = empty(H, S, A)
    if everybody_alike:
        visits(record)[:, :, 0] = spec.n + max(errors.values())
    else:
        visits(record)[...] = spec.n / (S * A)
    transitions(record)[...] = visits(record)[..., None] * np.eye(S)[:, None]
    rewards(record)[...] = visits(record)
    problem = replace(upload_problem_of(spec), errors=errors)
    if problem.rewards is not None:
        most = problem.rewards.max((1, 2), keepdims=True)
        problem = replace(problem, rewards=np.broadcast_to(most, problem.rewards.shape).copy())
    return learned_from(Certain(record, errors), spec.learner.plan(problem))[0]


def reach(spec: UploadSpec) -> dict[str, Any]:
    """What has to be so for a bound above the least there is; from n, S, A, H, the budget, rewards and constants.

    Returns:
        name, given, n, H, beta, unproved: the budget's name and value, trajectories, and what the bound assumes.
        proved: what is to be said of the proof of the bound, where it is no paper's.
        least: that an episode can bring, in the declared rewards.
        alike, even: of the two data sets of `imagined`, each with
            bound: the bound from the best first state; penalty: of the pair that is tried most, at one step; both in
                units of the reward range;
            budget, n: the least budget, with this n, and the least n, with this budget, at which the bound is not 0,
                rounded up to two digits; None where none that can be given is large enough.
    """
    name = "rho" if spec.rho is not None else "epsilon"
    H, least = spec.problem_size.H, spec.public.reward_range[0]
    found: dict[str, Any] = {
        "name": {"rho": "ρ", "epsilon": "ε"}[name],
        "given": getattr(spec, name),
        "n": spec.n,
        "H": H,
        "beta": spec.beta,
        "unproved": spec.learner.unproved(spec.algorithm_params),
        "proved": spec.learner.proved,
        "least": H * least,
    }
    for which, alike in (("alike", True), ("even", False)):
        learned = imagined(spec, alike)

        def above(changed: str, value: float, alike: bool = alike) -> bool:
            return bool(imagined(spec.replace(**{changed: value}), alike).V[0].max() > 0)

        found[which] = {
            "bound": float(learned.V[0].max()),
            "penalty": float(learned.penalty[:, 0, 0].min()),
            "budget": _least_enough(partial(above, name), getattr(spec, name), FIELDS[name].high),
            "n": _least_enough(lambda value: above("n", math.ceil(value)), spec.n, FIELDS["n"].high),
        }
    return found


def _least_enough(enough: Callable[[float], bool], low: float, high: float | None) -> float | None:
    """The least value from low to high that is enough, within CLOSE, rounded up to two digits."""
    if enough(low):
        return float(low)
    if high is None or not enough(high):
        return None
    while high > low * CLOSE:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    unit = 10 ** (math.floor(math.log10(high)) - 1)
    return float(f"{math.ceil(high / unit - 1e-9) * unit:.2g}")
