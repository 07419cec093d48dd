"""Runs on uploaded data sets, with one noisy release, two learned policies, and a bound on the value of one."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import NoReturn

import numpy as np

from dprl.fields import SpecError, reject, shown
from dprl.learners import OFFLINE
from dprl.learners.offline.kl_lcb import reward_bounds
from dprl.learners.offline.learner import OfflineProblem
from dprl.mdp import counts
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.messages import messages
from dprl.privacy.curator import CuratorNoise, apart_of
from dprl.privacy.exact import BITS, EXACT, STEPS
from dprl.simulation import kinds
from dprl.simulation.loops.offline import families_of, learned_from
from dprl.simulation.trace import Curve, known_of
from dprl.simulation.uploads import check, kept
from dprl.simulation.uploads.ledger import Budget, Draw
from dprl.simulation.uploads.noise import beside, bound_from_start, noise_of, upload_problem_of
from dprl.simulation.uploads.spec import AXIS, LEARNERS, MEASURE, UploadSpec
from dprl.simulation.uploads.trace import UploadTrace, registry_entry
from dprl.statistics import DATASET, REPLACE_ONE, REWARDS, TRANSITIONS
from dprl.statistics.family import Query

SAID = messages("refusals")["release"]
QUERIES = {query.family: query for query in (DATASET, TRANSITIONS, REWARDS)}
AT_ONCE = 100  # numbers drawn between two checks of the clock


def noise_in_words(spec: UploadSpec, noise: CuratorNoise) -> tuple[str, str]:
    """Return texts that identify the noise in the sums over people learned from and over people held out. Equal texts
    mean the same noise."""
    scales = {family: scale for family, scale in noise.scales.items() if family in QUERIES}
    return json.dumps(["gaussian", scales, BITS], sort_keys=True), f"held out: {spec.to_json()}"


def sums_of(record: Array, noise: CuratorNoise) -> dict[str, Array]:
    """Return the exact sums over the people learned from, for each family of statistics with noise."""
    return {family: QUERIES[family].sums(record) for family in noise.scales if family in QUERIES}


def drawn(sums: Mapping[str, Array], noise: CuratorNoise) -> Iterator[float]:
    """Yield each noisy sum, computed exactly in whole steps of the grid and then rounded to a float."""
    draw = EXACT["gaussian"].draw
    for family, values in sums.items():
        steps = Fraction(noise.scales[family]) * STEPS
        for value in values.flat:
            yield (int(value * STEPS) + draw(steps)) / STEPS


@lru_cache(maxsize=256)
def draws_of(spec: UploadSpec) -> tuple[Draw, ...]:
    """Return the draws of noise in a release: one for the people learned from, and one for those held out."""
    noise, _ = noise_of(spec)
    assert noise.mechanism is not None
    assert spec.calibration is not None
    families = (*families_of(spec.learner, upload_problem_of(spec), spec.calibration), *beside(spec))
    apart = apart_of(noise.mechanism, families, noise.scales, REPLACE_ONE)
    which = noise_in_words(spec, noise)
    return tuple(
        Draw(hashlib.sha256(f"{spec.data} {words}".encode()).hexdigest(), spec.data, half, losses, far)
        for half, (words, losses, far) in enumerate(zip(which, noise.losses, apart, strict=False))
    )


def fitted_to(
    problem: OfflineProblem, policy: Policy, released: tuple[Array, ...], noise: CuratorNoise
) -> tuple[check.Fitted, check.Scores]:
    """Fit a model to the noisy sums of the people learned from, and return a policy's values and scores in it."""
    scale, E = (next(iter(each.values())) for each in (noise.scales, problem.errors))  # of counts
    r, of_rewards = problem.rewards, None
    if r is None:
        r = reward_bounds(problem, released[0], released[1])[0]
        of_rewards = noise.scales[REWARDS.family] ** 2
    n, m = float(problem.n), problem.episodes
    if m > 1:  # only the noisy counts show how many episodes there are
        n = float(np.clip(counts.visits(released[0]).sum() / problem.size.H, n, m * n))
    fitted = check.fit(released[0], policy, r, E, scale**2, n, of_rewards, m)
    return fitted, check.scores(fitted, policy, r, of_rewards is not None)


