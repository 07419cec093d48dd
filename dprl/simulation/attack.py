"""The spec of an attack that guesses from simulated noisy releases which of two trajectories a user had."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dprl import names
from dprl.fields import Field, SpecError, reject
from dprl.learners import ALGORITHMS
from dprl.mdp.structure import Table
from dprl.mdp.tabular import Array
from dprl.messages.brief import described
from dprl.messages.labels import called, phrase
from dprl.privacy import MECHANISMS, attack
from dprl.privacy.attack import unit_noise
from dprl.privacy.mechanisms import stream_of_releases
from dprl.privacy.mechanisms.tree import levels
from dprl.privacy.privatizers import Noise
from dprl.simulation import kinds, structure
from dprl.simulation.axes import axis_value
from dprl.simulation.base import SAID, Spec, field_table
from dprl.simulation.cost import Estimate
from dprl.simulation.loops import loop_of
from dprl.simulation.prepare import guarantee_of
from dprl.simulation.spec import FIELDS as ONLINE
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Curve, TraceCore, known_of
from dprl.simulation.trajectory import Trajectory, farthest, nearest

POINTS = 10  # most points on the curve
MOST_DRAWS = 2e9  # most random numbers that one unit may draw
LEVELS = 64  # most levels of a tree
SLICE = 4  # fewest executions between two checks of the clock
USERS = 8  # in the collusion example
TREE = "laplace-tree"  # the paper's remedy for collusion

FIELDS = field_table("attack", ONLINE)


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackSpec(Spec):
    """An attack on a run's noise (see privacy/attack.py). Each unit of work simulates `executions` runs of each case.

    Raises:
        SpecError: A field is not allowed. The message names it and the allowed values.
    """

    run: RunSpec  # the run whose noise is attacked; its number of seeds has no effect
    # first, second: the two trajectories, as text for `Trajectory.parse`; by default, they differ as much as possible.
    # If a user may have several episodes, all of them follow the same trajectory.
    first: str = ""
    second: str = ""
    noise: str = "whole"
    places: str = "together"
    executions: names.Whole = 250  # type: ignore[assignment]
    seeds: names.Whole = 12  # type: ignore[assignment]
    root_seed: names.Whole = 0  # type: ignore[assignment]

    kind: ClassVar[str] = "attack"
    TABLE: ClassVar[Mapping[str, Field]] = FIELDS

    __repr__ = described

    def __post_init__(self) -> None:
        if self.run.baseline() == self.run:
            raise SpecError("privacy", "without privacy there is no noise to attack; choose a privacy model.")
        if ALGORITHMS[self.run.algorithm].forgets:
            raise reject("algorithm", SAID["batches"], algorithm=self.run.algorithm)
        if not ALGORITHMS[self.run.algorithm].statistic.counted:
            raise reject("algorithm", SAID["own_plans"], algorithm=self.run.algorithm)
        self._set("run", self.run.replace(seeds=1, root_seed=0))
        self._check_fields()
        if self.run.contribution == 1:
            self._set("places", FIELDS["places"].default)
        size = self.run.problem_size
        for name, usual in zip(("first", "second"), pairs_of(self.run)["farthest"], strict=True):
            text = getattr(self, name) or usual
            self._set(name, Trajectory.parse(name, text, size).text)
        if self.draws * self.executions > MOST_DRAWS:
            raise reject("schedule", SAID["draws"], runs=self.executions, draws=self.draws, most=MOST_DRAWS)

    @property
    def draws(self) -> int:
        """Return an upper bound on the number of random draws that one simulated run of both cases needs."""
        releases, m = self.run.work(self.run.mechanism).releases, self.run.contribution
        if m > 1:  # each episode is in its own report, or in a node on each level of a tree
            releases = max(releases, m * (LEVELS if self.places == "random" else 1))
        return 2 * 6 * self.run.problem_size.H * releases

    @property
    def size(self) -> int:
        """Return the largest value on the curve's axis: the number of simulated runs of each case."""
        return self.executions

    def label(self) -> str:
        return called(phrase("attack", run=self.run.label()), phrase("half") if self.noise == "half" else "")

    @property
    def _plugins(self) -> list[str]:
        return self.run._plugins

    def replace(self, **changes: Any) -> AttackSpec:
        return AttackSpec(**{f.name: getattr(self, f.name) for f in fields(self)} | changes)

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"run": self.run.to_dict()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> AttackSpec:
        return super().from_dict({**given, "run": RunSpec.from_dict(given.get("run", {}))})


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackTrace(TraceCore[AttackSpec]):
    """The result of one unit of an attack; its curve shows how well the scores separate the cases as runs are added."""

    # releases, counters: the numbers of releases and counters that differ between the two cases in one run
    releases: int
    counters: int
    # first, second: the log-likelihood ratios of the runs in each case [n]
    first: Array
    second: Array

    NOISY: ClassVar[Mapping[str, str]] = {"first": "second"}


