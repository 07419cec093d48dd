"""The loop of policy elimination: stages that play several policies and learn from fresh batches (B25).

Each stage has H crude batches, one a layer, and one fine batch; every user is in one batch, and each batch's counts
are released once and then forgotten. Sizes of stages and batches depend on K alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.kernels import compiled, rng_type, type_of
from dprl.learners import ALGORITHMS
from dprl.learners.elimination import sdp_pe
from dprl.learners.elimination.sdp_pe import PolicyElimination
from dprl.mdp import planning
from dprl.mdp.counts import empty
from dprl.mdp.tabular import Array
from dprl.privacy import PRIVATIZERS, consistency, mechanisms
from dprl.privacy.privatizers import Batch
from dprl.simulation import schedule
from dprl.simulation.blocks import Model, model_of, sample
from dprl.simulation.loops.replan import PAC_ALPHAS, PRACTICAL_E, noise_of, problem_of
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Detail, SeedTrace

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Stage:
    """One stage: `length` users for the crude half and as many for the fine half, `each` of them for one (h, x, a)."""

    length: int
    each: int


def stages(K: int, tuples: int) -> list[Stage]:
    """The stages of a run of K users with `tuples` = H S A. L_b = 2^b; the last stage takes what is left.

    B25 Algorithm 1 (line 2) makes a short stage of its own of what is left after the last full one; here it is merged
    into that. Stages too short to give every (h, x, a) one user are skipped and use nobody.
    """
    result: list[Stage] = []
    left, length = K, 1
    while left >= 2 * tuples:
        length *= 2
        if length < tuples:
            continue
        if left < 2 * length + 2 * (2 * length):  # no room for another stage after this one
            length = left // 2
        result.append(Stage(length, length // tuples))
        left -= 2 * length
    return result


class StagedRun:
    """One seed of a policy-elimination run; used like SeedRun. policies: [N, H, S], those that may be played."""

    SERIES: tuple[str, ...] = ("active policies", "confidence width", "infrequent tuples")
    policies: Any

    def __init__(self, spec: RunSpec, seed: int) -> None:
        self.spec = spec
        self.seed = seed
        self.mdp = mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
        learner = ALGORITHMS[spec.algorithm]
        assert isinstance(learner, PolicyElimination)
        H, S, A = mdp.H, mdp.S, mdp.A
        self.problem = problem_of(spec, H, S, A, spec.episodes)
        self.stages = stages(spec.episodes, H * S * A)
        self._prepare()
        self.batches = [
            Batch(users, moved)
            for stage in self.stages
            for users, moved in [(S * A * stage.each, 2)] * H + [(H * S * A * stage.each, 3 * H)]
        ]
        ends = np.cumsum([batch.users for batch in self.batches]).astype(np.int64)
        self.noise = noise_of(spec, ends, batches=tuple(self.batches))
        self.error = PRACTICAL_E * self.noise.std if spec.bonus == "practical" else self.noise.bound
        self.optimum = planning.optimum(mdp)
        self.model = model_of(mdp, binary_rewards=PRIVATIZERS[spec.privacy].binary_rewards)
        self._kernels = _kernels(
            self.noise.mechanism.add_noise if self.noise.mechanism else mechanisms.no_noise
        )
        users, noise = np.random.SeedSequence([spec.root_seed, seed]).spawn(2)
        self._users_rng = np.random.Generator(np.random.SFC64(users))
        self._noise_rng = np.random.Generator(np.random.SFC64(noise))

        value = np.zeros((H + 1, S))
        self._kernels.evaluate(mdp.P, mdp.R, self.optimum.policy, value)
        self.V_star = value[0].copy()
        self.alphas = np.array(PAC_ALPHAS) * self.V_star.max()
        self._values: dict[int, Array] = {}
        self.favourite = 0  # the active policy that looked best after the last stage
        self.users = 0
        self.regret = 0.0
        self.gap = 0.0
        self.pac = np.zeros(len(PAC_ALPHAS), dtype=np.int64)
        self.ratio = 0.0
        self._rows: list[tuple[int, float, float, float, Ints]] = []
        self._details: list[Detail] = []
        self._series: list[tuple[float, ...]] = []
        self._wanted = set(self._checkpoints().tolist())
        self._steps = self._play()
        self.done = False
        self.seconds = 0.0

    def _prepare(self) -> None:
        """What the learner begins with."""
        self.policies = sdp_pe.all_policies(self.mdp.H, self.mdp.S, self.mdp.A)
        self.active = np.ones(len(self.policies), dtype=np.bool_)

    def _checkpoints(self) -> Ints:
        """Which of the ends of played blocks are recorded: about 200, log-spaced and linearly spaced, the last too."""
        ends: list[int] = []
        users, tuples = 0, self.mdp.H * self.mdp.S * self.mdp.A
        for stage in self.stages:
            for _ in range(2):
                for _ in range(tuples):
                    users += stage.each
                    ends.append(users)
                if stage.length > stage.each * tuples:
                    users += stage.length - stage.each * tuples
                    ends.append(users)
        if users < self.spec.episodes:
            ends.append(self.spec.episodes)
        times = np.array(ends, dtype=np.int64)
        return times[schedule.indices_at(times, 100, 100)]

    @property
    def progress(self) -> float:
        """Share of the stages finished, 0 to 1."""
        return 1.0 if self.done else len(self._details) / max(len(self.stages), 1)

    def advance(self, seconds: float = 0.1) -> bool:
        """Work for about `seconds`; True when the run is finished. Progress and cancelling come between calls."""
        began = time.perf_counter()
        while not self.done:
            self.done = next(self._steps, None) is None
            if time.perf_counter() - began >= seconds:
                break
        self.seconds += time.perf_counter() - began
        return self.done

    def _play(self) -> Iterator[bool]:
        """B25 Algorithm 1, a batch at a time."""
        mdp, H, S, A = self.mdp, self.mdp.H, self.mdp.S, self.mdp.A
        batch = 0
        for stage in self.stages:
            P = np.zeros((H, S, A, S))
            frequent = np.zeros((H, S, A, S), dtype=bool)
            for h in range(H):  # crude exploration, layer by layer
                counts = empty(H, S, A)
                for policy in self._visitors(P, h).ravel():
                    self._users_play(int(policy), stage.each, counts)
                released, _ = self._release(counts, batch)
                m, n = released[h, ..., :S], released[h, ..., S]
                frequent[h] = m > sdp_pe.rarely(self.problem, self.error[batch])
                P[h] = estimate(m, n, frequent[h])
                batch += 1
                yield True
            self._users_play(self.favourite, stage.length - H * S * A * stage.each, None)
            counts = empty(H, S, A)
            for h in range(H):  # fine exploration
                for policy in self._visitors(P, h).ravel():
                    self._users_play(int(policy), stage.each, counts)
            released, noisy = self._release(counts, batch)
            n = np.maximum(released[..., S], 1.0)
            refined = estimate(released[..., :S], released[..., S], frequent)
            rewards = np.clip(released[..., S + 1] / n, 0.0, 1.0)
            self._users_play(self.favourite, stage.length - H * S * A * stage.each, None)
            values = np.zeros(len(self.policies))
            self._kernels.values(self.policies, self.active, refined, rewards, mdp.d1, values)
            self.favourite = int(values.argmax())
            width = sdp_pe.width(self.problem, self.error[batch], stage.length)
            self.active &= values > values[self.favourite] - width
            self.active[self.favourite] = True  # also if C = 0 leaves no width
            self._detail(counts, noisy, released, refined, rewards, batch)
            self._series.append((float(self.active.sum()), width, float((~frequent).sum())))
            batch += 1
            yield True
        if self.users < self.spec.episodes:
            self._users_play(self.favourite, self.spec.episodes - self.users, None)

    def _visitors(self, P: Array, layer: int) -> Ints:
        chosen = np.zeros((self.mdp.S, self.mdp.A), dtype=np.int64)
        self._kernels.visitors(self.policies, self.active, P, self.mdp.d1, layer, chosen)
        return chosen

    def _users_play(self, policy: int, users: int, counts: Array | None) -> None:
        """`users` users follow one policy; their counts are added to `counts`, if a batch wants them."""
        if users <= 0:
            return
        S = self.mdp.S
        into = empty(self.mdp.H, S, self.mdp.A) if counts is None else counts
        starts, here, there = (np.zeros(S, dtype=np.int64) for _ in range(3))
        self._kernels.sample(
            self._users_rng, self.model, self.policies[policy], users, into, starts, here, there
        )
        lost = np.maximum(self.V_star - self._value(policy), 0.0)
        self.users += users
        self.regret += float(starts @ lost)
        self.gap = float(self.mdp.d1 @ lost)
        self.pac += (starts[:, None] * (lost[:, None] > self.alphas)).sum(0)
        if self.users in self._wanted:
            self._rows.append((self.users, self.regret, self.gap, self.ratio, self.pac.copy()))

    def _value(self, policy: int) -> Array:
        """[S] exact value of a policy from each start state."""
        if policy not in self._values:
            value = np.zeros((self.mdp.H + 1, self.mdp.S))
            self._kernels.evaluate(self.mdp.P, self.mdp.R, self.policies[policy], value)
            self._values[policy] = value[0].copy()
        return self._values[policy]

    def _release(self, counts: Array, batch: int) -> tuple[Array, Array]:
        """A batch's counts as the learner sees them, and with their noise. All the planner learns of the users."""
        if self.noise.mechanism is None:
            return counts, counts
        noise = np.zeros(counts.size)
        memory = np.zeros((0, 0))
        stream = self.noise.stream
        self._kernels.add_noise(batch, stream.leaves, stream.knobs, memory, self._noise_rng, noise)
        added = noise.reshape(counts.shape) * self.noise.scales
        width = np.abs(added)
        worst = max(4.0 * width[..., :-1].max(), width[..., -1].max())
        self.ratio = max(self.ratio, float(worst / self.noise.bound[batch]))
        noisy = counts + added
        released = np.empty_like(noisy)
        self._kernels.publish(noisy, float(self.error[batch]), released)
        return released, noisy

    def _detail(
        self, counts: Array, noisy: Array, released: Array, P: Array, rewards: Array, batch: int
    ) -> None:
        """Record the stage: its fine batch, and the favourite policy with its values in the refined model."""
        mdp, policy = self.mdp, self.policies[self.favourite]
        Q, V = np.zeros((mdp.H, mdp.S, mdp.A)), np.zeros((mdp.H + 1, mdp.S))
        for h in range(mdp.H - 1, -1, -1):
            Q[h] = rewards[h] + P[h] @ V[h + 1]
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
                occupancy=planning.occupancy(mdp, policy),
                error_bound=float(self.noise.bound[batch]),
                error_used=float(self.error[batch]),
                optimism=float(np.mean(Q >= self.optimum.Q - 1e-9)),
            )
        )

    def live(self) -> tuple[Ints, Array]:
        """Checkpoints passed so far: episodes [c] and cumulative regret [c]."""
        return (
            np.array([row[0] for row in self._rows], dtype=np.int64),
            np.array([row[1] for row in self._rows]),
        )

    def trace(self) -> SeedTrace:
        """Everything recorded so far."""
        episodes, regret = self.live()
        series = np.array(self._series).reshape(-1, len(self.SERIES))
        return SeedTrace.build(
            spec=self.spec,
            seed=self.seed,
            complete=self.done,
            episodes=episodes,
            regret=regret,
            gap=np.array([row[2] for row in self._rows]),
            coverage_ratio=np.array([row[3] for row in self._rows]),
            pac_alpha=self.alphas,
            pac_count=np.array([row[4] for row in self._rows], dtype=np.int64).reshape(-1, len(self.alphas)),
            details=self._details,
            series=dict(zip(self.SERIES, series.T.copy(), strict=True)),
            mdp=self.mdp,
            optimum=self.optimum,
            guarantee=self.noise.card(),
            seconds=self.seconds,
            episodes_per_s=self.users / self.seconds if self.seconds > 0 else 0.0,
        )


