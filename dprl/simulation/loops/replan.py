"""The one loop: schedule -> sample block -> release -> plan -> record.

`SeedRun` prepares the arrays of one seed of one spec and runs the compiled loop in slices, so that progress,
live curves and cancelling come between slices. The slices do not affect the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.kernels import compiled, function_type, kernel, rng_type, type_of
from dprl.learners import ALGORITHMS, Problem
from dprl.learners.tabular import planner
from dprl.mdp import planning
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.privacy import PRIVATIZERS, consistency, mechanisms
from dprl.privacy.privatizers import Batch, Noise, Request
from dprl.simulation import schedule
from dprl.simulation.blocks import Model, model_of, sample, walk
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import DETAIL_BYTES, Detail, SeedTrace

Ints = NDArray[np.int64]

WALK_BELOW = 16  # blocks up to this size are walked user by user: cheaper, and equal in distribution
PRACTICAL_E = 12.0  # bonus="practical" replaces E by this many standard deviations of one counter
PAC_ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # shares of the best start state's optimal value


class Course(NamedTuple):
    """What is fixed before the run starts.

    times: [M + 1] users so far at each release, times[0] = 0; leaves: [M + 2], see privacy/mechanisms.py;
    bound: [M] E_{eps,beta}; error: [M] the E that the learner is told; checkpoint: [M] its row in the record, or -1;
    knobs: see there too; constants: the learner's; scales: [S + 2] of the noise in each counter of a row, in counts;
    V_star: [S] optimal value of each start state;
    d1: [S]; alphas: [P]; walk_below: see WALK_BELOW.
    """

    times: Ints
    leaves: Ints
    bound: Array
    error: Array
    checkpoint: Ints
    knobs: Array
    constants: Array
    scales: Array
    V_star: Array
    d1: Array
    alphas: Array
    walk_below: int


class State(NamedTuple):
    """What the loop changes. counts, noisy, released: [H, S, A, S + 2] (one array when there is no noise);
    noise: [cells] unit noise in the sums; memory: the mechanism's; Q: [H, S, A], V: [H + 1, S], policy: [H, S] the
    learner's; played: [H, S] the policy whose exact values [H + 1, S] are in `value`; starts, here, there: [S];
    totals: [2], regret so far and largest noise so far relative to what E allows; pac: [P]."""

    counts: Array
    noisy: Array
    released: Array
    noise: Array
    memory: Array
    Q: Array
    V: Array
    policy: Ints
    played: Ints
    value: Array
    starts: Ints
    here: Ints
    there: Ints
    totals: Array
    pac: Ints


class Record(NamedTuple):
    """What is kept at each of C checkpoints. regret, gap, ratio: [C]; pac: [C, P]."""

    regret: Array
    gap: Array
    ratio: Array
    pac: Ints


@kernel
def simulate(start, stop, users_rng, noise_rng, model, course, state, record, plan, add_noise, publish):  # type: ignore[no-untyped-def]
    """Run releases start..stop-1. `plan` is handed released counts only; that is the privacy of it."""
    S = state.starts.shape[0]
    for i in range(start, stop):
        users = course.times[i + 1] - course.times[i]
        if users <= course.walk_below:
            walk(users_rng, model, state.policy, users, state.counts, state.starts)
        else:
            sample(users_rng, model, state.policy, users, state.counts, state.starts, state.here, state.there)
        gap = 0.0
        for s in range(S):
            lost = max(course.V_star[s] - state.value[0, s], 0.0)
            gap += course.d1[s] * lost
            state.totals[0] += state.starts[s] * lost
            for j in range(course.alphas.shape[0]):
                if lost > course.alphas[j]:
                    state.pac[j] += state.starts[s]

        if course.scales[0] > 0.0:
            add_noise(i, course.leaves, course.knobs, state.memory, noise_rng, state.noise)
            worst = add_scaled(state.counts, state.noise, course.scales, state.noisy)
            state.totals[1] = max(state.totals[1], worst / course.bound[i])
        publish(state.noisy, course.error[i], state.released)

        plan(state.released, course.error[i], course.constants, state.Q, state.V, state.policy)
        follow(model, state)

        row = course.checkpoint[i]
        if row >= 0:
            record.regret[row] = state.totals[0]
            record.gap[row] = gap
            record.ratio[row] = state.totals[1]
            for j in range(course.alphas.shape[0]):
                record.pac[row, j] = state.pac[j]


@kernel
def add_scaled(counts, noise, scales, noisy):  # type: ignore[no-untyped-def]
    """noisy = counts + scales * noise. Returns the smallest E for which this release is within bounds:
    |n^ - n|, |m^ - m| <= E / 4 and |r^ - r| <= E. noise: [cells], in the order of counts."""
    H, S, A, width = counts.shape
    worst_count = 0.0
    worst_reward = 0.0
    c = 0
    for h in range(H):
        for s in range(S):
            for a in range(A):
                for x in range(width - 1):
                    z = scales[x] * noise[c]
                    noisy[h, s, a, x] = counts[h, s, a, x] + z
                    worst_count = max(worst_count, abs(z))
                    c += 1
                z = scales[width - 1] * noise[c]
                noisy[h, s, a, width - 1] = counts[h, s, a, width - 1] + z
                worst_reward = max(worst_reward, abs(z))
                c += 1
    return max(4.0 * worst_count, worst_reward)


@kernel
def follow(model, state):  # type: ignore[no-untyped-def]
    """Evaluate the learner's policy exactly, if it is not the one already evaluated."""
    H, S = state.policy.shape
    same = True
    for h in range(H):
        for s in range(S):
            if state.policy[h, s] != state.played[h, s]:
                state.played[h, s] = state.policy[h, s]
                same = False
    if not same:
        planning.evaluate(model.P, model.R, state.played, state.value)


