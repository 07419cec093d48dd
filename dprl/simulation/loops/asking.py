"""The common part of loops whose learner asks, step by step, for regressions of its own values.

The curator releases matrices that sum over all users. Then, for each step from the last one on, it releases the
vectors that the learner requests for the values it has just planned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import sqrt
from typing import Any, NamedTuple, cast

import numpy as np

from dprl.engine import compiled, function_type, rng_type, type_of
from dprl.environments import ENVIRONMENTS
from dprl.learners.linear.value_iteration import LinearProblem, longest_weights
from dprl.mdp import planning
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, mechanisms
from dprl.privacy.errors import per_event
from dprl.privacy.mechanisms import Mechanism, no_noise
from dprl.privacy.privatizers import Noise
from dprl.simulation.loops.linear import LinearRun
from dprl.simulation.prepare import size_of
from dprl.simulation.spec import RunSpec
from dprl.statistics.feature_gram import FeatureGram

ONCE = np.array([0, 1, -1])  # the leaves of a stream of one item, for noise that is drawn afresh


class AskingKernels(NamedTuple):
    """The functions that the loop runs with, compiled or plain."""

    simulate: Callable[..., None]
    answer: Callable[..., None]
    step: Callable[..., None]
    add_noise: Callable[..., None]
    add_anew: Callable[..., None]
    evaluate: Callable[..., None]


class AskingRun(LinearRun):
    """One seed of a spec of such a learner. Beliefs are as in SeedTrace, about the weights in question."""

    _kernels: AskingKernels
    _planner: Any
    _problem: LinearProblem
    _asked: list[
        tuple[Array, float, float, float]
    ]  # what vectors were of, the two bounds on noise, and users

    @property
    def _handed(self) -> tuple[Callable[..., Any], ...]:
        kernels = self._kernels
        return kernels.step, kernels.add_noise, kernels.add_anew

    def _first_plan(self) -> None:
        # before any user, when there is no noise yet
        kernels = self._kernels
        kernels.answer(0, 0, self._noise_rng, self.setup, self.state, kernels.step, kernels.add_anew)
        self._value_first()

    def _beliefs(self) -> dict[str, Array]:
        if not self._details:
            return {}
        asked, shift, pull, users = (np.array(values) for values in zip(*self._asked, strict=True))
        pairs = self.setup.features.reshape(-1, self._problem.size.d)
        truth = np.linalg.lstsq(pairs, asked.reshape(-1, len(pairs)).T, rcond=None)[0].T
        truth = truth.reshape(len(users), -1, pairs.shape[1])
        longest = self._planner.longest(self._problem)
        return self._believed(self._planner.confidence, (shift, pull), users, truth, longest)


def features_of(spec: RunSpec) -> Array:
    """Return the public features, [S, A, d]."""
    made = ENVIRONMENTS[spec.environment].features
    assert made is not None
    return np.ascontiguousarray(made(**spec.environment_params))


def norm_of(spec: RunSpec) -> str:
    """Return the norm of changes that determines the noise, or "" without privacy."""
    return MECHANISMS[spec.mechanism].norm if spec.mechanism else ""


def linear_problem_of(spec: RunSpec) -> LinearProblem:
    """Return the numbers that determine the constants."""
    bound = longest_weights(features_of(spec))
    return LinearProblem(size_of(spec), spec.episodes, spec.beta or 0.1, bound, norm_of(spec))


def units_of(spec: RunSpec, noise: Noise) -> tuple[float, float]:
    """Return the standard deviations in a matrix and in a vector, if the draws have standard deviation 1."""
    assert noise.mechanism is not None
    scale = float(noise.std[0] / noise.mechanism.std(noise.stream)[0])
    matrix, vector = cast(FeatureGram, noise.statistic).units(size_of(spec))
    return scale * matrix, scale * vector


def lengths_told(spec: RunSpec, noise: Noise, vectors: int) -> tuple[Array, Array]:
    """Return bounds [M] on the noise of a matrix and of a vector, for all steps and releases together.

    Half of the noise's failure probability is for matrices, whose norm is at most sqrt 2 times the length of their
    draws, and half for all vectors of the run.
    """
    assert noise.mechanism is not None
    size, stream, beta = size_of(spec), noise.stream, spec.beta or 0.1
    d, (matrix, vector) = size.d, units_of(spec, noise)
    failure = per_event(beta, 2 * size.H, stream.releases)
    shift = matrix * sqrt(2) * noise.mechanism.length(stream, d * (d + 1) // 2, failure)
    failure = per_event(beta, 2 * size.H, vectors)
    length = float(alone(noise.mechanism).length(replace(stream, leaves=ONCE), d, failure)[0])
    return shift, np.full(stream.releases, vector * length)


def alone(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism that draws noise for a single vector, with the distribution behind a mechanism's losses."""
    return MECHANISMS["gaussian" if mechanism.norm == "l2" else "laplace"]


def asking_kernels(
    spec: RunSpec,
    simulate: Callable[..., None],
    answer: Callable[..., None],
    step: Callable[..., None],
    examples: Callable[[], tuple[Any, ...]],
    plain: bool,
) -> AskingKernels:
    """Return the kernels of a spec's loop; examples: small instances of its model, setup, state and record."""
    mechanism = MECHANISMS.get(spec.mechanism or "")
    found = AskingKernels(
        simulate,
        answer,
        step,
        mechanism.add_noise if mechanism else no_noise,
        mechanisms.anew(mechanism) if mechanism else no_noise,
        planning.evaluate,
    )
    if plain:
        return found
    return AskingKernels(*(compiled(f, one) for f, one in zip(found, _signatures(examples), strict=True)))


@cache
def _signatures(examples: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the declared types of all of `AskingKernels`, read off examples of the records."""
    model, setup, state, record = examples()
    whole, number, rng = type_of(1), type_of(1.0), rng_type()
    public = (type_of(setup.features), type_of(setup.constants))
    step = type_of(None)(whole, type_of(state.noisy), number, number, whole, *public, type_of(state.plan))
    called, noise = function_type(step), function_type(mechanisms.SIGNATURE)
    records = (type_of(setup), type_of(state))
    return (
        type_of(None)(
            whole, whole, rng, rng, type_of(model), *records, type_of(record), called, noise, noise
        ),
        type_of(None)(whole, whole, rng, *records, called, noise),
        step,
        mechanisms.SIGNATURE,
        mechanisms.SIGNATURE,
        planning.EVALUATE,
    )
