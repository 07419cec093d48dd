"""The loop of private least-squares value iteration, in which the learner requests one regression per step.

The curator releases matrices summed over all users. Then, from the last step to the first, it releases the vectors that
the learner requests for the values that it has just planned.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import cast

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.learners import ALGORITHMS
from dprl.learners.linear.value_iteration import (
    LinearProblem,
    ValueIterationLearner,
    ValueIterationPlan,
    batches,
    longest_weights,
)
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, mechanisms
from dprl.privacy.errors import per_event
from dprl.privacy.privatizers import Noise
from dprl.simulation.blocks import model_of
from dprl.simulation.details import Detail
from dprl.simulation.loops.batches_kernels import BatchSetup, BatchState, kernels_of, planner_of, simulate
from dprl.simulation.loops.linear import LinearRun
from dprl.simulation.prepare import noise_of, paper_noise
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints
from dprl.statistics.feature_gram import FeatureGram

ONCE = np.array([0, 1, -1])  # the leaves of a stream of one item, for noise that is drawn afresh
MOST = 0.1  # without privacy, the largest size of a block relative to the users so far, as in adaptive:0.1


class BatchRun(LinearRun):
    """A run with one random seed, whose learner requests a regression for each step after every batch.

    In the trace, `noisy` and `released` are the released sums [D, H, 1, d, d + 1] (see statistics/feature_gram.py), and
    `weights` are [D, H, 1, d]. Beliefs are about the weights of the regressions that the learner requested.
    """

    kernel = staticmethod(simulate)
    handed = "step", "add_noise", "add_anew"
    setup: BatchSetup
    state: BatchState

    @staticmethod
    def noise_of_run(spec: RunSpec) -> Noise:
        learner, features = cast(ValueIterationLearner, ALGORITHMS[spec.algorithm]), features_of(spec)
        ends, norm = ends_of(spec), norm_of(spec)
        statistic = replace(
            learner.seen(spec.bonus),
            releases=len(ends),
            norm=norm or "l2",
            spread=float(np.abs(features).sum(-1).max()),
        )
        return noise_of(spec, ends, statistic=statistic)

    def _prepare(self, plain: bool, walk_below: int) -> None:
        spec, mdp, noise = self.spec, self.mdp, self.noise
        features, size = features_of(spec), spec.problem_size
        self._kernels = kernels_of(spec, plain)
        self.model = model_of(mdp)
        mechanism, stream = noise.mechanism, noise.stream
        shift, pull = noise_told(spec, noise)
        self._planner, bound = planner_of(spec), longest_weights(features)
        self._problem = LinearProblem(size, spec.episodes, spec.beta or 0.1, bound, norm_of(spec))
        ends = ends_of(spec)
        self.setup = BatchSetup(
            releases=spec.work(spec.mechanism).releases,
            batch=int(ends[0]) if mechanism else 0,
            most=MOST,
            leaves=stream.leaves,
            once=ONCE,
            shift=shift,
            pull=pull,
            features=features,
            constants=self._planner.constants(self._problem),
            **self._fixed(walk_below),
        )
        H, S, A, d = mdp.H, mdp.S, mdp.A, size.d
        cells = H * d * (d + 1) // 2 if mechanism else 0
        sums = np.zeros((H, 1, d, d + 1))
        centred = cast(FeatureGram, noise.statistic).centred
        plan = ValueIterationPlan(
            Q=np.zeros((H, S, A)),
            V=np.zeros((H + 1, S)),
            policy=np.zeros((H, S), dtype=np.int64),
            middle=np.full(H, 0.5 if centred else 0.0),  # of the rewards of the last step, where V = 0
            unit=np.ones(H),
            inverse=np.zeros((H, 1, d, d)),
            bare_inverse=np.zeros((H, 1, d, d)),
            weights=np.zeros((H, 1, d)),
            bare_weights=np.zeros((H, 1, d)),
            indefinite=np.zeros(1),
        )
        self.state = BatchState(
            counts=empty(H, S, A),
            sums=sums,
            noisy=sums.copy() if mechanism else sums,
            moved=np.zeros((H, d, S)),
            fresh=np.zeros(d),
            plan=plan,
            policy=plan.policy,
            **self._playing(cells),
        )
        self._asked: list[tuple[Array, float, float]] = []

    def _first_plan(self) -> None:
        kernels = self._kernels
        kernels.answer(0, 0, self._noise_rng, self.setup, self.state, kernels.step, kernels.add_anew)

    @property
    def progress(self) -> float:
        """Return the share of the releases made so far, from 0 to 1. Without privacy, the total is an estimate."""
        return min(super().progress, 1.0)

    def _detail(self) -> Detail:
        setup, plan = self.setup, self.state.plan
        row = self.state.position[0] - 1 if self.noise.mechanism else 0
        shift, pull = float(setup.shift[row]), float(setup.pull[row])
        means = self.mdp.R + np.einsum("hsax,hx->hsa", self.mdp.P, plan.V[1:])
        asked = (means - plan.middle[:, None, None]) / plan.unit[:, None, None]
        self._asked.append((asked, shift, pull))
        return self._seen(self.state.counts, row, pull)

    def _beliefs(self) -> dict[str, Array]:
        if not self._details:
            return {}
        asked, shift, pull = (np.array(values) for values in zip(*self._asked, strict=True))
        pairs = self.setup.features.reshape(-1, self._problem.size.d)
        truth = np.linalg.lstsq(pairs, asked.reshape(-1, len(pairs)).T, rcond=None)[0].T
        truth = truth.reshape(len(asked), -1, pairs.shape[1])
        longest = self._planner.longest(self._problem)
        return self._believed(self._planner.confidence, (shift, pull), truth, longest)


def features_of(spec: RunSpec) -> Array:
    """Return the environment's public features of states and actions, [S, A, d]."""
    made = ENVIRONMENTS[spec.environment].features
    assert made is not None
    return np.ascontiguousarray(made(**spec.environment_params))


