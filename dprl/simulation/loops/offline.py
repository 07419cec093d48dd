"""The loop of offline learning: draw a data set, and let a curator answer the learner's queries about it with noise.

The learner is a generator, which yields queries and receives releases. The model and the data set stay here.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.learners import PUBLIC
from dprl.learners.offline.learner import Learned, OfflineLearner, OfflineProblem, Plan
from dprl.mdp import Size, planning
from dprl.mdp.counts import visits
from dprl.mdp.tabular import Array
from dprl.messages import filled
from dprl.privacy.attack import unit_noise
from dprl.privacy.curator import NO_NOISE, ONCE, CuratorNoise, calibrated_scales, prepare
from dprl.privacy.guarantee import CARD, NOISE, SCOPE, SIMULATION, WHERE
from dprl.privacy.mechanisms import MECHANISMS
from dprl.simulation import datasets
from dprl.simulation.budgeted import Budgeted
from dprl.simulation.details import DETAIL_BYTES
from dprl.simulation.offline_spec import AXIS, MEASURE, OfflineSpec, sizes_of
from dprl.simulation.trace import Curve, Ints, TraceCore, known_of
from dprl.statistics.family import Family, Query
from dprl.words import upward


@dataclass(frozen=True, eq=False, kw_only=True)
class OfflineTrace(TraceCore[OfflineSpec]):
    """The results of an offline run with one random seed: C data sets of growing size, D of them with details.

    The curve's axis is n, the number of trajectories. Its measure is the exact suboptimality v* - v^pi.
    """

    v_star: float
    # the learner's pessimistic value d1 V~_0 [C], a proved bound if docs/report/offline.md says so
    lower: Array
    errors: Mapping[str, Array]  # the E in use, by family, each []
    # the number of released matrices that were below the possible range, and were raised to it [C]
    repaired: Ints
    covered: list[float]  # d_m of the behaviour policy, and the least d^mu over the optimal policy's pairs
    behaviour: Array  # d^mu [H, S, A]
    detail_n: Ints  # the sizes of the data sets with details [D]
    visits: Array  # the true n [D, H, S, A]
    # the released values that a trace may store, by name, such as visits, each [D, H, S, A]
    released: Mapping[str, Array]
    # Q_hat, penalty, Q: [D, H, S, A], V: [D, H, S], policy: [D, H, S], all learned; see learner.Learned
    Q_hat: Array
    penalty: Array
    Q: Array
    V: Array
    policy: NDArray[np.int16]
    # the true optimum: policy, V and occupancy [H, S], Q [H, S, A]
    optimal_policy: NDArray[np.int16]
    optimal_V: Array
    optimal_Q: Array
    optimal_occupancy: Array


class Curator:
    """A curator who answers queries with noise, from the counts of a data set [H, S, A, S + 2] or of its halves."""

    def __init__(
        self,
        records: tuple[Array, ...],
        noise: CuratorNoise,
        errors: Mapping[str, float],
        rng: np.random.Generator,
    ) -> None:
        self._records, self._noise, self._errors, self._rng = records, noise, errors, rng
        self._asked: Counter[tuple[str, int]] = Counter()

    def release(self, query: Query) -> Array:
        """Answer a query with noise. Raises RuntimeError if a learner asks for more than the guarantee covers."""
        record = self._records[query.half]
        H, S, A, _ = record.shape
        draws = query.draws(Size(S, A, H))
        if self._noise.mechanism is None:
            return query.answer(record, np.zeros(draws), 0.0)
        family = query.family, query.half
        self._asked[family] += 1
        if self._asked[family] > self._noise.times.get(family, 0):
            raise RuntimeError(f"{query.family} was requested more often than the privacy budget covers")
        unit = unit_noise(self._noise.mechanism, ONCE, draws, self._rng)[0]
        error = self._errors.get(query.family, 0.0)
        return query.answer(record, self._noise.scales[query.family] * unit, error)


def problem_of(spec: OfflineSpec, n: int) -> OfflineProblem:
    """Return the public facts that the learner receives, for n trajectories. The noise is set later."""
    world, learner = ENVIRONMENTS[spec.environment], spec.learner
    params = spec.environment_params
    return OfflineProblem(
        size=spec.problem_size,
        n=n,
        beta=spec.beta,
        params=dict(spec.algorithm_params),
        rewards=world.make(**params).R if spec.rewards == "known" else None,
        features=world.features(**params) if world.features and "features" in learner.public else None,
        episodes=spec.contribution,
    )


def families_of(learner: OfflineLearner, problem: OfflineProblem, calibration: str) -> tuple[Family, ...]:
    """Return the families of statistics that a learner requests, each with the largest effect of one person."""
    m = problem.episodes
    return tuple(
        replace(family, change=family.change.at_once(m), blanked=family.blanked.at_once(m))
        for family in learner.families(problem, calibration)
    )


def noise_for(
    spec: Budgeted,
    problem: OfflineProblem,
    assumptions: tuple[str, ...],
    exact: bool = False,
    beside: tuple[Family, ...] = (),
) -> tuple[CuratorNoise, dict[str, float]]:
    """Return the noise for a spec's budget, and the error bound E of each family of statistics.

    With `exact`, noise is drawn on a grid, not in floating point, but E still assumes continuous noise. `beside` has
    statistics about a second group of people, which the learner never sees; each group gets the whole budget.
    """
    learner, asked = spec.learner, spec.budget
    if not asked.promise.fields or spec.calibration is None:
        return NO_NOISE, {}
    families = families_of(learner, problem, spec.calibration)
    mechanism = MECHANISMS[asked.promise.mechanism]
    if spec.calibration == "paper":
        paper = learner.paper_noise[asked.promise.key]
        scales = paper.scales(problem, float(getattr(asked, asked.promise.fields[0])))
        formula, sources = paper.formula, paper.sources
    else:
        scales = calibrated_scales(mechanism, families, asked, exact)
        formula, sources = filled(NOISE["curator"], budget=asked.text), (mechanism.source,)
    stated: tuple[str, ...] = ()
    if learner.proved:
        below = CARD["assumed"]["below_open" if problem.hands_over else "below"]
        beta = f"{upward(spec.beta):g}"
        stated = (filled(below, beta=beta, source=learner.source, proved=learner.proved),)
    known = [key for key in learner.public if key != "rewards" or problem.rewards is not None]
    if beside:
        families, scales = (*families, *beside), scales | calibrated_scales(mechanism, beside, asked, exact)
    noise = prepare(
        families,
        asked,
        scales,
        n=problem.n,
        formula=formula,
        where=filled(WHERE["offline_others" if len(families) > 1 else "offline"], sums=families[0].what),
        sources=sources,
        public=tuple(PUBLIC[key] for key in known),
        assumptions=(*assumptions, *stated),
        exact=exact,
    )
    told = {name: scale for name, scale in scales.items() if name not in {family.name for family in beside}}
    return noise, learner.errors(problem, mechanism.key, told, spec.calibration)


def noise_of_run(spec: OfflineSpec) -> tuple[CuratorNoise, dict[str, float]]:
    """Return a run's noise and each family's error bound E, which depend on the spec alone and not on the data."""
    apart = filled(CARD["assumed"]["offline"], budget=spec.budget.text)
    noise, errors = noise_for(spec, problem_of(spec, spec.n), (apart, SIMULATION, *SCOPE))
    m = spec.contribution
    if m > 1:
        card = replace(
            noise.guarantee,
            unit=f"one person: up to {m} trajectories of the data set",
            adjacency=f"replace all trajectories of one person, up to {m}, by others",
            returning=None,
            contribution=m,
        )
        noise = replace(noise, guarantee=card)
    return noise, errors


class Releases(Protocol):
    """The interface of an object that answers a learner's queries, such as `Curator`."""

    def release(self, query: Query) -> Array:
        """Answer a query with noisy statistics."""


