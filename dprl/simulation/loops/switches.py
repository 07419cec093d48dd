"""The loop of learners that plan rarely: block -> matrices -> (planned anew? -> ask -> answer) a step."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import cast

import numpy as np

from dprl.learners import ALGORITHMS
from dprl.learners.linear.switching import DOUBT, LAMBDA, SHARE, SwitchingLearner, SwitchingPlan, looks, plans
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.privacy.privatizers import Noise
from dprl.simulation.blocks import model_of
from dprl.simulation.details import Detail
from dprl.simulation.loops.asking import ONCE, AskingRun, features_of, lengths_told, linear_problem_of
from dprl.simulation.loops.switches_kernels import SwitchSetup, SwitchState, kernels_of, planner_of
from dprl.simulation.prepare import noise_of, size_of
from dprl.simulation.spec import RunSpec
from dprl.statistics.switched_gram import SwitchedGram

UNLIMITED = 2**31  # looks and plans without privacy, where nothing asks for a limit


class SwitchRun(AskingRun):
    """One seed of one spec of a learner that plans rarely.

    Details hold the true counts, and as `noisy` and `released` what the last plan was made from: [D, H, families, d,
    d + 1], see statistics/switched_gram.py; `weights`: [D, H, families, d]; `plans`: [D] plans so far. Beliefs are of
    what was asked for in the first family.
    """

    SERIES = (*AskingRun.SERIES, "plans")

    setup: SwitchSetup
    state: SwitchState

    @staticmethod
    def noise_of_run(spec: RunSpec) -> Noise:
        """The noise of any seed, which follows from the spec alone."""
        size, K = size_of(spec), spec.episodes
        if spec.epsilon is None:
            return noise_of(spec, np.array([K]))
        share = share_of(spec)
        often = looks(size, K, share)
        statistic = replace(learner_of(spec).seen(spec.bonus), releases=plans(size, K, share), looks=often)
        # when it looks follows from what was released; noise is for as many releases, whenever they are
        return noise_of(spec, np.append(np.arange(1, often), K), statistic=statistic)

    def _prepare(self, plain: bool, walk_below: int) -> None:
        spec, mdp, noise = self.spec, self.mdp, self.noise
        features, size = features_of(spec), size_of(spec)
        self._kernels = kernels_of(spec, plain)
        self.model = model_of(mdp)
        mechanism, stream = noise.mechanism, noise.stream
        shift, pull = noise_told(spec, noise)
        self._problem, self._planner = linear_problem_of(spec), planner_of(spec)
        self.setup = SwitchSetup(
            looks=stream.releases if mechanism else UNLIMITED,
            plans=plans(size, spec.episodes, share_of(spec)) if mechanism else UNLIMITED,
            ridge=LAMBDA + DOUBT * float(shift.max()),
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
        H, S, A, d, F = mdp.H, mdp.S, mdp.A, size.d, learner_of(spec).families
        cells = H * d * (d + 1) // 2 if mechanism else 0
        sums, looked = np.zeros((H, F, d, d + 1)), np.zeros((H, 1, d, d + 1))
        asked = np.zeros((H, F, S + 2))
        asked[-1] = self._planner.last(S)
        plan = SwitchingPlan(
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
        self.state = SwitchState(
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
            **self._playing(),
        )
        self._kept, self._asked = {name: [] for name in self.SERIES}, []

    @property
    def progress(self) -> float:
        """Share done, 0 to 1: of the doublings of users, as it looks at distances that double."""
        return 1.0 if self.done else log(1 + self.users) / log(1 + self.spec.episodes)

    def _detail(self) -> Detail:
        state, setup = self.state, self.setup
        made, at = (int(state.position[i]) for i in (6, 7))  # looks before the last plan, users then
        row = max(made - 1, 0) if self.noise.mechanism else 0
        S, first = self.mdp.S, state.plan.asked[:, 0]
        asked = np.einsum("hsax,hx->hsa", self.mdp.P, first[:, :S]) + first[:, S, None, None]
        asked = asked + self.mdp.R * first[:, S + 1, None, None]
        noise = (float(setup.shift[row]), float(setup.pull[row])) if at else (0.0, 0.0)
        self._asked.append((asked, *noise, float(at)))
        return self._seen(state.total, row, float(setup.pull[row]), plans=state.position[5])


def learner_of(spec: RunSpec) -> SwitchingLearner:
    """The learner of a spec that this loop plays."""
    return cast(SwitchingLearner, ALGORITHMS[spec.algorithm])


def share_of(spec: RunSpec) -> float:
    """Plans that there may be, in units of d log2(K + 1)."""
    return float(spec.algorithm_params[SHARE.name])


def noise_told(spec: RunSpec, noise: Noise) -> tuple[Array, Array]:
    """[looks] each, bounds on the noise of a matrix and of a vector, for all steps, families, looks and plans."""
    if noise.mechanism is None:
        return np.zeros(1), np.zeros(1)
    statistic = cast(SwitchedGram, noise.statistic)
    return lengths_told(spec, noise, statistic.families * statistic.releases)
