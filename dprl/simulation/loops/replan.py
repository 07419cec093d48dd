"""The one loop: schedule -> sample block -> release -> plan -> record.

`SeedRun` prepares the arrays of one seed of one spec and runs the compiled loop in slices, so that progress,
live curves and cancelling come between slices. The slices do not affect the result.
"""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.mdp import planning
from dprl.mdp.counts import empty
from dprl.privacy import PRIVATIZERS
from dprl.privacy.privatizers import Noise
from dprl.simulation import schedules
from dprl.simulation.blocks import model_of
from dprl.simulation.details import DETAIL_BYTES, Detail, SeedTrace
from dprl.simulation.loops.replan_kernels import Record, Setup, State, kernels_of, planner_of
from dprl.simulation.prepare import (
    PAC_ALPHAS,
    error_told,
    guarantee_of,
    noise_of_schedule,
    problem_of,
    streams,
)
from dprl.simulation.spec import AXIS, MEASURE, RunSpec
from dprl.simulation.trace import Curve
from dprl.statistics.counts import Counts

WALK_BELOW = 16  # blocks up to this size are walked user by user: cheaper, and equal in distribution
CHECKPOINTS = (100, 100)  # points of the curve: log-spaced and linearly spaced


class SeedRun:
    """One seed of one spec.

    Args:
        spec: the run.
        seed: which of its seeds.
        plain: run the same source as ordinary Python: same bits, far slower.
        walk_below: which blocks are walked user by user (tests compare both ways).
    """

    def __init__(
        self, spec: RunSpec, seed: int, *, plain: bool = False, walk_below: int = WALK_BELOW
    ) -> None:
        self.spec = spec
        self.seed = seed
        self.mdp = mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
        schedule, argument = schedules.parse(spec.schedule)
        self.noise = noise = self.noise_of_run(spec)
        counts = cast(Counts, noise.statistic)
        units = (counts.visits, counts.reward)
        self.optimum = planning.optimum(mdp)
        self._kernels = kernels_of(spec, noise.statistic, plain)
        self.model = model_of(mdp, binary_rewards=PRIVATIZERS[spec.privacy].binary_rewards)
        value = np.zeros((mdp.H + 1, mdp.S))
        # by the same kernel as every policy's value, so that an optimal policy's regret is exactly zero
        self._kernels.evaluate(mdp.P, mdp.R, self.optimum.policy, value)
        V_star = value[0].copy()
        self.setup = Setup(
            K=spec.episodes,
            releases=noise.stream.releases,
            splits=schedule.limit is not None,
            settings=schedule.settings(argument, spec.episodes),
            of_users=noise.stream.of_users,
            batches=noise.stream.batches,
            by_users=noise.by_users,
            ends=noise.ends,
            bound=noise.bound,
            error=error_told(spec, noise),
            targets=schedules.targets(spec.episodes, *CHECKPOINTS),
            constants=planner_of(spec).constants(problem_of(spec, mdp.size, spec.episodes, units)),
            scales=noise.scales,
            V_star=V_star,
            d1=mdp.d1,
            alphas=np.array(PAC_ALPHAS) * V_star.max(),
            walk_below=walk_below,
        )
        self._allocate()
        self._users_rng, self._noise_rng = streams(spec, seed)
        if noise.mechanism and noise.mechanism.prepare:
            noise.mechanism.prepare(self._noise_rng, noise.stream, self.state.memory)
        # before any user: every count zero, so every action looks as good as any and the lowest is played
        state = self.state
        self._kernels.plan(state.released, 0.0, self.setup.constants, state.Q, state.V, state.policy)
        state.played[:] = state.policy
        self._kernels.evaluate(mdp.P, mdp.R, state.played, state.value)
        self._pace = 1  # releases in the next call of the kernel
        self.seconds = 0.0

    @staticmethod
    def noise_of_run(spec: RunSpec) -> Noise:
        """The noise of any seed, which follows from the spec alone."""
        return noise_of_schedule(spec, spec.episodes)

    def _allocate(self) -> None:
        H, S, A = self.mdp.H, self.mdp.S, self.mdp.A
        noise, stream = self.noise, self.noise.stream
        counts = empty(H, S, A)
        private = noise.mechanism is not None
        cells = counts.size if private else 0
        rows = noise.mechanism.rows(stream.items, stream.releases) if noise.mechanism else 0
        C, P = len(self.setup.targets), len(PAC_ALPHAS)
        self.state = State(
            position=np.zeros(5, dtype=np.int64),
            leaves=stream.leaves.copy(),
            counts=counts,
            noisy=empty(H, S, A) if private else counts,
            released=empty(H, S, A) if private else counts,
            noise=np.zeros(cells),
            memory=np.zeros((rows, cells)),
            Q=np.full((H, S, A), float(H)),
            V=np.zeros((H + 1, S)),
            policy=np.zeros((H, S), dtype=np.int64),
            played=np.full((H, S), -1, dtype=np.int64),
            value=np.zeros((H + 1, S)),
            starts=np.zeros(S, dtype=np.int64),
            here=np.zeros(S, dtype=np.int64),
            there=np.zeros(S, dtype=np.int64),
            totals=np.zeros(2),
            pac=np.zeros(P, dtype=np.int64),
        )
        self._record = Record(
            np.zeros(C, dtype=np.int64),
            np.zeros(C),
            np.zeros(C),
            np.zeros(C),
            np.zeros((C, P), dtype=np.int64),
        )
        details = min(40, max(2, DETAIL_BYTES // (8 * 3 * counts.size + 8 * H * S * (A + 3))))
        self._detail_at = schedules.targets(self.spec.episodes, details // 2, details - details // 2)
        self._details: list[Detail] = []

    @property
    def users(self) -> int:
        """Users who have played."""
        return int(self.state.position[1])

    @property
    def done(self) -> bool:
        """Whether every user has played."""
        return self.users >= self.spec.episodes

    @property
    def progress(self) -> float:
        """Share of the releases made, 0 to 1."""
        return 1.0 if self.done else float(self.state.position[0]) / self.setup.releases

    def advance(self, seconds: float = 0.1) -> bool:
        """Work for about `seconds`; True when the run is finished. Progress and cancelling come between calls."""
        until = time.perf_counter() + seconds
        kernels = self._kernels
        while not self.done:
            began, made = time.perf_counter(), self.state.position[0]
            target = int(self._detail_at[np.searchsorted(self._detail_at, self.users, side="right")])
            kernels.simulate(
                self._pace,
                target,
                self._users_rng,
                self._noise_rng,
                self.model,
                self.setup,
                self.state,
                self._record,
                kernels.next_release,
                kernels.plan,
                kernels.add_noise,
                kernels.publish,
            )
            took = time.perf_counter() - began
            self.seconds += took
            if self.state.position[0] - made == self._pace:  # aim at calls of about 20 ms
                self._pace = max(1, min(int(self._pace * min(4.0, 0.02 / max(took, 1e-6))), 10**6))
            if self.users >= target:
                self._details.append(self._detail())
            if time.perf_counter() >= until:
                break
        return self.done

    def _detail(self) -> Detail:
        state, row = self.state, self.state.position[2]
        return Detail(
            episode=self.users,
            counts=state.counts.copy(),
            noisy=state.noisy.copy(),
            released=state.released.copy(),
            policy=state.policy.astype(np.int16),
            Q=state.Q.copy(),
            V=state.V[:-1].copy(),
            occupancy=planning.occupancy(self.mdp, state.policy),
            error_bound=float(self.setup.bound[row]),
            error_used=float(self.setup.error[row]),
            optimism=float(np.mean(state.Q >= self.optimum.Q - 1e-9)),
        )

    @property
    def record(self) -> Record:
        """What was kept at the points passed so far."""
        points = self.state.position[3]
        users, regret, gap, ratio, pac = self._record
        return Record(
            users[:points].copy(),
            regret[:points].copy(),
            gap[:points].copy(),
            ratio[:points].copy(),
            pac[:points].copy(),
        )

    def curve(self) -> Curve:
        """Regret at the checkpoints passed so far."""
        record = self.record
        return Curve(AXIS, MEASURE, record.users, record.regret)

    def trace(self) -> SeedTrace:
        """Everything recorded so far."""
        record = self.record
        return SeedTrace.build(
            spec=self.spec,
            seed=self.seed,
            complete=self.done,
            curve=Curve(AXIS, MEASURE, record.users, record.regret),
            gap=record.gap,
            coverage_ratio=record.ratio,
            pac_alpha=self.setup.alphas,
            pac_count=record.pac,
            details=self._details,
            series={},
            mdp=self.mdp,
            optimum=self.optimum,
            guarantee=guarantee_of(self.spec, self.noise),
            seconds=self.seconds,
            rate=self.users / self.seconds if self.seconds > 0 else 0.0,
        )
