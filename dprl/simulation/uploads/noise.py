"""The noise in a release from uploaded data, the guarantee's assumptions, and a bound for unknown start states."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dprl.learners.offline.learner import OfflineProblem
from dprl.mdp import Size, counts
from dprl.mdp.tabular import Array
from dprl.messages import messages
from dprl.privacy.curator import CuratorNoise
from dprl.privacy.exact import SPACING
from dprl.privacy.guarantee import DRAWN
from dprl.simulation.loops.offline import noise_for
from dprl.simulation.uploads import check
from dprl.simulation.uploads.spec import UploadSpec
from dprl.statistics import REWARDS, TRANSITIONS
from dprl.statistics.family import Family
from dprl.words import plural

START_SHARE = 0.1  # of beta, for the start
SAID = messages("uploads")["assumptions"]


def upload_problem_of(spec: UploadSpec) -> OfflineProblem:
    """Return the public facts that the learner receives about the problem, before any noise is chosen."""
    return OfflineProblem(
        size=spec.problem_size,
        n=spec.learned_from,
        beta=spec.beta * (1 - START_SHARE * (spec.public.start is None)),
        params={},
        rewards=spec.public.rewards,
        episodes=spec.public.episodes,
        hands_over=True,  # as the file of the policy does, see policy.py
    )


def beside(spec: UploadSpec) -> tuple[Family, ...]:
    """Return the statistics about held-out people that are released alongside the learner's."""
    return check.families(spec.public.episodes, bool(spec.public.groups)) if spec.checked else ()


def noise_of(spec: UploadSpec) -> tuple[CuratorNoise, dict[str, float]]:
    """Return a release's noise and each family's error bound E, which depend on the spec alone and not on the data.

    With the same probability, noise on the grid exceeds a bound on continuous noise by at most one step. Each reward in
    a sum was rounded by at most half a step.
    """
    problem, of_people, episodes = upload_problem_of(spec), spec.public.of_people, spec.public.episodes
    facts = ["declared", "once", "independent"]
    if of_people:  # with one episode each, users have to be independent
        facts = ["declared_people", "first_episodes", "in_order" if episodes > 1 else "independent"]
    start = "estimated_start" if spec.public.start is None else "start"
    others = ["apart", *["groups"] * bool(spec.public.groups)] if spec.checked else []
    texts = SAID | {"drawn": DRAWN}
    said = tuple(texts[key] for key in (*facts, "again", "only", "drawn", start, *others))
    noise, errors = noise_for(spec, problem, said, exact=True, beside=beside(spec))
    card = replace(noise.guarantee, users=spec.n)
    if of_people:
        unit = f"one user, up to {plural(episodes, 'episode')}"
        card = replace(card, unit=unit, adjacency=f"replace {unit}, by another", returning=None)
    noise = replace(noise, guarantee=card)
    rounded = {REWARDS.family: episodes * spec.learned_from}
    return noise, {name: E + (2 + rounded.get(name, 0)) * SPACING for name, E in errors.items()}


def bound_from_start(V: Array, released: Array, size: Size, n: int, beta: float, scale: float) -> float:
    """Return a lower bound on the average value over first states, if the distribution of first states is estimated.

    It fails with probability at most START_SHARE beta, half of it for people and half for noise; the learner gets the
    rest of beta. docs/report/offline.md, "An unknown start", has the proof.

    V: lower bounds on the values at the first step [S]; released: the noisy counts [H, S, A, S + 2], in which a visit
    count is a sum of S numbers; n: the number of people learned from, with one episode each; beta: the probability that
    the whole bound may fail; scale: the scale of the Gaussian noise in each released number.
    """
    from scipy.special import chdtri

    S, A, _, _ = size
    chance, summed = beta * START_SHARE / 2, S * A
    off = V - V.mean()
    far = scale * math.sqrt(summed * float(chdtri(S, chance))) * float(np.linalg.norm(off))
    # the noise is on a grid, within one step of continuous noise
    far += 2 * summed * SPACING * float(np.abs(off).sum())
    mean = float(V.mean()) + (float(counts.visits(released)[0].sum(-1) @ off) - far) / n
    spread = float(V.max() - V.min()) * math.sqrt((S * math.log(2) + math.log(1 / chance)) / (2 * n))
    return float(np.clip(mean - spread, V.min(), V.max()))


def outlook(spec: UploadSpec) -> tuple[float, float]:
    """Return the mean number of users per state, action and step, and the noise's standard deviation, both public."""
    noise, (S, A, _, _) = noise_of(spec)[0], spec.problem_size
    return spec.learned_from / (S * A), noise.scales[TRANSITIONS.family] * math.sqrt(S)
