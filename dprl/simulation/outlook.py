"""Before a run: how its noise compares with the visits it will see, and from how many users it should learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.learners.tabular import anytime
from dprl.mdp import planning
from dprl.simulation.prepare import error_told, noise_of_schedule, problem_of
from dprl.simulation.spec import RunSpec

VISITED = 1e-3  # states the optimal policy reaches less often than this are left out


@dataclass(frozen=True)
class Outlook:
    """What can be said of a run before it runs.

    Attributes:
        noise_std: of one counter after the last user, in counts.
        visits: how often the optimal policy's most visited state of a step is seen in K users, the median over steps.
        learns_from: about the K from which the noise no longer hides the optimal policy, None beyond 10^15.
    """

    noise_std: float
    visits: float
    learns_from: int | None


def outlook(spec: RunSpec) -> Outlook | None:
    """What to expect of a private run; None without privacy, or for a learner without a noise term.

    Rule of thumb, not a theorem: the noise hides the optimal policy while its bonuses, w E / n summed over the
    states that an optimal episode may be in, exceed half of V*. Noise that takes a search to calibrate is taken
    from the central limit theorem.
    """
    learner = ALGORITHMS[spec.algorithm]
    if spec.privacy == "none" or learner.noise_weight is None:
        return None
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    best = planning.optimum(mdp)
    seen = planning.occupancy(mdp, best.policy)
    v_star = planning.start_value(mdp, best.V)
    cells = int((seen > VISITED).sum())

    def noise_at(run: RunSpec) -> tuple[float, float]:
        noise = noise_of_schedule(run, run.episodes, exact=False)
        return float(noise.std[-1]), float(error_told(run, noise)[-1])

    noise_weight = anytime.noise_weight if spec.bonus == "anytime" else learner.noise_weight
    learns_from = None
    for exponent in np.arange(1, 15.01, 0.25):
        users = int(10**exponent)
        larger = with_users(spec, users)
        if larger is None:
            break
        weight = noise_weight(problem_of(spec, mdp.size, users))
        _, error = noise_at(larger)
        if weight * error * cells / users <= v_star / 2:
            learns_from = users
            break
    std, _ = noise_at(spec)
    return Outlook(std, spec.episodes * float(np.median(seen.max(-1))), learns_from)


def with_users(spec: RunSpec, users: int) -> RunSpec | None:
    """The same run with so many users: with its mechanism, where that has no room for their releases with the default
    one, and None where no run can be so long."""
    for changes in ({}, {"mechanism": None}):
        try:
            return spec.replace(episodes=users, **changes)
        except SpecError:
            continue
    return None
