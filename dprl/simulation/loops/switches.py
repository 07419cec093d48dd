"""The loop of learners that plan rarely: block -> matrices -> (planned anew? -> ask -> answer) a step."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt
from typing import cast

import numpy as np

from dprl.learners import ALGORITHMS
from dprl.learners.linear.switching import DOUBT, LAMBDA, Plan, SwitchingLearner, looks, plans
from dprl.learners.linear.value_iteration import LinearProblem, longest_weights
from dprl.mdp import planning
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS
from dprl.privacy.errors import per_event
from dprl.privacy.privatizers import Noise
from dprl.simulation import schedules
from dprl.simulation.blocks import model_of
from dprl.simulation.details import Detail
from dprl.simulation.loops.batches import features_of, norm_of
from dprl.simulation.loops.slices import CHECKPOINTS, SlicedRun
from dprl.simulation.loops.switches_kernels import Setup, State, kernels_of, planner_of
from dprl.simulation.prepare import PAC_ALPHAS, noise_of, size_of
from dprl.simulation.spec import RunSpec
from dprl.statistics.switched_gram import SwitchedGram

UNLIMITED = 2**31  # looks and plans without privacy, where nothing asks for a limit


class SwitchRun(SlicedRun):
    """One seed of one spec of a learner that plans rarely.

    Details hold the true counts, and as `noisy` and `released` what the last plan was made from: [D, H, families, d,
    d + 1], see statistics/switched_gram.py. Series: `sums`, the same without noise; `weights`: [D, H, families, d];
    `indefinite`: [D] how many matrices that were planned with so far were not positive definite; `plans`: [D] plans so
    far. Beliefs: see SeedTrace, of the weights of what was asked for in the first family.
    """

    setup: Setup
    state: State

    @staticmethod
    def noise_of_run(spec: RunSpec) -> Noise:
        """The noise of any seed, which follows from the spec alone."""
        size, K = size_of(spec), spec.episodes
        if spec.epsilon is None:
            return noise_of(spec, np.array([K]))
        often = looks(size, K)
        statistic = replace(learner_of(spec).seen(spec.bonus), releases=plans(size, K), looks=often)
        # when it looks follows from what was released; noise is for as many releases, whenever they are
        return noise_of(spec, np.append(np.arange(1, often), K), statistic=statistic)

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
        bound, planner = longest_weights(features), planner_of(spec)
        self._problem = problem = LinearProblem(size, spec.episodes, spec.beta or 0.1, bound, norm_of(spec))
        self.setup = Setup(
            K=spec.episodes,
            looks=stream.releases if mechanism else UNLIMITED,
            plans=plans(size, spec.episodes) if mechanism else UNLIMITED,
            ridge=LAMBDA + DOUBT * float(shift.max()),
            leaves=stream.leaves,
            batches=stream.batches,
            once=np.array([0, 1, -1]),
            bound=noise.bound,
            shift=shift,
            pull=pull,
            targets=schedules.targets(spec.episodes, *CHECKPOINTS),
            features=features,
            constants=planner.constants(problem),
            scales=noise.scales,
            V_star=V_star,
            d1=mdp.d1,
            alphas=np.array(PAC_ALPHAS) * V_star.max(),
            walk_below=walk_below,
        )
        H, S, A, d, F = mdp.H, mdp.S, mdp.A, size.d, learner_of(spec).families
        cells = H * d * (d + 1) // 2 if mechanism else 0
        sums, looked = np.zeros((H, F, d, d + 1)), np.zeros((H, 1, d, d + 1))
        asked = np.zeros((H, F, S + 2))
        asked[-1] = planner.last(S)
        plan = Plan(
            Q=np.full((H, S, A), float(H)),
            V=np.zeros((H + 1, S)),
            policy=np.zeros((H, S), dtype=np.int64),
            floor=np.zeros((H, S, A)),
            low=np.zeros((H + 1, S)),
            worth=np.ones((H, S, A)),
            asked=asked,
            middle=np.full(H, 0.5),  # of the rewards of the last step, where V = 0
            unit=np.ones(H),
            inverse=np.zeros((H, F, d, d)),
            bare_inverse=np.zeros((H, F, d, d)),
            weights=np.zeros((H, F, d)),
            bare_weights=np.zeros((H, F, d)),
            indefinite=np.zeros(1),
        )
        self.state = State(
            position=np.zeros(9, dtype=np.int64),
            counts=empty(H, S, A),
            total=empty(H, S, A),
            weighted=empty(H, S, A),
            looked=looked,
            shown=looked.copy() if mechanism else looked,
            sums=sums,
            noisy=sums.copy() if mechanism else sums,
            noise=np.zeros(cells),
            fresh=np.zeros(F * d),
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
        self._kept: dict[str, list[Array]] = {"sums": [], "weights": [], "indefinite": [], "plans": []}
        self._asked: list[tuple[Array, float, float, float]] = []  # what vectors were of, bounds, and users

    def _first_plan(self) -> None:
        # before any user: of noise there is none yet
        kernels, state = self._kernels, self.state
        kernels.replan(0, 0, self._noise_rng, self.setup, state, kernels.step, kernels.add_anew)
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
        """Share done, 0 to 1: of the doublings of users, as it looks at distances that double."""
        return 1.0 if self.done else log(1 + self.users) / log(1 + self.spec.episodes)

    @property
    def _detail_bytes(self) -> int:
        return int(8 * (2 * self.state.counts.size + 3 * self.state.sums.size))

    def _detail(self) -> Detail:
        state, plan, setup = self.state, self.state.plan, self.setup
        made, at = (int(state.position[i]) for i in (6, 7))  # looks before the last plan, users then
        row = max(made - 1, 0) if self.noise.mechanism else 0
        for name, array in (
            ("sums", state.sums),
            ("weights", plan.weights),
            ("indefinite", plan.indefinite[0]),
            ("plans", state.position[5]),
        ):
            self._kept[name].append(np.array(array))
        S, first = self.mdp.S, plan.asked[:, 0]
        asked = np.einsum("hsax,hx->hsa", self.mdp.P, first[:, :S]) + first[:, S, None, None]
        asked = asked + self.mdp.R * first[:, S + 1, None, None]
        noise = (float(setup.shift[row]), float(setup.pull[row])) if at else (0.0, 0.0)
        self._asked.append((asked, *noise, float(at)))
        return Detail(
            episode=self.users,
            counts=state.total.copy(),
            noisy=state.noisy.copy(),
            released=state.noisy.copy(),
            policy=plan.policy.astype(np.int16),
            Q=plan.Q.copy(),
            V=plan.V[:-1].copy(),
            occupancy=planning.occupancy(self.mdp, plan.policy),
            error_bound=float(setup.bound[row]),
            error_used=float(setup.pull[row]),
            optimism=float(np.mean(plan.Q >= self.optimum.Q - 1e-9)),
        )

    def _series(self) -> dict[str, Array]:
        return {name: np.array(arrays, dtype=float) for name, arrays in self._kept.items()}

    def _beliefs(self) -> dict[str, Array]:
        if not self._details:
            return {}
        planner, d, constants = planner_of(self.spec), self._problem.size.d, self.setup.constants
        asked, shift, pull, users = (np.array(values) for values in zip(*self._asked, strict=True))
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


def learner_of(spec: RunSpec) -> SwitchingLearner:
    """The learner of a spec that this loop plays."""
    return cast(SwitchingLearner, ALGORITHMS[spec.algorithm])


def noise_told(spec: RunSpec, noise: Noise) -> tuple[Array, Array]:
    """[looks] each, bounds on the noise of a matrix and of a vector, for all steps, families, looks and plans together.

    Half of what noise may fail with is for matrices, whose norm is at most sqrt 2 times the length of their draws, and
    half for vectors.
    """
    if noise.mechanism is None:
        return np.zeros(1), np.zeros(1)
    size, stream = size_of(spec), noise.stream
    d, scale = size.d, float(noise.std[0] / noise.mechanism.std(stream)[0])
    statistic = cast(SwitchedGram, noise.statistic)
    matrix, vector = (scale * unit for unit in statistic.units(size))
    beta = spec.beta or 0.1
    failure = per_event(beta, 2 * size.H, stream.releases)
    shift = matrix * sqrt(2) * noise.mechanism.length(stream, d * (d + 1) // 2, failure)
    failure = per_event(beta, 2 * size.H * statistic.families, statistic.releases)
    alone, one = MECHANISMS["gaussian"], replace(stream, leaves=np.array([0, 1, -1]))
    return shift, np.full(stream.releases, vector * float(alone.length(one, d, failure)[0]))
