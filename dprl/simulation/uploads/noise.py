"""The noise of a release, which follows from its spec alone."""

from __future__ import annotations

from dataclasses import replace

from dprl.learners.offline.learner import OfflineProblem
from dprl.privacy.curator import CuratorNoise
from dprl.privacy.exact import SPACING
from dprl.simulation.loops.offline import noise_for
from dprl.simulation.uploads import check
from dprl.simulation.uploads.assumptions import (
    ALIKE,
    APART,
    ASSUMPTIONS,
    ESTIMATED_START,
    PEOPLE,
    START,
)
from dprl.simulation.uploads.spec import UploadSpec
from dprl.simulation.uploads.start import START_SHARE
from dprl.statistics import REWARDS
from dprl.statistics.family import Family
from dprl.words import plural


def upload_problem_of(spec: UploadSpec) -> OfflineProblem:
    """What the learner is told, before noise is chosen."""
    return OfflineProblem(
        size=spec.problem_size,
        n=spec.learned_from,
        beta=spec.beta * (1 - START_SHARE * (spec.public.start is None)),
        params=dict(spec.algorithm_params),
        rewards=spec.public.rewards,
        episodes=spec.public.episodes,
        stationary=spec.public.stationary,
        hands_over=True,  # as the file of the policy does, see policy.py
    )


def beside(spec: UploadSpec) -> tuple[Family, ...]:
    """What is asked of people held out."""
    return check.families(spec.public.episodes) if spec.checked else ()


def protects(spec: UploadSpec) -> str:
    """What the guarantee is about, where a column says whose an episode is."""
    return f"one user, up to {plural(spec.public.episodes, 'episode')}"


def noise_of(spec: UploadSpec) -> tuple[CuratorNoise, dict[str, float]]:
    """The noise, and E of each family, which follow from the spec alone."""
    return _noise_of(spec, upload_problem_of(spec))


def _noise_of(spec: UploadSpec, problem: OfflineProblem) -> tuple[CuratorNoise, dict[str, float]]:
    """The same, of a problem like the spec's.

    Noise on the grid is further out than a bound on continuous noise, with the same chance, by at most one step; and
    each reward in a sum was rounded by at most half a step.
    """
    of_people, episodes = spec.public.of_people, spec.public.episodes
    said: tuple[str, ...] = ASSUMPTIONS
    if of_people:  # one episode each: what follows needs users who are independent
        bound = PEOPLE[2] if episodes > 1 else ASSUMPTIONS[2]
        said = (*PEOPLE[:2], bound, *ASSUMPTIONS[3:])
    said = (*said, ESTIMATED_START if spec.public.start is None else START)
    said = (*said, *[ALIKE] * problem.stationary, *[APART] * bool(spec.checked))
    noise, errors = noise_for(spec, problem, said, exact=True, beside=beside(spec))
    card = replace(noise.guarantee, users=spec.n)
    if of_people:
        unit = protects(spec)
        card = replace(card, unit=unit, adjacency=f"replace {unit}, by another", returning=None)
    noise = replace(noise, guarantee=card)
    rounded, steps = (
        {REWARDS.family: episodes * spec.learned_from},
        problem.size.H if problem.stationary else 1,
    )
    return noise, {name: E + (2 + rounded.get(name, 0)) * steps * SPACING for name, E in errors.items()}


def errors_by_step(spec: UploadSpec) -> dict[str, float]:
    """E of each family where no steps are added up."""
    return _noise_of(spec, replace(upload_problem_of(spec), stationary=False))[1]
