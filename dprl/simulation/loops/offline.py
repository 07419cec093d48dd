"""The loop of offline learning: a data set is drawn, a curator releases what the learner asks for, once.

The learner is a generator: it yields queries and is sent what is released. The model and the data set stay here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.learners import OFFLINE, PUBLIC
from dprl.learners.offline.learner import Learned, OfflineProblem
from dprl.mdp import planning
from dprl.mdp.tabular import Array
from dprl.privacy.attack import unit_noise
from dprl.privacy.curator import NO_NOISE, ONCE, CuratorNoise, prepare, tight_scales
from dprl.privacy.mechanisms import MECHANISMS
from dprl.simulation import datasets
from dprl.simulation.details import DETAIL_BYTES
from dprl.simulation.offline_spec import AXIS, MEASURE, OfflineSpec, sizes_of
from dprl.simulation.trace import Curve, Ints, TraceCore
from dprl.statistics.family import Query


@dataclass(frozen=True, eq=False, kw_only=True)
class OfflineTrace(TraceCore):
    """One seed of an offline run: C data sets of growing size, D of them with details.

    The curve's axis is n, trajectories in the data set; its measure the gap v* - v^pi of the policy that was learned,
    both exact.

    Attributes:
        lower: [C] V~ at the start: the lower bound of v^pi that the learner itself has.
        error: E in use.
        covered: d_m of the behaviour policy, and the least d^mu where the optimal policy goes.
        behaviour: [H, S, A], d^mu.
        detail_n: [D].
        visits: [D, H, S, A], true n.
        Q_hat, penalty, Q: [D, H, S, A], V: [D, H, S], policy: [D, H, S], what was learned; see learner.Learned.
        released: by name, what was released of n, where it was: visits [D, H, S, A].
        optimal_policy: [H, S], optimal_V: [H, S], optimal_occupancy: [H, S].
    """

    lower: Array
    error: float
    covered: list[float]
    behaviour: Array
    detail_n: Ints
    visits: Array
    released: Mapping[str, Array]
    Q_hat: Array
    penalty: Array
    Q: Array
    V: Array
    policy: NDArray[np.int16]
    optimal_policy: NDArray[np.int16]
    optimal_V: Array
    optimal_occupancy: Array


class Curator:
    """Holds one data set, and answers queries about it.

    Args:
        m: [H, S, A, S] transitions.
        noise: what is added.
        error: E.
        rng: of the noise.
    """

    def __init__(self, m: Array, noise: CuratorNoise, error: float, rng: np.random.Generator) -> None:
        self._m, self._noise, self._error, self._rng = m, noise, error, rng

    def release(self, query: Query) -> Array:
        """What the learner sees of the data set."""
        draws = query.draws(self._m)
        if self._noise.mechanism is None:
            return query.answer(self._m, np.zeros(draws), self._error)
        unit = unit_noise(self._noise.mechanism, ONCE, draws, self._rng)[0]
        return query.answer(self._m, self._noise.scales[query.family] * unit, self._error)


def noise_of_run(spec: OfflineSpec) -> tuple[CuratorNoise, float]:
    """The noise of any data set, and E, which follow from the spec alone."""
    learner, size, asked = OFFLINE[spec.algorithm], spec.problem_size, spec.budget
    if not asked.promise.fields:
        return NO_NOISE, 0.0
    families, mechanism = learner.families(size), MECHANISMS[asked.promise.mechanism]
    if spec.calibration == "paper":
        printed = learner.printed[asked.promise.key]
        amount = float(getattr(asked, asked.promise.fields[0]))
        scales, error = printed.scales(size, amount), printed.error(size, amount, spec.beta)
        formula, sources = printed.formula, printed.sources
    else:
        scales = tight_scales(mechanism, families, asked)
        error = learner.error(size, mechanism.key, scales, spec.beta)
        formula, sources = f"the least noise that proves {asked.text}", (mechanism.source,)
    noise = prepare(
        families,
        asked,
        scales,
        n=spec.n,
        formula=formula,
        where=f"in the curator: once in each of {', '.join(f.what for f in families)}, before the learner sees them",
        sources=sources,
        public=tuple(PUBLIC[key] for key in learner.public),
    )
    return noise, error


class Point(NamedTuple):
    """One data set, and what was learned from it. visits: [H, S, A]; released: what the learner was sent, in order."""

    n: int
    gap: float
    visits: Array
    released: tuple[Array, ...]
    learned: Learned


class OfflineRun:
    """One seed of an offline run: a data set of each size, drawn and learned from.

    Args:
        spec: the run.
        seed: which of its seeds.
    """

    def __init__(self, spec: OfflineSpec, seed: int) -> None:
        self.spec, self.seed = spec, seed
        self.mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
        self.behaviour = datasets.parts(spec.behaviour, self.mdp)
        self.optimum = planning.optimum(self.mdp)
        self.v_star = planning.start_value(self.mdp, self.optimum.V)
        self.noise, self.error = noise_of_run(spec)
        self.sizes = sizes_of(spec.n)
        self.points: list[Point] = []
        self.seconds = 0.0

    @property
    def progress(self) -> float:
        """Share of the data sets learned from, 0 to 1."""
        return len(self.points) / len(self.sizes)

    def advance(self, seconds: float = 0.1) -> bool:
        """Work for about `seconds`; True when the run is finished. Progress and cancelling come between calls."""
        began = time.perf_counter()
        while len(self.points) < len(self.sizes):
            self.points.append(self._learn(int(self.sizes[len(self.points)])))
            if time.perf_counter() - began >= seconds:
                break
        self.seconds += time.perf_counter() - began
        return len(self.points) == len(self.sizes)

    def dataset(self, n: int) -> tuple[Array, np.random.Generator]:
        """[H, S, A, S] the counts of this seed's data set of n trajectories, and where its noise comes from.

        Neither depends on the learner, the budget or where the curve ends.
        """
        users, noise = np.random.SeedSequence([self.spec.root_seed, self.seed, n]).spawn(2)
        m = datasets.sample(np.random.Generator(np.random.SFC64(users)), self.mdp, self.behaviour, n)
        return m, np.random.Generator(np.random.SFC64(noise))

    def _learn(self, n: int) -> Point:
        m, rng = self.dataset(n)
        curator = Curator(m, self.noise, self.error, rng)
        plan = OFFLINE[self.spec.algorithm].plan(self.problem(n))
        released: list[Array] = []
        query = next(plan)
        while True:
            released.append(curator.release(query))
            try:
                query = plan.send(released[-1].copy())
            except StopIteration as end:
                learned: Learned = end.value
                break
        value = planning.start_value(self.mdp, planning.policy_values(self.mdp, learned.policy))
        return Point(n, max(self.v_star - value, 0.0), m.sum(-1), tuple(released), learned)

    def problem(self, n: int) -> OfflineProblem:
        """What the learner is told."""
        spec = self.spec
        return OfflineProblem(self.mdp.R.copy(), n, spec.beta, dict(spec.algorithm_params), self.error)

    def curve(self) -> Curve:
        """The gap at the sizes so far."""
        at = np.array([point.n for point in self.points], dtype=np.int64)
        return Curve(AXIS, MEASURE, at, np.array([point.gap for point in self.points]))

    def trace(self) -> OfflineTrace:
        """Everything recorded so far. Details of as many data sets as fit, spread evenly, the last included."""
        mdp, points = self.mdp, self.points
        each = 8 * mdp.H * mdp.S * (7 * mdp.A + 2)
        fits = max(1, min(len(points), DETAIL_BYTES // each))
        chosen = np.unique(np.linspace(len(points) - 1, 0, fits).round().astype(int))
        details = [points[i] for i in chosen if points]
        shape = (len(details), mdp.H, mdp.S, mdp.A)

        def stacked(name: str, shape: tuple[int, ...] = shape) -> Array:
            return np.array([getattr(point.learned, name) for point in details], dtype=float).reshape(shape)

        return OfflineTrace(
            spec=self.spec,
            seed=self.seed,
            complete=len(points) == len(self.sizes),
            curve=self.curve(),
            v_star=self.v_star,
            guarantee=self.noise.guarantee,
            seconds=self.seconds,
            rate=sum(point.n for point in points) / self.seconds if self.seconds > 0 else 0.0,
            lower=np.array([self.mdp.d1 @ point.learned.V[0] for point in points]),
            error=self.error,
            covered=list(datasets.coverage(mdp, self.behaviour)),
            behaviour=datasets.occupancy(mdp, self.behaviour),
            detail_n=np.array([point.n for point in details], dtype=np.int64),
            visits=np.array([point.visits for point in details]).reshape(shape),
            released={
                name: np.array([values(point.released) for point in details]).reshape(shape)
                for name, values in OFFLINE[self.spec.algorithm].shown.items()
            },
            Q_hat=stacked("Q_hat"),
            penalty=stacked("penalty"),
            Q=stacked("Q"),
            V=stacked("V", (len(details), mdp.H + 1, mdp.S))[:, :-1],
            policy=stacked("policy", shape[:-1]).astype(np.int16),
            optimal_policy=self.optimum.policy.astype(np.int16),
            optimal_V=self.optimum.V[:-1],
            optimal_occupancy=planning.occupancy(mdp, self.optimum.policy),
        )