def norm_of(spec: RunSpec) -> str:
    """Return the norm in which the noise's sensitivity is measured, such as "l2", or "" without privacy."""
    return MECHANISMS[spec.mechanism].norm if spec.mechanism else ""


def ends_of(spec: RunSpec) -> Ints:
    """Return the number of users at the end of each batch, [M], or only the total K without privacy."""
    if spec.epsilon is None:
        return np.array([spec.episodes])
    ends = batches(spec.episodes, spec.problem_size, spec.epsilon, norm_of(spec))
    return np.array([min(end, spec.episodes) for end in ends])


def noise_told(spec: RunSpec, noise: Noise) -> tuple[Array, Array]:
    """Return the size of the noise that the learner assumes in each released matrix and each released vector, [M].

    With the paper's constants, these are the largest standard deviations in the run. Otherwise, they are bounds that
    hold for all steps and releases together. Half of the failure probability is then for vectors, and half is for
    matrices, whose norm is at most sqrt 2 times the length of their draws.
    """
    mechanism, stream, size = noise.mechanism, noise.stream, spec.problem_size
    if mechanism is None:
        return np.zeros(1), np.zeros(1)
    M, d = stream.releases, size.d
    scale = float(noise.std[0] / mechanism.std(stream)[0])
    matrix, vector = (scale * unit for unit in cast(FeatureGram, noise.statistic).units(size))
    alone, one = mechanisms.alone(mechanism), replace(stream, leaves=ONCE)
    if spec.bonus != "paper":
        failure = per_event(spec.beta or 0.1, 2 * size.H, M)
        shift = matrix * sqrt(2) * mechanism.length(stream, d * (d + 1) // 2, failure)
        return shift, np.full(M, vector * float(alone.length(one, d, failure)[0]))
    worst = float(mechanism.std(stream).max())
    if spec.calibration == "paper":
        worst = paper_noise(spec, noise.statistic).spread
    return np.full(M, matrix * worst), np.full(M, vector * float(alone.std(one)[0]))
