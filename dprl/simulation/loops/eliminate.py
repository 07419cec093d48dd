"""The loop of policy elimination: each stage plays several policies and learns from fresh batches (Bai et al. 2025).

The learner proposes policies and learns from the releases. The model and the true counts stay here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from dprl.engine import compiled, rng_type, type_of
from dprl.learners import ALGORITHMS
from dprl.learners.elimination.eliminator import Block, EliminationLearner, StageEstimate, batches, stages
from dprl.mdp import planning
from dprl.mdp.counts import empty
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.privacy import PRIVATIZERS, mechanisms
from dprl.privacy.privatizers import Batch, Noise
from dprl.simulation import schedules
from dprl.simulation.blocks import EXAMPLE, model_of, sample
from dprl.simulation.details import Detail, SeedTrace
from dprl.simulation.prepare import (
    PAC_ALPHAS,
    error_told,
    guarantee_of,
    noise_of,
    problem_of,
    streams,
    world_of,
)
from dprl.simulation.spec import AXIS, MEASURE, RunSpec
from dprl.simulation.trace import Curve, Ints, known_of
from dprl.statistics import consistency
from dprl.statistics.counts import ADD_SCALED, add_scaled


def batches_of(spec: RunSpec) -> tuple[Batch, ...]:
    """Return the batches of users that the learner receives, in order."""
    record = cast(EliminationLearner, ALGORITHMS[spec.algorithm])
    return tuple(Batch(*b) for b in batches(spec.episodes, spec.problem_size, record.statistic))


def ends_of(played: tuple[Batch, ...]) -> Ints:
    return np.cumsum([batch.users for batch in played]).astype(np.int64)


class EliminationRun:
    """A policy-elimination run with one random seed."""

    kernel = staticmethod(sample)

    def __init__(self, spec: RunSpec, seed: int) -> None:
        self.spec = spec
        self.seed = seed
        self.mdp = mdp = world_of(spec)
        self._record = record = cast(EliminationLearner, ALGORITHMS[spec.algorithm])
        self.problem = problem_of(spec)
        self.stages = stages(spec.episodes, mdp.H * mdp.S * mdp.A)
        self.batches = batches_of(spec)
        self._ends = ends_of(self.batches)
        self.noise = self.noise_of_run(spec)
        self._errors = error_told(spec, self.noise)
        # the learner receives only this and the releases; its record declares both arguments as public
        self.learner = record.begin(self.problem, mdp.d1.copy())

        self.optimum = planning.optimum(mdp)
        self.model = model_of(mdp, binary_rewards=PRIVATIZERS[spec.privacy].binary_rewards)
        self._kernels = _compiled(
            self.noise.mechanism.add_noise if self.noise.mechanism else mechanisms.no_noise,
            record.statistic.publish,
        )
        self._users_rng, self._noise_rng = streams(spec, seed)
        self._values: dict[bytes, Array] = {}  # of the policies of this stage
        self.V_star = self._value(self.optimum.policy)
        self.alphas = np.array(PAC_ALPHAS) * self.V_star.max()
        self._counts = empty(mdp.H, mdp.S, mdp.A)  # of the batch being played

        self.users = 0
        self.regret = 0.0
        self.gap = 0.0
        self.pac = np.zeros(len(PAC_ALPHAS), dtype=np.int64)
        self.ratio = 0.0
        self._points: list[tuple[float, ...]] = []  # users, regret, gap, ratio, and pac at each checkpoint
        self._details: list[Detail] = []
        self._series: list[tuple[float, ...]] = []
        self._wanted = set(self._checkpoints().tolist())
        self.done = False
        self.seconds = 0.0

    @staticmethod
    def lack(spec: RunSpec) -> str:
        return "assets/engine.wasm does not contain the loop of policy elimination."

    @staticmethod
    def noise_of_run(spec: RunSpec) -> Noise:
        played = batches_of(spec)
        return noise_of(spec, ends_of(played), batches=played)

    def _checkpoints(self) -> Ints:
        """Choose about 200 block ends for the curve, spaced logarithmically and linearly, including the last."""
        tuples = self.mdp.H * self.mdp.S * self.mdp.A
        lengths: list[int] = []
        for stage in self.stages:
            lengths += 2 * [*[stage.each] * tuples, max(stage.length - stage.each * tuples, 0)]
        lengths.append(self.spec.episodes - sum(lengths))
        times = np.cumsum([length for length in lengths if length > 0], dtype=np.int64)
        return times[schedules.indices_at(times, 100, 100)]

    @property
    def progress(self) -> float:
        return 1.0 if self.done else len(self._details) / max(len(self.stages), 1)

    def advance(self, seconds: float = 0.1) -> bool:
        began = time.perf_counter()
        while not self.done:
            self._step()
            if time.perf_counter() - began >= seconds:
                break
        self.seconds += time.perf_counter() - began
        return self.done

    def _step(self) -> None:
        """Let users follow the policies that the learner proposes next, and pass the release to the learner."""
        exploration = self.learner.propose()
        if exploration is None:
            self.done = True
            return
        self._play(exploration.blocks, self._counts)
        if not exploration.release:
            self._play(exploration.idle, None)
            return
        counts, batch = self._counts, exploration.batch
        noisy, released = self._release(counts, batch)
        self._play(exploration.idle, None)
        estimate = self.learner.absorb(released, float(self._errors[self._row(batch)]))
        if estimate is not None:
            self._detail(counts, noisy, released, estimate, batch)
            self._series.append(estimate.series)
            self._values.clear()
        self._counts = empty(self.mdp.H, self.mdp.S, self.mdp.A)

    def _row(self, batch: int) -> int:
        """Return the index of the noise bound that applies at the end of a batch."""
        return int(np.searchsorted(self.noise.ends, self._ends[batch]))

    def _play(self, blocks: Sequence[Block], counts: Array | None) -> None:
        """Let users follow policies, one block at a time, and add their visits to `counts` unless it is None."""
        S = self.mdp.S
        for policy, users in blocks:
            if users <= 0:
                continue
            into = empty(self.mdp.H, S, self.mdp.A) if counts is None else counts
            starts, here, there = (np.zeros(S, dtype=np.int64) for _ in range(3))
            self._kernels.sample(self._users_rng, self.model, policy, users, into, starts, here, there)
            lost = np.maximum(self.V_star - self._value(policy), 0.0)
            self.users += users
            self.regret += float((starts * lost).sum())  # `@` would round as the CPU's BLAS does
            self.gap = float((self.mdp.d1 * lost).sum())
            self.pac += (starts[:, None] * (lost[:, None] > self.alphas)).sum(0)
            if self.users in self._wanted:
                self._points.append((self.users, self.regret, self.gap, self.ratio, *self.pac))

    def _value(self, policy: Policy) -> Array:
        """Return the exact value of a policy from each start state, [S]."""
        key = policy.tobytes()
        if key not in self._values:
            value = np.zeros((self.mdp.H + 1, self.mdp.S))
            self._kernels.evaluate(self.mdp.P, self.mdp.possible, self.mdp.R, policy, value)
            self._values[key] = value[0].copy()
        return self._values[key]

    def _release(self, counts: Array, batch: int) -> tuple[Array, Array]:
        """Return the noisy counts of a batch, and the processed counts that the learner receives."""
        if self.noise.mechanism is None:
            return counts, counts.copy()
        noise, memory, stream = np.zeros(counts.size), np.zeros((0, 0)), self.noise.stream
        self._kernels.add_noise(batch, stream.leaves, stream.batches, memory, self._noise_rng, noise)
        # NaN in `noisy` marks counters that are not declared possible, so the array must not contain old values
        noisy, released, row = np.zeros_like(counts), np.empty_like(counts), self._row(batch)
        worst = self._kernels.add_scaled(counts, noise, self.noise.scales, noisy)
        self.ratio = max(self.ratio, worst / float(self.noise.bound[row]))
        errors = np.full(counts.shape[:3], float(self._errors[row]))
        self._kernels.publish(noisy, errors, np.ones(self.mdp.H), released)
        return noisy, released

    def _detail(
        self, counts: Array, noisy: Array, released: Array, estimate: StageEstimate, batch: int
    ) -> None:
        """Store a stage's results: the counts of its last batch, and the estimated best policy with its values."""
        mdp, row = self.mdp, self._row(batch)
        P, R, policy = estimate.P, estimate.R, estimate.policy
        Q, V = np.zeros((mdp.H, mdp.S, mdp.A)), np.zeros((mdp.H + 1, mdp.S))
        for h in range(mdp.H - 1, -1, -1):
            Q[h] = R[h] + P[h] @ V[h + 1]
            V[h] = Q[h][np.arange(mdp.S), policy[h]]
        self._details.append(
            Detail(
                episode=self.users,
                counts=counts.copy(),
                noisy=noisy.copy(),
                released=released.copy(),
                policy=policy.astype(np.int16),
                Q=Q,
                V=V[:-1],
                error_bound=float(self.noise.bound[row]),
                error_used=float(self._errors[row]),
            )
        )

    @property
    def _columns(self) -> Array:
        """Return the users, regret, gap, noise ratio and suboptimal episodes at each checkpoint so far, [.., C]."""
        return np.array(self._points, dtype=float).reshape(-1, 4 + len(self.alphas)).T.copy()

    def curve(self) -> Curve:
        users, regret, *_ = self._columns
        return Curve(AXIS, MEASURE, users.astype(np.int64), regret)

    def trace(self) -> SeedTrace:
        names = self._record.series
        series = np.array(self._series).reshape(-1, len(names))
        _, _, gap, ratio, *pac = self._columns
        return SeedTrace.build(
            **known_of(self, self.done, guarantee_of(self.spec, self.noise), self.users),
            gap=gap,
            coverage_ratio=ratio,
            pac_alpha=self.alphas,
            pac_count=np.array(pac).T.astype(np.int64),
            details=self._details,
            series=dict(zip(names, series.T.copy(), strict=True)),
            mdp=self.mdp,
            optimum=self.optimum,
        )


class EliminationKernels(NamedTuple):
    """The compiled functions that simulate and release batches."""

    sample: Callable[..., None]
    evaluate: Callable[..., None]
    add_noise: Callable[..., None]
    add_scaled: Callable[..., float]
    publish: Callable[..., None]


@cache
def _compiled(add_noise: Callable[..., None], publish: Callable[..., None]) -> EliminationKernels:
    counts, states = np.zeros((1, 1, 1, 1)), np.zeros(1, dtype=np.int64)
    policy = states.reshape(1, 1)
    given = map(type_of, (EXAMPLE, policy, 1, counts, states, states, states))
    drawn: Any = type_of(None)(rng_type(), *given)
    return EliminationKernels(
        compiled(sample, drawn),
        compiled(planning.evaluate, planning.EVALUATE),
        compiled(add_noise, mechanisms.SIGNATURE),
        compiled(add_scaled, ADD_SCALED),
        compiled(publish, consistency.SIGNATURE),
    )
