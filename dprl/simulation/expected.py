"""Before a run on data sets: what would be learned from one that holds exactly what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.learners import OFFLINE
from dprl.mdp import Size, TabularMDP, planning
from dprl.mdp.counts import empty, rewards, transitions, visits
from dprl.mdp.tabular import Array
from dprl.simulation import datasets
from dprl.simulation.loops.offline import learned_from, noise_of_run, problem_of
from dprl.simulation.offline_spec import OfflineSpec
from dprl.statistics.family import Query

SIZES = tuple(round(10 ** (j / 2)) for j in range(2, 25))  # 10 to 10^12


def expectation(mdp: TabularMDP, behaviour: tuple[datasets.Part, ...], n: float) -> Array:
    """[H, S, A, S + 2], what is expected of the record of n trajectories (rows as in mdp/counts.py)."""
    record = empty(mdp.H, mdp.S, mdp.A)
    visited = n * datasets.occupancy(mdp, behaviour)
    visits(record)[...] = visited
    transitions(record)[...] = visited[..., None] * mdp.P
    rewards(record)[...] = visited * mdp.R
    return record


class Certain:
    """A curator without noise, who says of its errors what one with noise would."""

    def __init__(self, record: Array, errors: Mapping[str, float]) -> None:
        self._record, self._errors = record, errors

    def release(self, query: Query) -> Array:
        """What the learner sees."""
        H, S, A, _ = self._record.shape
        return query.answer(
            self._record, np.zeros(query.draws(Size(S, A, H))), self._errors.get(query.family, 0.0)
        )


def outlook(spec: OfflineSpec) -> dict[str, Any] | None:
    """What to expect of a run of a learner that is told visits; None of others, whose noise decides what they learn.

    The learner is told the expected counts of data sets of SIZES, without noise but with E, which is what its penalty
    makes of noise. How far noise and chance move it besides is not in this: a rule of thumb.

    Returns:
        n: SIZES.
        gap: v* - v^pi at each.
        charged: at each, what the penalties on an optimal episode add up to, on average; each is Gamma, but at most H.
        v_star: the best value.
    """
    learner = OFFLINE[spec.algorithm]
    if "visits" not in learner.shown:
        return None
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    behaviour = datasets.parts(spec.behaviour, mdp)
    problem = replace(problem_of(spec, spec.n), errors=noise_of_run(spec)[1])
    v_star = planning.start_value(mdp, planning.optimum(mdp).V)
    best = datasets.occupancy(mdp, (datasets.Part(1.0, datasets.optimal_policy(mdp)),))
    gaps, charged = [], []
    for n in SIZES:
        plan = learner.plan(replace(problem, n=n))
        learned, _ = learned_from(Certain(expectation(mdp, behaviour, n), problem.errors), plan)
        value = planning.start_value(mdp, planning.policy_values(mdp, learned.policy))
        gaps.append(max(v_star - value, 0.0))
        charged.append(float((best * np.minimum(learned.penalty, mdp.H)).sum()))
    return {"n": list(SIZES), "gap": gaps, "charged": charged, "v_star": v_star}
