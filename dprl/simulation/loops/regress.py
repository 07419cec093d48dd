"""The loop of value-targeted regression: schedule -> simulate users -> sums -> noise -> plan -> record."""

from __future__ import annotations

from typing import cast

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.learners.linear.learner import MixturePlan, MixtureProblem
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.privacy.privatizers import Noise
from dprl.simulation import schedules
from dprl.simulation.blocks import model_of
from dprl.simulation.details import Detail
from dprl.simulation.loops.linear import LinearRun
from dprl.simulation.loops.regress_kernels import (
    RegressionSetup,
    RegressionState,
    kernels_of,
    planner_of,
    simulate,
)
from dprl.simulation.prepare import paper_noise
from dprl.simulation.spec import RunSpec
from dprl.statistics.value_regression import ValueRegression


class RegressionRun(LinearRun):
    """A run with one random seed, whose learner uses value-targeted regression.

    In the trace, `noisy` and `released` are the released sums [D, H - 1, families, d, d + 1] (see
    statistics/value_regression.py), and `weights` are [D, H - 1, families, d].
    """

    kernel = staticmethod(simulate)
    handed = "growth", "next_release", "plan", "add_noise"
    setup: RegressionSetup
    state: RegressionState

    def _prepare(self, plain: bool, walk_below: int) -> None:
        spec, mdp, noise = self.spec, self.mdp, self.noise
        schedule, argument = schedules.parse(spec.schedule)
        made = ENVIRONMENTS[spec.environment].mixture
        assert made is not None
        self._mixture = mixture = made(**spec.environment_params)
        statistic = cast(ValueRegression, noise.statistic)
        size = spec.problem_size
        self._kernels = kernels_of(spec, plain)
        self.model = model_of(mdp)
        error = error_told(spec, noise)
        quantile = float(noise.radius()[-1] / noise.std[-1]) if noise.mechanism else 1.0
        problem = MixtureProblem(size, spec.episodes, spec.beta or 0.1, mixture.bound, statistic, quantile)
        self.setup = RegressionSetup(
            releases=noise.stream.releases,
            adapts=schedule.growth is not None,
            settings=schedule.settings(argument, spec.episodes),
            of_users=noise.stream.of_users,
            by_users=noise.by_users,
            ends=noise.ends,
            error=error,
            features=mixture.features,
            rewards=mdp.R,
            constants=np.ascontiguousarray(planner_of(spec).constants(problem)),
            **self._fixed(walk_below),
        )
        H, S, A, d, families = mdp.H, mdp.S, mdp.A, size.d, statistic.families
        mechanism, stream = noise.mechanism, noise.stream
        cells = statistic.cells(size) if mechanism else 0
        sums = np.zeros((H - 1, families, d, d + 1))
        plan = MixturePlan(
            Q=np.zeros((H, S, A)),
            V=np.zeros((H + 1, S)),
            policy=np.zeros((H, S), dtype=np.int64),
            middle=np.zeros((H, S, A)),
            unit=np.ones((H, S, A)),
            worth=np.ones((H, S, A)),
            inverse=np.zeros((H - 1, families, d, d)),
            weights=np.zeros((H - 1, families, d)),
            bare_inverse=np.zeros((H - 1, families, d, d)),
            bare_weights=np.zeros((H - 1, families, d)),
            indefinite=np.zeros(1),
        )
        self.state = RegressionState(
            leaves=stream.leaves.copy(),
            counts=empty(H, S, A),
            total=empty(H, S, A),
            sums=sums,
            noisy=sums.copy() if mechanism else sums,
            plan=plan,
            policy=plan.policy,
            **self._playing(cells),
        )

    def _first_plan(self) -> None:
        setup, state = self.setup, self.state
        self._kernels.plan(state.noisy, 0.0, 0, setup.features, setup.rewards, setup.constants, state.plan)

    def _detail(self) -> Detail:
        row = self.state.position[2]
        return self._seen(self.state.total, row, float(self.setup.error[row]))

    def _beliefs(self) -> dict[str, Array]:
        confidence = planner_of(self.spec).confidence
        if confidence is None or not self._details:
            return {}
        errors = np.array([detail.error_used for detail in self._details])
        truth = np.tile(self._mixture.weights(self.mdp.P)[:-1], (len(errors), 1, 1))
        return self._believed(confidence, (errors,), truth, self._mixture.bound)


def error_told(spec: RunSpec, noise: Noise) -> Array:
    """Return the size of the noise that the learner assumes, [B]. With the paper's bonus, it is the largest standard
    deviation of a sum in the run, as in the paper; otherwise, it is a bound on the length of d draws."""
    if spec.bonus != "paper":
        return noise.radius()
    worst = float(noise.std.max())
    if spec.calibration == "paper":
        paper = paper_noise(spec, noise.statistic)
        worst = paper.scale * paper.spread
    return np.full(len(noise.ends), worst)