class UploadRun:
    """A run on an uploaded data set, which makes one noisy release and answers the learner's queries from it.

    Each noisy sum is drawn once, exactly, and recorded before it is shown, and the answers depend on the data through
    these sums alone. Raises SpecError if the data set is not stored here, or its recorded releases are damaged.
    """

    def __init__(self, spec: UploadSpec, seed: int) -> None:
        self.spec, self.seed = spec, seed
        self.data = kept.held(spec.data)
        if (self.data.declared.text, self.data.n) != (spec.declared, spec.n):
            raise SpecError("declared", "the data set was read with other settings; give the file again.")
        self.noise, self.errors = noise_of(spec)
        if under := self.data.under:  # before anything is drawn, and so before anything is shown
            budget, total, known, file = under
            if (known or kept.drawn(spec.data)) and not Budget.known(budget):
                raise reject("budget", SAID["gone"], name=shown(budget))
            Budget(budget, rho=total).charge(spec, draws_of(spec), file)
        self._sums, self._which = sums_of(self.data.record, self.noise), noise_in_words(spec, self.noise)
        self._noisy = kept.drawn_sums(spec.data, self._which[0])
        self._drawn: list[float] = []
        self._rest = drawn(self._sums, self.noise)
        self._ends = np.cumsum([sums.size for sums in self._sums.values()])
        self._problem = replace(upload_problem_of(spec), errors=self.errors)
        self._bound, self.seconds = np.zeros(0), 0.0  # known once the policies have been learned
        self._trace: UploadTrace | None = None

    @property
    def progress(self) -> float:
        """Return the share of the noise drawn so far, from 0 to 1; learning itself needs only a moment."""
        return 1.0 if self._noisy is not None else len(self._drawn) / int(self._ends[-1])

    def advance(self, seconds: float = 0.1) -> bool:
        """Work for about `seconds`; return whether the run is done. Raises SpecError if it cannot record a release."""
        until = time.perf_counter() + seconds
        while self._noisy is None:
            self._drawn += islice(self._rest, AT_ONCE)
            if len(self._drawn) == self._ends[-1]:
                parts = zip(self._sums.items(), np.split(np.array(self._drawn), self._ends[:-1]), strict=True)
                noisy = {name: part.reshape(sums.shape) for (name, sums), part in parts}
                self._noisy = kept.write_down(self.spec.data, self._which[0], noisy)
            elif time.perf_counter() > until:
                return False
        if self._trace is None:
            self._trace = self._learn()
        return True

    def release(self, query: Query) -> Array:
        """Answer a query from released sums. Raises RuntimeError if none exist or the query exceeds the guarantee."""
        known = QUERIES.get(query.family)
        if known is not query or self._noisy is None or query.family not in self._noisy:
            raise RuntimeError(f"no noise was drawn for {query.family}")
        noisy = np.zeros(self.data.record.shape)
        known.sums(noisy)[...] = self._noisy[query.family]
        nothing = np.zeros(known.sums(noisy).size)
        return query.answer(noisy, nothing, self.errors.get(query.family, 0.0))

    def curve(self) -> Curve:
        """Return the curve's only point, the lower bound at n, once it exists."""
        return Curve(AXIS, MEASURE, np.full(len(self._bound), self.spec.n), self._bound)

    def trace(self) -> UploadTrace:
        """Return everything that was released and learned, once the run is done."""
        assert self._trace is not None
        return self._trace

    def _learn(self) -> UploadTrace:
        spec, public, size = self.spec, self.spec.public, self.spec.problem_size
        began = time.perf_counter()  # after drawing, because its duration depends on the draws
        learned, sums = learned_from(self, spec.learner.plan(self._problem))
        plug_in, _ = learned_from(self, OFFLINE[LEARNERS[1]].plan(self._problem))
        policies = np.stack([learned.policy, plug_in.policy])
        always = self._always(sums)
        checked = self._ask_those_held_out(policies, sums) if spec.checked else {}
        if public.start is None:
            scale = self.noise.scales[TRANSITIONS.family]
            worth = bound_from_start(learned.V[0], sums[0], size, spec.learned_from, spec.beta, scale)
        else:
            worth = float(public.start @ learned.V[0])
        self._bound = public.in_units(np.array([worth]), size.H)
        self.seconds = time.perf_counter() - began
        released = sums[0].copy()
        if public.rewards is None:
            counts.rewards(released)[...] = spec.learner.shown["rewards"](sums)
        return UploadTrace(
            **known_of(self, True, self.noise.guarantee, spec.n),
            v_star=None,
            lower=public.in_units(learned.V[0], size.H),
            errors={name: np.array(error) for name, error in self.errors.items()},
            checked=checked,
            released=released,
            Q_hat=learned.Q_hat,
            penalty=learned.penalty,
            Q=learned.Q,
            V=learned.V[:-1],
            policies=policies.astype(np.int16),
            always=always,
        )

    def _always(self, released: tuple[Array, ...]) -> Array:
        """Estimate the value of always taking the same action, for each action [A], from the released sums alone."""
        S, A, H, _ = self._problem.size
        start = np.maximum(counts.visits(released[0])[0].sum(-1), 0.0)
        policies = (np.full((H, S), action, dtype=np.int64) for action in range(A))
        models = (fitted_to(self._problem, policy, released, self.noise)[0] for policy in policies)
        return np.array([start @ fitted.V[0] / max(start.sum(), 1.0) for fitted in models])

    def _ask_those_held_out(self, policies: Policy, released: tuple[Array, ...]) -> dict[str, Array]:
        """Release noisy sums over held-out people for both policies. They are drawn once per spec and then stored."""
        problem, scales = self._problem, self.noise.scales  # scales: also standard deviations
        models = [fitted_to(problem, policy, released, self.noise) for policy in policies]
        found = kept.drawn_sums(self.spec.data, self._which[1])
        if found is None:
            tables, held = [table for _, table in models], self.data.held
            noisy = {"sums": check.noisy(check.sums(tables, held, problem.episodes), scales)}
            noisy["ends"] = np.array([[table.low, table.width] for table in tables])
            if held.groups:
                exact = [check.sums(tables, part, 2) for part in held.groups]
                noisy["groups"] = np.array([check.noisy(each, scales, check.BY_GROUP) for each in exact])
            found = kept.write_down(self.spec.data, self._which[1], noisy)
        return check.results(found, models, scales, self.spec.checked, problem.episodes)


def axes(base: UploadSpec) -> NoReturn:
    """Refuse a sweep, because each of its points would be one more release of private data."""
    raise SpecError("axis", SAID["sweep"])


kinds.register(
    UploadSpec,
    start=UploadRun,
    estimate=UploadSpec.estimate,
    trace=UploadTrace,
    axis=AXIS,
    measure=MEASURE,
    axes=axes,
    along=lambda base, chosen: base,
    questions={"guarantee": lambda spec: noise_of(spec)[0].guarantee.to_dict()},
    files={
        "policy.json": lambda trace: trace.portable.to_json(),
        "policy.csv": lambda trace: trace.portable.csv_text(),
        "release.json": UploadTrace.release,
        "registry.yaml": registry_entry,
    },
)