def learned_from(curator: Releases, plan: Plan) -> tuple[Learned, tuple[Array, ...]]:
    """Answer all queries in a learner's plan. Return the learned policy with its values, and the answers in order."""
    released: list[Array] = []
    query = next(plan)
    while True:
        released.append(curator.release(query))
        try:
            query = plan.send(released[-1].copy())
        except StopIteration as end:
            return end.value, tuple(released)


class DatasetPoint(NamedTuple):
    """The result of learning from one data set, with its true visits [H, S, A] and the released noisy answers."""

    n: int
    gap: float
    visits: Array
    released: tuple[Array, ...]
    learned: Learned


class OfflineRun:
    """An offline run with one random seed, which learns a policy from a data set of each size."""

    def __init__(self, spec: OfflineSpec, seed: int) -> None:
        self.spec, self.seed = spec, seed
        self.mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
        self.behaviour = datasets.parts(spec.behaviour, self.mdp)
        self.optimum = planning.optimum(self.mdp)
        self.v_star = planning.start_value(self.mdp, self.optimum.V)
        self.noise, self.errors = noise_of_run(spec)
        self._problem = problem_of(spec, spec.n)
        self.sizes = sizes_of(spec.n)
        self.points: list[DatasetPoint] = []
        self.seconds = 0.0

    @property
    def progress(self) -> float:
        return len(self.points) / len(self.sizes)

    def advance(self, seconds: float = 0.1) -> bool:
        began = time.perf_counter()
        while len(self.points) < len(self.sizes):
            self.points.append(self._learn(int(self.sizes[len(self.points)])))
            if time.perf_counter() - began >= seconds:
                break
        self.seconds += time.perf_counter() - began
        return len(self.points) == len(self.sizes)

    def dataset(self, n: int) -> tuple[tuple[Array, ...], np.random.Generator]:
        """Return the counts of this seed's n trajectories, as a whole or in two halves, and a generator for the noise.

        Neither depends on the budget, the largest n or (except for the split) the learner.
        """
        users, noise = np.random.SeedSequence([self.spec.root_seed, self.seed, n]).spawn(2)
        rng = np.random.Generator(np.random.SFC64(users))
        halves = self.spec.learner.halves(self.spec.algorithm_params)
        sizes = (n // 2, n - n // 2) if halves else (n,)
        records = tuple(datasets.sample(rng, self.mdp, self.behaviour, size) for size in sizes)
        return records, np.random.Generator(np.random.SFC64(noise))

    def _learn(self, n: int) -> DatasetPoint:
        records, rng = self.dataset(n)
        curator = Curator(records, self.noise, self.errors, rng)
        learned, released = learned_from(curator, self.spec.learner.plan(self.problem(n)))
        value = planning.start_value(self.mdp, planning.policy_values(self.mdp, learned.policy))
        n_visits = np.sum([visits(record) for record in records], axis=0)
        return DatasetPoint(n, max(self.v_star - value, 0.0), n_visits, released, learned)

    def problem(self, n: int) -> OfflineProblem:
        """Return the public facts that the learner receives, for n trajectories."""
        return replace(self._problem, n=n, errors=self.errors)

    def curve(self) -> Curve:
        """Return the suboptimality of each policy learned so far."""
        at = np.array([point.n for point in self.points], dtype=np.int64)
        return Curve(AXIS, MEASURE, at, np.array([point.gap for point in self.points]))

    def trace(self) -> OfflineTrace:
        """Return the results so far, with details for as many evenly spaced data sets as fit in memory."""
        mdp, points = self.mdp, self.points
        each = 8 * mdp.H * mdp.S * (7 * mdp.A + 2)
        fits = max(1, min(len(points), DETAIL_BYTES // each))
        chosen = np.unique(np.linspace(len(points) - 1, 0, fits).round().astype(int))
        details = [points[i] for i in chosen if points]
        shape = (len(details), mdp.H, mdp.S, mdp.A)

        def stacked(name: str, shape: tuple[int, ...] = shape) -> Array:
            return np.array([getattr(point.learned, name) for point in details], dtype=float).reshape(shape)

        return OfflineTrace(
            **known_of(self, self.progress == 1, self.noise.guarantee, sum(point.n for point in points)),
            v_star=self.v_star,
            lower=np.array([self.mdp.d1 @ point.learned.V[0] for point in points]),
            errors={name: np.array(error) for name, error in self.errors.items()},
            repaired=np.array([point.learned.repaired for point in points], dtype=np.int64),
            covered=list(datasets.coverage(mdp, self.behaviour)),
            behaviour=datasets.occupancy(mdp, self.behaviour),
            detail_n=np.array([point.n for point in details], dtype=np.int64),
            visits=np.array([point.visits for point in details]).reshape(shape),
            released={
                name: np.array([values(point.released) for point in details]).reshape(shape)
                for name, values in self.spec.learner.shown.items()
                if name != "rewards" or self.spec.rewards == "learned"
            },
            Q_hat=stacked("Q_hat"),
            penalty=stacked("penalty"),
            Q=stacked("Q"),
            V=stacked("V", (len(details), mdp.H + 1, mdp.S))[:, :-1],
            policy=stacked("policy", shape[:-1]).astype(np.int16),
            optimal_policy=self.optimum.policy.astype(np.int16),
            optimal_V=self.optimum.V[:-1],
            optimal_Q=self.optimum.Q,
            optimal_occupancy=planning.occupancy(mdp, self.optimum.policy),
        )