class AttackRun:
    """One unit of an attack, while it is being computed."""

    def __init__(self, spec: AttackSpec, seed: int) -> None:
        self.spec, self.seed = spec, seed
        self._noise = loop_of(spec.run).noise_of_run(spec.run)
        self._game = game_of(spec, self._noise, seed)
        self._rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([spec.root_seed, seed])))
        self._scores: tuple[list[Array], list[Array]] = ([], [])
        self._played = 0
        self._slice = max(SLICE, min(spec.executions, attack.DRAWS // max(self._game.draws, 1)))
        self.seconds = 0.0

    @property
    def progress(self) -> float:
        return self._played / self.spec.executions

    def advance(self, seconds: float = 0.1) -> bool:
        began = time.perf_counter()
        while self._played < self.spec.executions:
            now = min(self._slice, self.spec.executions - self._played)
            for found, scores in zip(self._scores, self._game.play(self._rng, now), strict=True):
                found.append(scores)
            self._played += now
            if time.perf_counter() - began >= seconds:
                break
        self.seconds += time.perf_counter() - began
        return self._played == self.spec.executions

    def curve(self) -> Curve:
        """Return the separation of the scores at the points reached so far."""
        from dprl.metrics.attack import separation

        n = self.spec.executions
        at = np.unique(np.linspace(max(2, n // POINTS), n, POINTS).round().astype(np.int64))
        at = at[at <= self._played]
        first, second = self._all()
        values = np.array([separation(first[:k], second[:k]).value for k in at], dtype=float)
        return Curve(AXIS, MEASURE, at, values)

    def _all(self) -> tuple[Array, Array]:
        first, second = (np.concatenate([*found, np.zeros(0)]) for found in self._scores)
        return first, second

    def trace(self) -> AttackTrace:
        first, second = self._all()
        return AttackTrace(
            **known_of(self, self.progress == 1, guarantee_of(self.spec.run, self._noise), self._played),
            v_star=self._noise.separation,
            releases=self._game.stream.releases,
            counters=len(self._game.first),
            first=first,
            second=second,
        )


AXIS, MEASURE = "execution", "separation"


def possible_of(run: RunSpec) -> Table | None:
    """Return the table of transitions that a run declares to be possible, or None if it declares none."""
    return structure.declared(run.environment, run.environment_params)[0] if run.structure else None


def pairs_of(run: RunSpec) -> dict[str, tuple[str, str]]:
    """Return two pairs of trajectories: the "farthest" differ as much as possible, the "nearest" only in one reward."""
    size, table = run.problem_size, possible_of(run)
    return {"farthest": farthest(size, table), "nearest": nearest(size, table)}


def game_of(spec: AttackSpec, noise: Noise, seed: int) -> attack.Game:
    """Prepare the attacker's game. If the user's episodes have random positions, draw them once for each unit."""
    size, table = spec.run.problem_size, possible_of(spec.run)
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([spec.root_seed, seed, 1])))

    def added(name: str) -> Array:
        return Trajectory.parse(name, getattr(spec, name), size).counts(size, table).ravel()

    return attack.game(
        noise,
        added("first"),
        added("second"),
        half=spec.noise == "half",
        episodes=spec.run.contribution,
        places=rng if spec.places == "random" else None,
    )


def estimate(spec: AttackSpec) -> Estimate:
    """Return an upper bound on the cost of one unit, on one core of a machine with two cores."""
    seconds = 0.2 + spec.draws * spec.executions * 60e-9
    return Estimate(seconds, 8 * 8 * attack.DRAWS, spec.run.work(spec.run.mechanism).releases)


def collusion(spec: Any) -> dict[str, Any]:
    """Show that one draw of noise per counter does not protect against two colluding users (Vietri et al. 2020, 2.2).

    A counter of visits to one state is released after each of USERS users, at the epsilon of the attacked run. Each
    user sees the release made just after their own episode. If all releases have the same noise, release t + 1 minus
    release t - 1 minus the visit of user t + 1 is the visit of user t, so users t - 1 and t + 1 can compute it.

    Returns:
        visits: 0 or 1 for each user; one: the single draw; tree: the tree's noise in each release; scale: its scale.
    """
    stream = stream_of_releases(USERS)
    scale = levels(USERS) / float(spec.run.epsilon)
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([spec.root_seed, USERS])))
    visits = rng.integers(0, 2, USERS)
    tree = scale * unit_noise(MECHANISMS[TREE], stream, 1, rng)[:, 0]
    return {
        "visits": visits.tolist(),
        "one": float(rng.laplace(scale=scale)),
        "tree": tree.tolist(),
        "scale": scale,
    }


kinds.register(
    AttackSpec,
    start=AttackRun,
    estimate=estimate,
    trace=AttackTrace,
    axis=AXIS,
    measure=MEASURE,
    axes=lambda base: {name: partial(axis_value, field) for name, field in FIELDS.items()},
    along=lambda base, chosen: base.replace(**chosen),
    questions={
        "guarantee": lambda spec: guarantee_of(spec.run, loop_of(spec.run).noise_of_run(spec.run)).to_dict(),
        "collusion": collusion,
    },
)
