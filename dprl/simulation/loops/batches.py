"""The loop of learners that ask for regressions of their own values: batch -> matrices -> (ask -> answer) a step."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from dprl.learners import ALGORITHMS
from dprl.learners.linear.value_iteration import (
    ValueIterationLearner,
    ValueIterationPlan,
    batches,
)
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.privacy.privatizers import Noise
from dprl.simulation.blocks import model_of
from dprl.simulation.details import Detail
from dprl.simulation.loops.asking import (
    ONCE,
    AskingRun,
    alone,
    features_of,
    lengths_told,
    linear_problem_of,
    norm_of,
    units_of,
)
from dprl.simulation.loops.batches_kernels import BatchSetup, BatchState, kernels_of, planner_of, simulate
from dprl.simulation.prepare import noise_of, size_of
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints
from dprl.statistics.feature_gram import FeatureGram

MOST = 0.1  # without privacy, the share of the users so far by which a block may grow, as in adaptive:0.1


class BatchRun(AskingRun):
    """One seed of a spec of a learner that asks for regressions of its own values.

    Details hold the true counts and, as `noisy` and `released`, the released sums [D, H, 1, d, d + 1], see
    statistics/feature_gram.py; `weights` are [D, H, 1, d].
    """

    kernel = staticmethod(simulate)
    setup: BatchSetup
    state: BatchState

    @staticmethod
    def noise_of_run(spec: RunSpec) -> Noise:
        """Return the noise of any seed, which follows from the spec alone."""
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
        features, size = features_of(spec), size_of(spec)
        self._kernels = kernels_of(spec, plain)
        self.model = model_of(mdp)
        mechanism, stream = noise.mechanism, noise.stream
        shift, pull = noise_told(spec, noise)
        self._problem, self._planner = linear_problem_of(spec), planner_of(spec)
        ends = ends_of(spec)
        self.setup = BatchSetup(
            releases=spec.work(spec.mechanism).releases,
            batch=int(ends[0]) if mechanism else 0,
            most=MOST,
            leaves=stream.leaves,
            batches=stream.batches,
            once=ONCE,
            bound=noise.bound,
            shift=shift,
            pull=pull,
            features=features,
            constants=self._planner.constants(self._problem),
            scales=noise.scales,
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
            position=np.zeros(5, dtype=np.int64),
            counts=empty(H, S, A),
            sums=sums,
            noisy=sums.copy() if mechanism else sums,
            moved=np.zeros((H, d, S)),
            noise=np.zeros(cells),
            fresh=np.zeros(d),
            memory=np.zeros((mechanism.rows(stream.items, stream.releases) if mechanism else 0, cells)),
            plan=plan,
            policy=plan.policy,
            **self._playing(),
        )
        self._kept, self._asked = {name: [] for name in self.SERIES}, []

    @property
    def progress(self) -> float:
        """Return the share of the releases that are made, 0 to 1; their number is an estimate without privacy."""
        return min(super().progress, 1.0)

    def _detail(self) -> Detail:
        setup, plan = self.setup, self.state.plan
        row = self.state.position[0] - 1 if self.noise.mechanism else 0
        shift, pull = float(setup.shift[row]), float(setup.pull[row])
        means = self.mdp.R + np.einsum("hsax,hx->hsa", self.mdp.P, plan.V[1:])
        asked = (means - plan.middle[:, None, None]) / plan.unit[:, None, None]
        self._asked.append((asked, shift, pull, float(self.users)))
        return self._seen(self.state.counts, row, pull)


def ends_of(spec: RunSpec) -> Ints:
    """Return the users at the ends of the batches, [M]; without privacy only K, as blocks follow from releases."""
    if spec.epsilon is None:
        return np.array([spec.episodes])
    ends = batches(spec.episodes, size_of(spec), spec.epsilon, norm_of(spec))
    return np.array([min(end, spec.episodes) for end in ends])


def noise_told(spec: RunSpec, noise: Noise) -> tuple[Array, Array]:
    """Return the size of the noise of a matrix and of a vector, each [M], as the learner receives it.

    With the paper's constants, these are the largest standard deviations in the run, as in the paper; otherwise they
    are bounds.
    """
    if noise.mechanism is None:
        return np.zeros(1), np.zeros(1)
    stream, M = noise.stream, noise.stream.releases
    if spec.bonus != "paper":
        return lengths_told(spec, noise, M)
    matrix, vector = units_of(spec, noise)
    worst = float(noise.mechanism.std(stream).max())
    if spec.calibration == "paper":
        worst = noise.statistic.paper_noise(
            spec.privacy, size_of(spec), spec.episodes, spec.epsilon or 0.0, spec.delta or 0.0
        ).spread
    once = float(alone(noise.mechanism).std(replace(stream, leaves=ONCE))[0])
    return np.full(M, matrix * worst), np.full(M, vector * once)
