"""Before privacy is spent on an uploaded data set: what noise does to a count, whether the bound can be above the least
there is, and from which budget or number of people it says something.

The learner itself is asked, its penalty included, by data sets that are made up from public numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.learners.offline.learner import Learned
from dprl.mdp import TabularMDP, planning
from dprl.mdp.counts import empty, rewards, transitions, visits
from dprl.privacy.curator import ONCE
from dprl.privacy.mechanisms import MECHANISMS
from dprl.simulation import datasets
from dprl.simulation.expected import Certain
from dprl.simulation.loops.offline import Curator, learned_from
from dprl.simulation.uploads.noise import noise_of, upload_problem_of
from dprl.simulation.uploads.spec import FIELDS, UploadSpec
from dprl.statistics import TRANSITIONS

CLOSE = 1.01  # ratio within which a least budget or number is found
MODELS = 3  # random ones that stand for what is not known of the visitor's
BETTER = 0.5  # of the way from what acting at random brings to the best: a bound that far up is useful


def imagined(spec: UploadSpec, everybody_alike: bool) -> Learned:
    """What is learned where every step brings the most that is declared, and every state stays what it is.

    Args:
        spec: its public numbers only; the data set is not read.
        everybody_alike: all do one thing in whichever state it is that is asked about, in as many episodes as may be,
            and noise adds all that it may, E: but for a chance of at most beta no data set has a higher bound. Else
            each person has one episode, and each action in each state has the same share.
    """
    S, A, H, _ = spec.problem_size
    errors = noise_of(spec)[1]
    record = empty(H, S, A)
    if everybody_alike:
        visits(record)[:, :, 0] = spec.public.episodes * spec.learned_from + max(errors.values())
    else:
        visits(record)[...] = spec.learned_from / (S * A)
    transitions(record)[...] = visits(record)[..., None] * np.eye(S)[:, None]
    rewards(record)[...] = visits(record)
    problem = replace(upload_problem_of(spec), errors=errors)
    if problem.rewards is not None:
        most = problem.rewards.max((1, 2), keepdims=True)
        problem = replace(problem, rewards=np.broadcast_to(most, problem.rewards.shape).copy())
    return learned_from(Certain(record, errors), spec.learner.plan(problem))[0]


def made_up(spec: UploadSpec) -> tuple[TabularMDP, ...]:
    """Random models of the declared sizes, with the declared start, and rewards where these are declared."""
    S, A, H, _ = spec.problem_size
    public = spec.public
    models = (ENVIRONMENTS["random"].make(S=S, A=A, H=H, seed=seed) for seed in range(MODELS))
    start = np.full(S, 1 / S) if public.start is None else public.start
    return tuple(
        replace(model, d1=start, R=model.R if public.rewards is None else public.rewards) for model in models
    )


def typical(spec: UploadSpec, models: tuple[TabularMDP, ...]) -> dict[str, float]:
    """What happens on average where n people act at random in these models, with the noise of the spec: `now`, what
    they get; `bound`, V~; `worth`, what the learned policy brings; and what is `best`. In units of the reward range.
    """
    noise, errors = noise_of(spec)
    problem, found = replace(upload_problem_of(spec), errors=errors), []
    for seed, model in enumerate(models):
        rng = np.random.Generator(np.random.SFC64(seed))
        record = datasets.sample(rng, model, datasets.parts("uniform", model), spec.learned_from)
        curator = Curator((record,), noise, errors, rng)
        learned = learned_from(curator, spec.learner.plan(problem))[0]
        ways = datasets.uniform_policy(model), learned.policy
        now, worth = (planning.policy_values(model, way) for way in ways)
        values = now, learned.V, worth, planning.optimum(model).V
        found.append([planning.start_value(model, V) for V in values])
    return dict(zip(("now", "bound", "worth", "best"), np.mean(found, axis=0).tolist(), strict=True))


def useful(spec: UploadSpec, models: tuple[TabularMDP, ...]) -> bool:
    """Whether the bound (of a learner without one, the policy) would be so far above acting at random, there."""
    found = typical(spec, models)
    got = found["worth" if spec.learner.unproved(spec.algorithm_params) else "bound"]
    return got >= found["now"] + BETTER * (found["best"] - found["now"]) > 0


def of_size(spec: UploadSpec, n: float) -> UploadSpec:
    """The spec with so many people, of whom the same share is held out."""
    return spec.replace(n=math.ceil(n), checked=round(n * spec.checked / spec.n))


def noise_on_a_count(spec: UploadSpec) -> float:
    """Standard deviation of the noise on the visits of an action in a state at a step."""
    noise = noise_of(spec)[0]
    assert noise.mechanism is not None
    name = spec.learner.families(upload_problem_of(spec), "calibrated")[0].name
    summed = spec.problem_size.S if name == TRANSITIONS.family else 1
    return float(noise.scales[name] * math.sqrt(summed) * MECHANISMS[noise.mechanism.key].std(ONCE)[0])


def reach(spec: UploadSpec) -> dict[str, Any]:
    """What has to be so for a bound above the least there is; from n, S, A, H, the budget, rewards and constants.

    Returns:
        given, n, H, beta, unproved: rho, people, and what the bound assumes.
        episodes: that one person may have at most. The forecast counts one of each.
        least: that an episode can bring, in the declared rewards.
        noise, average: standard deviation of the noise on the visits of an action in a state at a step, and what they
            are on average.
        typical: what `typical` says of MODELS random models of the size, in the declared rewards; and the least budget
            and n at which that is `useful`, as below.
        alike, even: of the two data sets of `imagined`, each with
            bound: the bound from the best first state; penalty: of the pair that is tried most, at one step; both in
                units of the reward range;
            budget, n: the least budget, with this n, and the least n, with this budget, at which the bound is not 0,
                rounded up to two digits; None where none that can be given is large enough.
    """
    H, least = spec.problem_size.H, spec.public.reward_range[0]
    found: dict[str, Any] = {
        "given": spec.rho,
        "n": spec.n,
        "learned_from": spec.learned_from,
        "episodes": spec.public.episodes,
        "H": H,
        "beta": spec.beta,
        "unproved": spec.learner.unproved(spec.algorithm_params),
        "least": H * least,
    }
    models = made_up(spec)

    def enough(value: float) -> bool:
        return useful(spec.replace(rho=value), models)

    found["noise"] = noise_on_a_count(spec)
    found["average"] = spec.learned_from / (spec.problem_size.S * spec.problem_size.A)
    found["typical"] = {
        **{
            key: float(spec.public.in_units(np.array(value), H))
            for key, value in typical(spec, models).items()
        },
        "budget": _least_enough(enough, found["given"], FIELDS["rho"].high),
        "n": _least_enough(lambda value: useful(of_size(spec, value), models), spec.n, FIELDS["n"].high),
    }
    for which, alike in (("alike", True), ("even", False)):
        learned = imagined(spec, alike)

        def above(changed: str, value: float, alike: bool = alike) -> bool:
            other = of_size(spec, value) if changed == "n" else spec.replace(rho=value)
            return bool(imagined(other, alike).V[0].max() > 0)

        found[which] = {
            "bound": float(learned.V[0].max()),
            "penalty": float(learned.penalty[:, 0, 0].min()),
            "budget": _least_enough(partial(above, "rho"), found["given"], FIELDS["rho"].high),
            "n": _least_enough(partial(above, "n"), spec.n, FIELDS["n"].high),
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