@kernel
def as_is(noisy, error, released):  # type: ignore[no-untyped-def]
    """Nothing to do: without noise `released` is the array of counts itself."""


class Kernels(NamedTuple):
    """The functions the loop is run with, compiled or plain."""

    simulate: Callable[..., None]
    plan: Callable[..., None]
    add_noise: Callable[..., None]
    publish: Callable[..., None]
    evaluate: Callable[..., None]


class SeedRun:
    """One seed of one spec. `plain=True` runs the same source as ordinary Python: same bits, far slower.

    `walk_below` decides which blocks are walked user by user (tests compare both ways).
    """

    def __init__(
        self, spec: RunSpec, seed: int, *, plain: bool = False, walk_below: int = WALK_BELOW
    ) -> None:
        self.spec = spec
        self.seed = seed
        self.mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
        mdp = self.mdp
        self.times = schedule.times(spec.schedule, spec.episodes)
        learner = ALGORITHMS[spec.algorithm]
        assert isinstance(learner, planner.Algorithm)
        self.noise = noise_of(spec, self.times)
        self.checkpoints = schedule.indices_at(self.times, 100, 100)
        self.optimum = planning.optimum(mdp)
        self._kernels = _plain(learner, self.noise) if plain else _compiled(learner, self.noise)
        self._prepare(learner, walk_below)
        users, noise = np.random.SeedSequence([spec.root_seed, seed]).spawn(2)
        self._users_rng = np.random.Generator(np.random.SFC64(users))
        self._noise_rng = np.random.Generator(np.random.SFC64(noise))
        if self.noise.mechanism and self.noise.mechanism.prepare:
            self.noise.mechanism.prepare(self._noise_rng, self.noise.stream, self.state.memory)
        self._next = 0
        self._pace = 1  # releases in the next call of the kernel
        self.seconds = 0.0

    def _prepare(self, learner: planner.Algorithm, walk_below: int) -> None:
        mdp, spec, noise = self.mdp, self.spec, self.noise
        H, S, A, M = mdp.H, mdp.S, mdp.A, len(self.times)
        problem = problem_of(spec, H, S, A, spec.episodes)
        self.model = model_of(mdp, binary_rewards=PRIVATIZERS[spec.privacy].binary_rewards)
        value = np.zeros((H + 1, S))
        # by the same kernel as every policy's value, so that an optimal policy's regret is exactly zero
        self._kernels.evaluate(mdp.P, mdp.R, self.optimum.policy, value)
        V_star = value[0].copy()
        checkpoint = np.full(M, -1, dtype=np.int64)
        checkpoint[self.checkpoints] = np.arange(len(self.checkpoints))
        self.course = Course(
            times=np.concatenate([[0], self.times]),
            leaves=noise.stream.leaves,
            knobs=noise.stream.knobs,
            bound=noise.bound,
            error=error_told(spec, noise),
            checkpoint=checkpoint,
            constants=learner.constants(problem),
            scales=noise.scales,
            V_star=V_star,
            d1=mdp.d1,
            alphas=np.array(PAC_ALPHAS) * V_star.max(),
            walk_below=walk_below,
        )
        counts = empty(H, S, A)
        private = noise.mechanism is not None
        cells = counts.size if private else 0
        rows = noise.mechanism.rows(noise.stream.items, noise.stream.releases) if noise.mechanism else 0
        self.state = State(
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
            pac=np.zeros(len(PAC_ALPHAS), dtype=np.int64),
        )
        C, P = len(self.checkpoints), len(PAC_ALPHAS)
        self.record = Record(np.zeros(C), np.zeros(C), np.zeros(C), np.zeros((C, P), dtype=np.int64))
        # before any user: every count zero, so every action looks as good as any and the lowest is played
        self._kernels.plan(
            self.state.released, 0.0, self.course.constants, self.state.Q, self.state.V, self.state.policy
        )
        self.state.played[:] = self.state.policy
        self._kernels.evaluate(mdp.P, mdp.R, self.state.played, self.state.value)
        details = min(40, max(2, DETAIL_BYTES // (8 * 3 * counts.size + 8 * H * S * (A + 3))))
        wanted = schedule.indices_at(self.times, details // 2, details - details // 2)
        self._detail_at = {int(i) for i in wanted}
        self._details: list[Detail] = []

    @property
    def done(self) -> bool:
        """Whether every release has been made."""
        return self._next >= len(self.times)

    @property
    def progress(self) -> float:
        """Share of the releases made, 0 to 1."""
        return self._next / len(self.times)

    def advance(self, seconds: float = 0.1) -> bool:
        """Work for about `seconds`; True when the run is finished. Progress and cancelling come between calls."""
        until = time.perf_counter() + seconds
        kernels = self._kernels
        while not self.done:
            began = time.perf_counter()
            stop = min(self._next + self._pace, 1 + self._next_detail())
            kernels.simulate(
                self._next,
                stop,
                self._users_rng,
                self._noise_rng,
                self.model,
                self.course,
                self.state,
                self.record,
                kernels.plan,
                kernels.add_noise,
                kernels.publish,
            )
            took = time.perf_counter() - began
            self.seconds += took
            if stop - self._next == self._pace:  # aim at calls of about 20 ms
                self._pace = max(1, min(int(self._pace * min(4.0, 0.02 / max(took, 1e-6))), 10**6))
            self._next = stop
            if stop - 1 in self._detail_at:
                self._details.append(self._detail(stop - 1))
            if time.perf_counter() >= until:
                break
        return self.done

    def _next_detail(self) -> int:
        return min(i for i in self._detail_at if i >= self._next)

    def _detail(self, i: int) -> Detail:
        state, Q_star = self.state, self.optimum.Q
        return Detail(
            episode=int(self.times[i]),
            counts=state.counts.copy(),
            noisy=state.noisy.copy(),
            released=state.released.copy(),
            policy=state.policy.astype(np.int16),
            Q=state.Q.copy(),
            V=state.V[:-1].copy(),
            occupancy=planning.occupancy(self.mdp, state.policy),
            error_bound=float(self.noise.bound[i]),
            error_used=float(self.course.error[i]),
            optimism=float(np.mean(state.Q >= Q_star - 1e-9)),
        )

    def live(self) -> tuple[Ints, Array]:
        """Checkpoints passed so far: episodes [c] and cumulative regret [c]."""
        passed = self._passed()
        return self.times[self.checkpoints[:passed]], self.record.regret[:passed].copy()

    def _passed(self) -> int:
        return int(np.searchsorted(self.checkpoints, self._next))

    def trace(self) -> SeedTrace:
        """Everything recorded so far."""
        passed = self._passed()
        played = int(self.times[self._next - 1]) if self._next else 0
        return SeedTrace.build(
            spec=self.spec,
            seed=self.seed,
            complete=self.done,
            episodes=self.times[self.checkpoints[:passed]],
            regret=self.record.regret[:passed].copy(),
            gap=self.record.gap[:passed].copy(),
            coverage_ratio=self.record.ratio[:passed].copy(),
            pac_alpha=self.course.alphas,
            pac_count=self.record.pac[:passed].copy(),
            details=self._details,
            series={},
            mdp=self.mdp,
            optimum=self.optimum,
            guarantee=self.noise.card(),
            seconds=self.seconds,
            episodes_per_s=played / self.seconds if self.seconds > 0 else 0.0,
        )


def problem_of(spec: RunSpec, H: int, S: int, A: int, K: int) -> Problem:
    """The public facts a learner's constants depend on."""
    return Problem(
        H,
        S,
        A,
        K,
        spec.beta or 0.1,
        spec.epsilon,
        spec.calibration,
        spec.bonus,
        dict(spec.algorithm_params),
    )


def error_told(spec: RunSpec, noise: Noise) -> Array:
    """[M] the E that the learner is told: E_{eps,beta}, or PRACTICAL_E standard deviations of one counter."""
    return PRACTICAL_E * noise.std if spec.bonus == "practical" else noise.bound


def noise_of(
    spec: RunSpec, times: Ints, *, exact: bool = True, batches: tuple[Batch, ...] | None = None
) -> Noise:
    """The noise of a run with these release times; with exact=False a preview of it."""
    S, A, H = ENVIRONMENTS[spec.environment].size(**spec.environment_params)
    request = Request(
        H=H,
        S=S,
        A=A,
        times=times,
        mechanism=spec.mechanism or "",
        calibration=spec.calibration or "",
        epsilon=spec.epsilon or 0.0,
        delta=spec.delta or 0.0,
        beta=spec.beta or 0.1,
        exact=exact,
        batches=batches,
    )
    return PRIVATIZERS[spec.privacy].prepare(request)


def _plain(learner: planner.Algorithm, noise: Noise) -> Kernels:
    if noise.mechanism is None:
        return Kernels(simulate, learner.plan, mechanisms.no_noise, as_is, planning.evaluate)
    publish = consistency.consistent if learner.input == "consistent" else consistency.unchanged
    return Kernels(simulate, learner.plan, noise.mechanism.add_noise, publish, planning.evaluate)


def _compiled(learner: planner.Algorithm, noise: Noise) -> Kernels:
    plain = _plain(learner, noise)
    return Kernels(
        compiled(simulate, _signature()),
        compiled(plain.plan, planner.SIGNATURE),
        compiled(plain.add_noise, mechanisms.SIGNATURE),
        compiled(plain.publish, consistency.SIGNATURE),
        compiled(
            planning.evaluate, "void(float64[:,:,:,::1], float64[:,:,::1], int64[:,::1], float64[:,::1])"
        ),
    )


@cache
def _signature() -> Any:
    """The declared types of `simulate`, read off small examples of its records."""
    f, i = np.zeros, np.zeros(1, dtype=np.int64)
    f1, f2, f3, f4, i2 = f(1), f((1, 1)), f((1, 1, 1)), f((1, 1, 1, 1)), np.zeros((1, 1), dtype=np.int64)
    model = Model(f4, f3, f4, f1, f4, f1, True)
    course = Course(i, i, f1, f1, i, f2, f1, f1, f1, f1, f1, 1)
    state = State(f4, f4, f4, f1, f2, f3, f2, i2, i2, f2, i, i, i, f1, i)
    record = Record(f1, f1, f1, i2)
    release = type_of(1)
    return type_of(None)(
        release,
        release,
        rng_type(),
        rng_type(),
        type_of(model),
        type_of(course),
        type_of(state),
        type_of(record),
        function_type(planner.SIGNATURE),
        function_type(mechanisms.SIGNATURE),
        function_type(consistency.SIGNATURE),
    )
