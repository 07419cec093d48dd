"""Runs on uploaded data sets, as a kind of specs: one release, one policy, and the lower bound of its value."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dprl.fields import Field, SpecError, shown
from dprl.learners import OFFLINE
from dprl.learners.offline.kl_lcb import reward_bounds
from dprl.learners.offline.learner import Learned, OfflineProblem
from dprl.mdp import counts
from dprl.mdp.tabular import Array
from dprl.privacy.curator import ONCE, CuratorNoise, apart_of
from dprl.simulation import kinds
from dprl.simulation.kinds import Kind
from dprl.simulation.loops.offline import families_of, learned_from
from dprl.simulation.trace import Curve
from dprl.simulation.uploads import check, kept
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.noise import beside, noise_of, upload_problem_of
from dprl.simulation.uploads.reach import reach
from dprl.simulation.uploads.release import UploadCurator, noise_in_words
from dprl.simulation.uploads.spec import AXIS, FIELDS, MEASURE, UploadSpec, upload
from dprl.simulation.uploads.spent import Draw
from dprl.simulation.uploads.start import bound_from_start
from dprl.simulation.uploads.trace import UploadTrace
from dprl.statistics import REPLACE_ONE, REWARDS, TRANSITIONS

BUDGET = ("algorithm", "rho", "beta")  # what a sweep may change of it
WHO_AND_HOW = FIELDS.keys() - {"data", "declared", "n", "checked", "first_step"}


@lru_cache(maxsize=256)
def draws_of(spec: UploadSpec) -> tuple[Draw, ...]:
    """The noise that a release consists of: of the people learned from, and of those held out."""
    noise, _ = noise_of(spec)
    assert noise.mechanism is not None
    assert spec.calibration is not None
    families = (*families_of(spec.learner, upload_problem_of(spec), spec.calibration), *beside(spec))
    apart = apart_of(noise.mechanism, families, noise.scales, REPLACE_ONE)
    which = (noise_in_words(noise), asked_of_those_held_out(spec))
    return tuple(
        Draw(hashlib.sha256(f"{spec.data} {words}".encode()).hexdigest(), spec.data, half, losses, far)
        for half, (words, losses, far) in enumerate(zip(which, noise.losses, apart, strict=False))
    )


def asked_of_those_held_out(spec: UploadSpec) -> str:
    """What their sums are drawn for, in words: equal exactly when they are drawn once."""
    return f"held out: {spec.to_json()}"


def fitted_to(
    problem: OfflineProblem,
    learned: Learned,
    released: tuple[Array, ...],
    noise: CuratorNoise,
    errors: Mapping[str, float],
) -> tuple[check.Fitted, check.Scores]:
    """The model that is fitted to what was released of those who were learned from, and the scores that follow."""
    assert noise.mechanism is not None
    scale, E = (next(iter(each.values())) for each in (noise.scales, errors))  # of counts
    problem = replace(problem, errors=errors)
    unit = float(noise.mechanism.std(ONCE)[0]) ** 2
    r, of_rewards = problem.rewards, None
    if r is None:
        r = reward_bounds(problem, released[0], released[1])[0]
        of_rewards = unit * noise.scales[REWARDS.family] ** 2
    n, m = float(problem.n), problem.episodes
    if m > 1:  # nobody says how many episodes there are, but for the noisy counts
        n = float(np.clip(counts.visits(released[0]).sum() / problem.size.H, n, m * n))
    fitted = check.fit(released[0], learned.policy, r, E, unit * scale**2, n, of_rewards, m)
    return fitted, check.scores(fitted, learned.policy, r, of_rewards is not None)


class UploadRun:
    """The one release of a spec.

    Raises:
        SpecError: its data set is not kept here.
    """

    def __init__(self, spec: UploadSpec, seed: int) -> None:
        self.spec, self.seed = spec, seed
        self.data = kept.held(spec.data)
        if (self.data.declared.text, self.data.n) != (spec.declared, spec.n):
            raise SpecError("declared", "this is not what its data set was read with; give the file again.")
        self.noise, self.errors = noise_of(spec)
        if under := self.data.under:  # before anything is drawn, and so before anything is shown
            if (under.known or kept.drawn(spec.data)) and not Budget.known(under.budget):
                raise SpecError(
                    "budget", f"{shown(under.budget)} is no longer kept here; give the file again."
                )
            Budget(under.budget, rho=under.total).charge(spec, draws_of(spec), under.file)
        self._curator = UploadCurator(self.data, self.noise, self.errors)
        self.learned: Learned | None = None
        self.from_start = 0.0  # the bound of the policy's value, in units of the reward range
        self.released: tuple[Array, ...] = ()
        self.checked: dict[str, Array] = {}
        self.seconds = 0.0

    @property
    def progress(self) -> float:
        """0 to 1: of the noise that is drawn; learning takes a moment."""
        return self._curator.share

    def advance(self, seconds: float = 0.1) -> bool:
        """Work for about `seconds`; True when it is done.

        Raises:
            SpecError: what is released cannot be written down.
        """
        if self.learned is None and self._curator.draw(seconds):
            began = time.perf_counter()  # after drawing, which takes longer or shorter by what is drawn
            problem = replace(upload_problem_of(self.spec), errors=self.errors)
            learned, self.released = learned_from(self._curator, self.spec.learner.plan(problem))
            if self.spec.checked:
                self.checked = self._ask_those_held_out(problem, learned)
            self.from_start = self._bound_from_start(learned.V[0])
            self.learned = learned
            self.seconds = time.perf_counter() - began
        return self.learned is not None

    def _ask_those_held_out(self, problem: OfflineProblem, learned: Learned) -> dict[str, Array]:
        """What they say of the policy. Their three sums are drawn once for a spec, and written down."""
        assert self.noise.mechanism is not None
        fitted, table = fitted_to(problem, learned, self.released, self.noise, self.errors)
        scales, std = self.noise.scales, float(self.noise.mechanism.std(ONCE)[0])
        which = asked_of_those_held_out(self.spec)
        found = kept.drawn_sums(self.spec.data, which)
        if found is None:
            exact = check.sums(table, self.data.held, problem.episodes)
            noisy = check.noisy(exact, scales)
            ends = np.array([table.low, table.width])  # with which alone the first sum means something
            found = kept.write_down(self.spec.data, which, {"sums": noisy, "ends": ends})
        table = table._replace(low=int(found["ends"][0]), width=int(found["ends"][1]))
        of_sums = std * np.array([scales[name] for name in check.names(problem.episodes)])
        H, n = problem.size.H, self.spec.checked
        return check.assessed(found["sums"], fitted, table, n, H, of_sums, problem.episodes)

    def _bound_from_start(self, V: Array) -> float:
        """The bound from the declared start, or from the one that the released counts of the first step show."""
        spec, noise = self.spec, self.noise
        if spec.public.start is not None:
            return float(spec.public.start @ V)
        assert noise.mechanism is not None
        scale = noise.scales[TRANSITIONS.family]
        return bound_from_start(V, self.released[0], spec.problem_size, spec.learned_from, spec.beta, scale)

    def _lower(self) -> Array:
        public, size = self.spec.public, self.spec.problem_size
        return np.zeros(size.S) if self.learned is None else public.in_units(self.learned.V[0], size.H)

    def curve(self) -> Curve:
        """The lower bound at n, once it is there."""
        done = self.learned is not None
        at = np.array([self.spec.n] * done, dtype=np.int64)
        value = self.spec.public.in_units(np.array(self.from_start), self.spec.problem_size.H)
        return Curve(AXIS, MEASURE, at, np.array([float(value)] * done))

    def trace(self) -> UploadTrace:
        """Everything that was released, and learned from it."""
        S, A, H, _ = self.spec.problem_size
        released = np.zeros((H, S, A, S + 2))
        if self.released:
            released[...] = self.released[0]
            if self.spec.public.rewards is None:
                counts.rewards(released)[...] = self.spec.learner.shown["rewards"](self.released)
        none = np.zeros((H, S, A))
        found = self.learned or Learned(
            np.zeros((H, S), dtype=np.int64), none, none, none, np.zeros((H + 1, S))
        )
        return UploadTrace(
            spec=self.spec,
            seed=self.seed,
            complete=self.learned is not None,
            curve=self.curve(),
            v_star=None,
            guarantee=self.noise.guarantee,
            seconds=self.seconds,
            rate=self.spec.n / self.seconds if self.seconds > 0 else 0.0,
            lower=self._lower(),
            errors={name: np.array(error) for name, error in self.errors.items()},
            checked=self.checked,
            released=released,
            Q_hat=found.Q_hat,
            penalty=found.penalty,
            Q=found.Q,
            V=found.V[:-1],
            policy=found.policy.astype(np.int16),
        )


def guarantee(spec: UploadSpec) -> dict[str, Any]:
    """What the run claims and proves."""
    return noise_of(spec)[0].guarantee.to_dict()


def axes(base: UploadSpec) -> Mapping[str, Callable[[Any], Any]]:
    """What a sweep may change: the budget and the learner's parameters. Each other budget is one more release."""

    def checked(field: Field, value: Any) -> Any:
        result = field.parse(value) if isinstance(value, str) else field.check(value)
        if result is None:
            raise field.refuse(value)
        return result

    found = {f.name: f for f in FIELDS.values() if f.name in BUDGET}
    found |= {f.name: f for f in OFFLINE[base.algorithm].fields if f.name not in FIELDS}
    return {name: partial(checked, field) for name, field in found.items()}


