"""Prepare an online run: its random generators, model, noise and privacy guarantee."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import cast

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.learners import ALGORITHMS, PUBLIC, Problem
from dprl.mdp import TabularMDP
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, PRIVATIZERS, Guarantee
from dprl.privacy.outside import assumption
from dprl.privacy.privatizers import Batch, Noise, Request
from dprl.simulation import schedules, structure
from dprl.simulation.pairs import uncovered
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints
from dprl.statistics import PaperScale, Statistic
from dprl.statistics.counts import Counts

PRACTICAL_E = 12.0  # bonus="practical" replaces E by this many standard deviations of one counter
PAC_ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # shares of the best start state's optimal value


def streams(spec: RunSpec, seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return a seed's random generators for users and noise. The users' generator does not depend on the mechanism."""
    users, noise = np.random.SeedSequence([spec.root_seed, seed]).spawn(2)
    return np.random.Generator(np.random.SFC64(users)), np.random.Generator(np.random.SFC64(noise))


def world_of(spec: RunSpec) -> TabularMDP:
    """Return the environment's model in the form for compiled kernels, restricted to the declared transitions."""
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    if spec.structure is not None:
        mdp = structure.restricted(mdp, structure.declared(spec.environment, spec.environment_params)[0])
    return mdp.writable()


def problem_of(spec: RunSpec, ellipsoid: tuple[float, ...] = ()) -> Problem:
    """Return the public facts from which a learner computes its constants. `Problem` explains `ellipsoid`."""
    S, A, H, _ = spec.problem_size
    most = spec.declared.most if spec.declared else None
    return Problem(
        H, S, A, spec.episodes, spec.beta or 0.1, spec.epsilon, spec.calibration, spec.bonus,
        dict(spec.algorithm_params), most, ellipsoid,
    )  # fmt: skip


def noise_of(
    spec: RunSpec,
    times: Ints,
    *,
    batches: tuple[Batch, ...] | None = None,
    releases: int | None = None,
    statistic: Statistic | None = None,
) -> Noise:
    """Return the noise of a run.

    `times` has the number of users at each release, or at the end of each batch or epoch [M]. `batches` is for learners
    that use each batch separately, `releases` is the limit M of a schedule that decides during the run, and `statistic`
    replaces the spec's.
    """
    size, seen = spec.problem_size, statistic or spec.statistic
    counted = spec.reports != "all"
    if counted:
        seen = replace(cast(Counts, seen), played=True)
    request = Request(
        statistic=seen,
        size=size,
        times=times,
        mechanism=spec.mechanism or "",
        calibration=spec.calibration or "",
        epsilon=spec.epsilon or 0.0,
        delta=spec.delta or 0.0,
        beta=spec.beta or 0.1,
        batches=batches,
        releases=releases,
        played=counted,
        contribution=spec.contribution,
    )
    return PRIVATIZERS[spec.privacy].prepare(request)


def noise_of_schedule(spec: RunSpec, K: int) -> Noise:
    """Return the noise of a run with K users, whose releases follow the spec's schedule. All seeds share it."""
    # the entries of registries on which the noise depends, because any of them may be replaced
    used = PRIVATIZERS[spec.privacy], MECHANISMS.get(spec.mechanism or ""), spec.statistic, spec.problem_size
    return _shared_noise(spec, K, used)


@lru_cache(maxsize=4)  # the curves of a first comparison
def _shared_noise(spec: RunSpec, K: int, used: object) -> Noise:
    limit = schedules.limit(spec.schedule, K, spec.problem_size, PRIVATIZERS[spec.privacy].per_release)
    return noise_of(spec, schedules.times(spec.schedule, K), releases=limit)


def paper_noise(spec: RunSpec, statistic: Statistic) -> PaperScale:
    """Return the noise that the learner's papers state for its statistic."""
    budget = spec.epsilon or 0.0, spec.delta or 0.0
    return statistic.paper_noise(spec.privacy, spec.problem_size, spec.episodes, *budget)


def error_told(spec: RunSpec, noise: Noise) -> Array:
    """Return the error E that the learner assumes in a count, [B].

    With the anytime bonus, it is the radius of a row's noise; with the practical bonus, PRACTICAL_E standard deviations
    of one counter; and otherwise E_{eps,beta}.
    """
    if spec.bonus == "anytime":
        return noise.radius()
    return PRACTICAL_E * noise.std if spec.bonus == "practical" else noise.bound


def guarantee_of(spec: RunSpec, noise: Noise) -> Guarantee:
    """Return a run's guarantee card, with the public facts and any noise that the learner's bonus does not cover."""
    learner = ALGORITHMS[spec.algorithm]
    known = (*learner.public, *["structure"] * bool(spec.structure))
    card = noise.guarantee()
    short = uncovered(spec.algorithm, spec.privacy, spec.calibration, spec.bonus, spec.reports)
    return replace(
        card,
        public=tuple(PUBLIC[key] for key in known),
        assumptions=(*card.assumptions, *assumption(spec.mechanism), *([short] if short else [])),
    )
