"""Play a run in short slices, between which callers can show progress or cancel. The slices do not affect results."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from dprl.mdp import planning
from dprl.mdp.tabular import Array
from dprl.privacy.privatizers import Noise
from dprl.simulation import schedules
from dprl.simulation.blocks import Model
from dprl.simulation.details import DETAIL_BYTES, Detail, SeedTrace
from dprl.simulation.loops.play import Record
from dprl.simulation.prepare import PAC_ALPHAS, guarantee_of, noise_of_schedule, streams, world_of
from dprl.simulation.spec import AXIS, MEASURE, RunSpec
from dprl.simulation.trace import Curve, known_of

WALK_BELOW = 16  # blocks of at most this many users are simulated user by user, which is cheaper
CHECKPOINTS = (100, 100)  # points of the curve, spaced logarithmically and linearly


class SlicedRun(ABC):
    """The base class of runs with one random seed and scheduled releases. If `plain`, Python plays a run instead of
    compiled code, with the same bits. Up to `walk_below` users are simulated one by one if they answer no questions."""

    kernel: Callable[..., Any]  # the loop itself, which numba compiles first when it plays the run
    handed: tuple[str, ...]  # the functions in `_kernels` that the loop calls, in the order of its arguments
    setup: Any
    state: Any
    model: Model
    _kernels: Any

    def __init__(
        self, spec: RunSpec, seed: int, *, plain: bool = False, walk_below: int = WALK_BELOW
    ) -> None:
        self.spec = spec
        self.seed = seed
        self.mdp = world_of(spec)
        self.noise = self.noise_of_run(spec)
        self.optimum = planning.optimum(self.mdp)
        self.seconds = 0.0
        self._pace = 1  # releases in the next call of the kernel
        self._users_rng, self._noise_rng = streams(spec, seed)
        self._details: list[Detail] = []
        self._kept: list[tuple[Any, ...]] = []  # the learner's own series, at each detail
        self._prepare(plain, walk_below)
        C, P, mechanism = len(self.setup.targets), len(PAC_ALPHAS), self.noise.mechanism
        users, pac = np.zeros(C, dtype=np.int64), np.zeros((C, P), dtype=np.int64)
        self._record = Record(users, np.zeros(C), np.zeros(C), np.zeros(C), pac)
        details = min(40, max(2, DETAIL_BYTES // self._detail_bytes))
        self._detail_at = schedules.targets(spec.episodes, details // 2, details - details // 2)
        if mechanism and mechanism.prepare:
            mechanism.prepare(self._noise_rng, self.noise.stream, self.state.memory)
        self._start()

    def _start(self) -> None:
        self._first_plan()
        state, mdp = self.state, self.mdp
        state.played[:] = state.policy
        self._kernels.evaluate(mdp.P, mdp.possible, mdp.R, state.played, state.value)

    @staticmethod
    def noise_of_run(spec: RunSpec) -> Noise:
        """Return the noise of a run, which is the same for all of its seeds."""
        return noise_of_schedule(spec, spec.episodes)

    @staticmethod
    def lack(spec: RunSpec) -> str:
        """Explain in one sentence why numba has to play a run; return "" if the WebAssembly module can."""
        return "assets/engine.wasm does not contain the loops of linear algorithms."

    @abstractmethod
    def _prepare(self, plain: bool, walk_below: int) -> None:
        """Create the run's kernels, setup and state."""

    def _fixed(self, walk_below: int) -> dict[str, Any]:
        """Return the setup fields that all loops share."""
        mdp, value = self.mdp, np.zeros((self.mdp.H + 1, self.mdp.S))
        # computed as in the loop, so optimal policies have no regret
        self._kernels.evaluate(mdp.P, mdp.possible, mdp.R, self._as_played(self.optimum.policy), value)
        V_star = value[0].copy()
        return {
            "K": self.spec.episodes,
            "batches": self.noise.stream.batches,
            "bound": self.noise.bound,
            "scales": self.noise.scales,
            "targets": schedules.targets(self.spec.episodes, *CHECKPOINTS),
            "V_star": V_star,
            "d1": mdp.d1,
            "alphas": np.array(PAC_ALPHAS) * V_star.max(),
            "walk_below": walk_below,
        }

    def _playing(self, cells: int) -> dict[str, Any]:
        """Return the state fields that all loops share, with arrays for `cells` counters."""
        H, S, mechanism, stream = self.mdp.H, self.mdp.S, self.noise.mechanism, self.noise.stream
        return {
            "position": np.zeros(5, dtype=np.int64),
            "noise": np.zeros(cells),
            "memory": np.zeros((mechanism.rows(stream.items, stream.releases) if mechanism else 0, cells)),
            "played": np.full((H, S), -1, dtype=np.int64),
            "value": np.zeros((H + 1, S)),
            **{name: np.zeros(S, dtype=np.int64) for name in ("starts", "here", "there")},
            "totals": np.zeros(2),
            "pac": np.zeros(len(PAC_ALPHAS), dtype=np.int64),
        }

    @abstractmethod
    def _first_plan(self) -> None:
        """Compute the policy that the first users follow."""

    def arguments(self, count: int, until: int) -> dict[str, Any]:
        """Return the arguments of `kernel`, by name and in order."""
        given = {
            "count": count,
            "until": until,
            "users_rng": self._users_rng,
            "noise_rng": self._noise_rng,
            "model": self.model,
            "setup": self.setup,
            "state": self.state,
            "record": self._record,
        }
        return given | {name: getattr(self._kernels, name) for name in self.handed}

    def _simulate(self, count: int, until: int) -> None:
        """Simulate users and make up to `count` releases; stop after the first release at or beyond `until` users."""
        self._kernels.simulate(*self.arguments(count, until).values())

    @property
    @abstractmethod
    def _detail_bytes(self) -> int:
        """Estimate how many bytes the details of one checkpoint need."""

    @abstractmethod
    def _detail(self) -> Detail:
        """Return the details of the current state."""

    def _as_played(self, policy: planning.Policy) -> planning.Policy | planning.Logits:
        """Convert a policy [H, S] to the type that the kernels of this run use."""
        return policy

    def _series(self) -> dict[str, Array]:
        """Return the learner's own measures, such as its weights, at each checkpoint with details."""
        return {}

    def _beliefs(self) -> dict[str, Array]:
        """Return the confidence sets for a linear model's weights at each checkpoint with details."""
        return {}

    @property
    def users(self) -> int:
        return int(self.state.position[1])

    @property
    def done(self) -> bool:
        return self.users >= self.spec.episodes

    @property
    def progress(self) -> float:
        """Return the share of the releases made so far, from 0 to 1."""
        return 1.0 if self.done else float(self.state.position[0]) / self.setup.releases

    def advance(self, seconds: float = 0.1) -> bool:
        until = time.perf_counter() + seconds
        while not self.done:
            began, made = time.perf_counter(), self.state.position[0]
            target = int(self._detail_at[np.searchsorted(self._detail_at, self.users, side="right")])
            self._simulate(self._pace, target)
            took = time.perf_counter() - began
            self.seconds += took
            if self.state.position[0] - made == self._pace:  # aim at calls of about 20 ms
                self._pace = max(1, min(int(self._pace * min(4.0, 0.02 / max(took, 1e-6))), 10**6))
            if self.users >= target:
                self._details.append(self._detail())
            if time.perf_counter() >= until:
                break
        return self.done

    @property
    def record(self) -> Record:
        return Record._make(values[: self.state.position[3]].copy() for values in self._record)

    def curve(self) -> Curve:
        record = self.record
        return Curve(AXIS, MEASURE, record.users, record.regret)

    def trace(self) -> SeedTrace:
        record = self.record
        return SeedTrace.build(
            **known_of(self, self.done, guarantee_of(self.spec, self.noise), self.users),
            gap=record.gap,
            coverage_ratio=record.ratio,
            pac_alpha=self.setup.alphas,
            pac_count=record.pac,
            details=self._details,
            series=self._series(),
            beliefs=self._beliefs(),
            mdp=self.mdp,
            optimum=self.optimum,
        )
