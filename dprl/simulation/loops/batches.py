"""The loop of learners that ask for regressions of their own values: batch -> matrices -> (ask -> answer) a step."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import cast

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.learners import ALGORITHMS
from dprl.learners.linear.value_iteration import (
    LinearProblem,
    Plan,
    ValueIterationLearner,
    batches,
    longest_weights,
)
from dprl.mdp import planning
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS
from dprl.privacy.errors import per_event
from dprl.privacy.privatizers import Noise
from dprl.simulation import schedules
from dprl.simulation.blocks import model_of
from dprl.simulation.details import Detail
from dprl.simulation.loops.batches_kernels import Setup, State, kernels_of, planner_of
from dprl.simulation.loops.slices import CHECKPOINTS, SlicedRun
from dprl.simulation.prepare import PAC_ALPHAS, noise_of, size_of
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints
from dprl.statistics.feature_gram import FeatureGram

MOST = 0.1  # by which share of the users so far a block may grow without privacy, as adaptive:0.1


class BatchRun(SlicedRun):
    """One seed of one spec of a learner that asks for regressions of its own values.

    Details hold the true counts, and as `noisy` and `released` the sums as they were released: [D, H, 1, d, d + 1], see
    statistics/feature_gram.py. Series: `sums`, without noise; `weights`, w~: [D, H, 1, d]; `indefinite`: [D] how many
    released matrices so far were not positive definite. Beliefs: see SeedTrace, of the weights of what was asked for.
    """

    setup: Setup
    state: State

    @staticmethod
    def noise_of_run(spec: RunSpec) -> Noise:
        """The noise of any seed, which follows from the spec alone."""
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
        value = np.zeros((mdp.H + 1, mdp.S))
        # by the same kernel as every policy's value, so that an optimal policy's regret is exactly zero
        self._kernels.evaluate(mdp.P, mdp.possible, mdp.R, self.optimum.policy, value)
        V_star = value[0].copy()
        mechanism, stream = noise.mechanism, noise.stream
        shift, pull = noise_told(spec, noise)
        bound = longest_weights(features)
        self._problem = problem = LinearProblem(size, spec.episodes, spec.beta or 0.1, bound, norm_of(spec))
        ends = ends_of(spec)
        self.setup = Setup(
            K=spec.episodes,
            releases=spec.work(spec.mechanism).releases,
            batch=int(ends[0]) if mechanism else 0,
            most=MOST,
            leaves=stream.leaves,
            batches=stream.batches,
            once=np.array([0, 1, -1]),
            bound=noise.bound,
            shift=shift,
            pull=pull,
            targets=schedules.targets(spec.episodes, *CHECKPOINTS),
            features=features,
            constants=planner_of(spec).constants(problem),
            scales=noise.scales,
            V_star=V_star,
            d1=mdp.d1,
            alphas=np.array(PAC_ALPHAS) * V_star.max(),
            walk_below=walk_below,
        )
        H, S, A, d = mdp.H, mdp.S, mdp.A, size.d
        cells = H * d * (d + 1) // 2 if mechanism else 0
        sums = np.zeros((H, 1, d, d + 1))
        centred = cast(FeatureGram, noise.statistic).centred
        plan = Plan(
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
        self.state = State(
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
            played=np.full((H, S), -1, dtype=np.int64),
            value=np.zeros((H + 1, S)),
            starts=np.zeros(S, dtype=np.int64),
            here=np.zeros(S, dtype=np.int64),
            there=np.zeros(S, dtype=np.int64),
            totals=np.zeros(2),
            pac=np.zeros(len(PAC_ALPHAS), dtype=np.int64),
        )
        self._kept: dict[str, list[Array]] = {"sums": [], "weights": [], "indefinite": []}
        self._asked: list[tuple[Array, float, float]] = []  # what vectors were of, and bounds on noise

    def _first_plan(self) -> None:
        # before any user: of noise there is none yet
        kernels, state = self._kernels, self.state
        kernels.release(
            0, 0, self._noise_rng, self.setup, state, kernels.step, kernels.add_noise, kernels.add_anew
        )
        state.played[:] = state.policy
        kernels.evaluate(self.mdp.P, self.mdp.possible, self.mdp.R, state.played, state.value)

    def _simulate(self, count: int, until: int) -> None:
        kernels = self._kernels
        kernels.simulate(
            count,
            until,
            self._users_rng,
            self._noise_rng,
            self.model,
            self.setup,
            self.state,
            self._record,
            kernels.step,
            kernels.add_noise,
            kernels.add_anew,
        )

    @property
    def progress(self) -> float:
        """Share of the releases made, 0 to 1; of about as many without privacy."""
        return min(super().progress, 1.0)

    @property
    def _detail_bytes(self) -> int:
        return int(8 * (2 * self.state.counts.size + 3 * self.state.sums.size))

    def _detail(self) -> Detail:
        state, plan = self.state, self.state.plan
        row = state.position[0] - 1 if self.noise.mechanism else 0
        for name, array in (
            ("sums", state.sums),
            ("weights", plan.weights),
            ("indefinite", plan.indefinite[0]),
        ):
            self._kept[name].append(np.array(array))
        means = self.mdp.R + np.einsum("hsax,hx->hsa", self.mdp.P, plan.V[1:])
        asked = (means - plan.middle[:, None, None]) / plan.unit[:, None, None]
        self._asked.append((asked, float(self.setup.shift[row]), float(self.setup.pull[row])))
        return Detail(
            episode=self.users,
            counts=state.counts.copy(),
            noisy=state.noisy.copy(),
            released=state.noisy.copy(),
            policy=plan.policy.astype(np.int16),
            Q=plan.Q.copy(),
            V=plan.V[:-1].copy(),
            occupancy=planning.occupancy(self.mdp, plan.policy),
            error_bound=float(self.setup.bound[row]),
            error_used=float(self.setup.pull[row]),
            optimism=float(np.mean(plan.Q >= self.optimum.Q - 1e-9)),
        )

    def _series(self) -> dict[str, Array]:
        return {name: np.array(arrays, dtype=float) for name, arrays in self._kept.items()}

    def _beliefs(self) -> dict[str, Array]:
        if not self._details:
            return {}
        planner, d, constants = planner_of(self.spec), self._problem.size.d, self.setup.constants
        asked, shift, pull = (np.array(values) for values in zip(*self._asked, strict=True))
        users = np.array([detail.episode for detail in self._details], dtype=float)
        released = np.array([detail.noisy for detail in self._details])
        believed = planner.confidence(released, shift, pull, users, constants)._asdict()
        sums, none = np.array(self._kept["sums"]), np.zeros(len(users))
        quiet = planner.confidence(sums, none, none, users, constants)._asdict()
        pairs, D = self.setup.features.reshape(-1, d), len(users)
        truth = np.linalg.lstsq(pairs, asked.reshape(-1, len(pairs)).T, rcond=None)[0].T
        return (
            {name: np.array(values) for name, values in believed.items()}
            | {f"noiseless {name}": np.array(values) for name, values in quiet.items()}
            | {"truth": truth.reshape(D, -1, d), "bound": np.full(D, planner.longest(self._problem))}
        )


def features_of(spec: RunSpec) -> Array:
    """[S, A, d], public."""
    made = ENVIRONMENTS[spec.environment].features
    assert made is not None
    return np.ascontiguousarray(made(**spec.environment_params))


def norm_of(spec: RunSpec) -> str:
    """Of changes, that the noise goes by; "" without privacy."""
    return MECHANISMS[spec.mechanism].norm if spec.mechanism else ""


def ends_of(spec: RunSpec) -> Ints:
    """[M] users at the ends of the batches; without privacy K alone, for blocks follow from what was released."""
    if spec.epsilon is None:
        return np.array([spec.episodes])
    ends = batches(spec.episodes, size_of(spec), spec.epsilon, norm_of(spec))
    return np.array([min(end, spec.episodes) for end in ends])


def noise_told(spec: RunSpec, noise: Noise) -> tuple[Array, Array]:
    """[M] each, what the learner is told of the noise of a matrix and of a vector.

    With printed constants the largest standard deviations that numbers have in the run, as the paper has them; else
    bounds: half of what noise may fail with is for matrices, whose norm is at most sqrt 2 times the length of their
    draws, and half for vectors.
    """
    nothing = np.zeros(1)
    if noise.mechanism is None:
        return nothing, nothing
    size, stream, M = size_of(spec), noise.stream, noise.stream.releases
    d, scale = size.d, float(noise.std[0] / noise.mechanism.std(stream)[0])
    matrix, vector = (scale * unit for unit in cast(FeatureGram, noise.statistic).units(size))
    alone = MECHANISMS["gaussian" if noise.mechanism.norm == "l2" else "laplace"]
    one = replace(stream, leaves=np.array([0, 1, -1]))
    if spec.bonus == "paper":
        worst = float(noise.mechanism.std(stream).max())
        if spec.calibration == "paper":
            worst = noise.statistic.noise_as_printed(
                spec.privacy, size, spec.episodes, spec.epsilon or 0.0, spec.delta or 0.0
            ).spread
        return np.full(M, matrix * worst), np.full(M, vector * float(alone.std(one)[0]))
    failure = per_event(spec.beta or 0.1, 2 * size.H, M)
    shift = matrix * sqrt(2) * noise.mechanism.length(stream, d * (d + 1) // 2, failure)
    return shift, np.full(M, vector * float(alone.length(one, d, failure)[0]))
