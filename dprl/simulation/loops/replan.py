"""The loop of learners that plan from counts: schedule -> simulate users -> add noise to counts -> plan -> record."""

from __future__ import annotations

from typing import cast

import numpy as np

from dprl.engine import compiled
from dprl.mdp import planning
from dprl.mdp.counts import empty
from dprl.privacy import PRIVATIZERS
from dprl.simulation import schedules
from dprl.simulation.blocks import model_of
from dprl.simulation.details import Detail
from dprl.simulation.loops.replan_kernels import (
    Kernels,
    Setup,
    State,
    functions_of,
    learn,
    learner_of,
    signatures_of,
    simulate,
)
from dprl.simulation.loops.slices import SlicedRun
from dprl.simulation.prepare import error_told, problem_of
from dprl.statistics.counts import Counts
from dprl.statistics.played import hidden


class SeedRun(SlicedRun):
    """A run with one random seed, whose learner plans from counts."""

    kernel = staticmethod(simulate)
    handed = "next_release", "plan", "add_noise", "publish"
    _kernels: Kernels
    setup: Setup
    state: State

    def _prepare(self, plain: bool, walk_below: int) -> None:
        spec, mdp, noise = self.spec, self.mdp, self.noise
        schedule, argument = schedules.parse(spec.schedule)
        counts = cast(Counts, noise.statistic)
        self._kernels = self._kernels_of(plain)
        self.model = model_of(mdp, binary_rewards=PRIVATIZERS[spec.privacy].binary_rewards)
        error = error_told(spec, noise)
        self.setup = Setup(
            releases=noise.stream.releases,
            splits=schedule.limit is not None,
            settings=schedule.settings(argument, spec.episodes),
            of_users=noise.stream.of_users,
            by_users=noise.by_users,
            ends=noise.ends,
            error=error,
            constants=learner_of(spec).planner(spec.bonus).constants(problem_of(spec, counts.ellipsoid)),
            played=counts.played,
            hidden=hidden(noise.by_users, noise.ends, error),
            rows=np.full(mdp.H, counts.ellipsoid[0]),
            groups=0 if noise.stream.questions is None else int(noise.stream.batches[0, 0]),
            shares=noise.stream.batches[-1],
            **self._fixed(walk_below),
        )
        H, S, A = mdp.H, mdp.S, mdp.A
        empties = empty(H, S, A, mdp.P.shape[3])
        private = noise.mechanism is not None
        cells = noise.statistic.cells(mdp.size) if private else 0
        noisy = empties.copy() if private else empties
        if private:
            noisy[..., :-2][np.broadcast_to(mdp.possible, mdp.P.shape) < 0] = np.nan
        policy: planning.Policy | planning.Logits = np.zeros((H, S), dtype=np.int64)
        if learner_of(self.spec).stochastic:
            policy = np.full((H, S, A), -np.log(A))
        self.state = State(
            leaves=noise.stream.leaves.copy(),
            counts=empties,
            noisy=noisy,
            released=empties.copy() if private else empties,
            Q=np.full((H, S, A), float(H)),
            V=np.zeros((H + 1, S)),
            policy=policy,
            errors=np.zeros((H, S, A)),
            bounds=np.zeros((H, S, A)),
            pace=np.full((H, S, A), self.setup.error[0]),
            kept=np.zeros((H, S, A), dtype=np.int64),
            places=np.zeros((H, S, A), dtype=np.int64),
            **self._playing(cells) | {"played": np.full_like(policy, -1)},
        )

    def _kernels_of(self, plain: bool) -> Kernels:
        functions = functions_of(self.spec, cast(Counts, self.noise.statistic))
        if plain:
            return functions
        signatures = signatures_of(learner_of(self.spec).stochastic)
        return Kernels(*(compiled(f, signature) for f, signature in zip(functions, signatures, strict=True)))

    def _as_played(self, policy: planning.Policy) -> planning.Policy | planning.Logits:
        if not learner_of(self.spec).stochastic:
            return policy
        return np.where(np.arange(self.mdp.A) == policy[..., None], 0.0, -np.inf)

    def _first_plan(self) -> None:
        # all counts are zero, so all actions look equal: the lowest is played, or all equally often
        state = self.state
        learn(self._kernels.plan, 0, self.model, self.setup, state, state.policy)

    @property
    def _detail_bytes(self) -> int:
        H, S, A = self.mdp.H, self.mdp.S, self.mdp.A
        return int(8 * 3 * self.state.counts.size + 8 * H * S * (A + 3) + self.state.policy.nbytes)

    def _detail(self) -> Detail:
        state, setup, row = self.state, self.setup, self.state.position[2]
        policy, chances = state.policy, None
        if policy.ndim == 3:
            policy, chances = policy.argmax(-1), np.exp(policy)
        return Detail(
            episode=self.users,
            counts=state.counts.copy(),
            noisy=state.noisy.copy(),
            released=state.released[: len(state.noisy)].copy(),
            policy=policy.astype(np.int16),
            Q=state.Q.copy(),
            V=state.V[:-1].copy(),
            error_bound=float(state.bounds.max() if setup.played else setup.bound[row]),
            error_used=float(state.errors.max() if setup.played else setup.error[row]),
            chances=chances,
            bounds=state.bounds.copy() if setup.played else None,
        )