def along(base: UploadSpec, chosen: Mapping[str, Any]) -> UploadSpec:
    """The spec with these values of axes. Raises SpecError when they do not go together."""
    changes = {name: value for name, value in chosen.items() if name in FIELDS}
    params = {name: value for name, value in chosen.items() if name not in FIELDS}
    if params:
        changes["algorithm_params"] = {**base.algorithm_params, **params}
    return base.replace(**changes)


@contextmanager
def from_files(given: Mapping[str, Any], base: UploadSpec | None) -> Iterator[UploadSpec]:
    """The spec with these fields, in which `data` and `declared` are paths of files. What is read of them is forgotten
    at the end. base: a spec that the fields change."""
    read = {
        "n": "how many people the file has",
        "checked": "how many people are held out; give held_out",
        "first_step": "how the file numbers its steps",
    }
    for name, what in read.items():
        if name in given:
            raise SpecError(name, f"this is {what}; leave it out.")
    files = {name: given[name] for name in ("data", "declared") if name in given}
    rest = {name: value for name, value in given.items() if name not in files}
    if base is not None:
        changed = base.replace(**rest)
        if not files:
            yield changed
            return
        files = {"declared": base.declared} | files
        known = changed.to_dict().items()
        rest = {name: value for name, value in known if name in WHO_AND_HOW and value is not None}
        rest["held_out"] = changed.held_out
    for name, what in (("data", "CSV file"), ("declared", "JSON file with what is public")):
        if name not in files:
            raise SpecError(name, f"this is missing; give the path of a {what}.")
    spec = upload(
        files["data"], files["declared"], tell=lambda outside: print(outside, file=sys.stderr), **rest
    )
    try:
        yield spec
    finally:
        kept.forget(spec.data)


kinds.register(
    Kind(
        key=UploadSpec.kind,
        fields=FIELDS,
        from_dict=UploadSpec.from_dict,
        start=UploadRun,
        estimate=UploadSpec.estimate,
        trace=UploadTrace,
        axis=AXIS,
        measure=MEASURE,
        axes=axes,
        along=along,
        questions={"guarantee": guarantee, "reach": reach},
        from_files=from_files,
        files={
            "policy.json": UploadTrace.policy_file,
            "policy.csv": UploadTrace.steps,
            "release.json": UploadTrace.release,
        },
    )
)