def estimate(m: Array, n: Array, frequent: NDArray[np.bool_]) -> Array:
    """P^[.., x'] = m~/n~ for frequent tuples; what is missing to 1 goes to an absorbing state, kept implicit.

    Ratios are kept from adding up to more than 1, which noise can make them do.
    """
    P = np.where(frequent, m, 0.0) / np.maximum(n, 1.0)[..., None]
    result: Array = P / np.maximum(P.sum(-1, keepdims=True), 1.0)
    return result


@dataclass(frozen=True)
class StageKernels:
    """The compiled functions the stages are run with."""

    sample: Any
    evaluate: Any
    add_noise: Any
    publish: Any
    visitors: Any
    values: Any


@cache
def _kernels(add_noise: Any) -> StageKernels:
    f1, f4 = np.zeros(1), np.zeros((1, 1, 1, 1))
    f3, i1, i2 = np.zeros((1, 1, 1)), np.zeros(1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    model = type_of(Model(f4, f3, f4, f1, f4, f1, True))
    integers = type_of(i1)
    drawn = type_of(None)(
        rng_type(), model, type_of(i2), type_of(1), type_of(f4), integers, integers, integers
    )
    return StageKernels(
        compiled(sample, drawn),
        compiled(
            planning.evaluate, "void(float64[:,:,:,::1], float64[:,:,::1], int64[:,::1], float64[:,::1])"
        ),
        compiled(add_noise, mechanisms.SIGNATURE),
        compiled(consistency.consistent, consistency.SIGNATURE),
        compiled(sdp_pe.best_visitors, sdp_pe.VISITORS),
        compiled(sdp_pe.policy_values, sdp_pe.VALUES),
    )
