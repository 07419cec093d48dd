"""Runs on uploaded data sets, as a kind of specs: one release, one policy, and the lower bound of its value."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.fields import Field, SpecError
from dprl.learners import OFFLINE
from dprl.learners.offline.learner import Learned, OfflineProblem
from dprl.mdp import counts
from dprl.mdp.tabular import Array
from dprl.privacy.curator import CuratorNoise
from dprl.privacy.exact import SPACING
from dprl.privacy.guarantee import DRAWN
from dprl.simulation import kinds
from dprl.simulation.kinds import Kind
from dprl.simulation.loops.offline import learned_from, noise_for
from dprl.simulation.trace import Curve, TraceCore
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.model import fitted
from dprl.simulation.uploads.release import UploadCurator
from dprl.simulation.uploads.spec import AXIS, FIELDS, MEASURE, UploadSpec, upload
from dprl.statistics import REWARDS
from dprl.tables import csv

WHO_AND_HOW = FIELDS.keys() - {"data", "declared", "n"}
ASSUMPTIONS = (
    "states, actions, horizon, rewards and their range are declared by the owner, not read off the data; the number of "
    "trajectories is public",
    "each person is in the file once; what is not declared counts as the last declared label or the nearest reward",
    "what noise of other scales releases of the same data set comes on top: rho adds up; the same scale again is the "
    "same noise",
    "only what was released is private: not the file, nor that it was accepted or refused, nor its fitted model",
    DRAWN,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class UploadTrace(TraceCore):
    """What was learned from an uploaded data set: all of it follows from what was released.

    The curve has one point: at n the lower bound V~ of what the learned policy is worth, from the declared start, in
    the declared rewards. All other values are in units of the reward range, from 0 to 1 for each step. v_star is None.

    Attributes:
        lower: [S] the same bound from each first state, in the declared rewards.
        errors: [] each, E in use, by family.
        released: [H, S, A, S + 2], m~ and n~, and noisy sums of rewards where these are learned (rows as in
            mdp/counts.py).
        Q_hat, penalty, Q: [H, S, A], V: [H, S], policy: [H, S], what was learned; see learner.Learned.
    """

    lower: Array
    errors: Mapping[str, Array]
    released: Array
    Q_hat: Array
    penalty: Array
    Q: Array
    V: Array
    policy: NDArray[np.int16]

    def release(self) -> str:
        """All that was released and learned as JSON, without the name that the counts are kept under: labels, the
        bound, the policy as a list of actions for each step, one for each state."""
        spec = self.spec
        public = {name: value for name, value in spec.to_dict().items() if name != "data"}
        return json.dumps(
            {
                **public,
                "declared": json.loads(spec.declared),
                "lower": float(self.curve.values[0]),
                "lower_by_start": self.lower.tolist(),
                "policy": self.policy.tolist(),
                "released_counts": self.released.tolist(),
                "proved_rho": self.guarantee.proved_rho,
            }
        )

    def steps(self) -> str:
        """The policy as CSV: step, state, action."""
        from pandas import DataFrame

        public = self.spec.public
        rows = [
            (h, state, public.actions[action])
            for h, actions in enumerate(self.policy)
            for state, action in zip(public.states, actions, strict=True)
        ]
        return csv(DataFrame(rows, columns=["step", "state", "action"]))


def upload_problem_of(spec: UploadSpec) -> OfflineProblem:
    """What the learner is told, before noise is chosen."""
    return OfflineProblem(
        size=spec.problem_size,
        n=spec.n,
        beta=spec.beta,
        params=dict(spec.algorithm_params),
        rewards=spec.public.rewards if "rewards" in spec.learner.public else None,
    )


def noise_of(spec: UploadSpec) -> tuple[CuratorNoise, dict[str, float]]:
    """The noise, and E of each family, which follow from the spec alone.

    Noise on the grid is further out than a bound on continuous noise, with the same chance, by at most one step; and
    each of at most n rewards in a sum was rounded by at most half a step.
    """
    noise, errors = noise_for(spec, upload_problem_of(spec), ASSUMPTIONS, exact=True)
    rounded = {REWARDS.family: spec.n}
    return noise, {name: E + (2 + rounded.get(name, 0)) * SPACING for name, E in errors.items()}


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
        self._curator = UploadCurator(self.data, self.noise, self.errors)
        self.learned: Learned | None = None
        self.released: tuple[Array, ...] = ()
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
            self.learned, self.released = learned_from(self._curator, self.spec.learner.plan(problem))
            self.seconds = time.perf_counter() - began
        return self.learned is not None

    def _lower(self) -> Array:
        public, size = self.spec.public, self.spec.problem_size
        return np.zeros(size.S) if self.learned is None else public.in_units(self.learned.V[0], size.H)

    def curve(self) -> Curve:
        """The lower bound at n, once it is there."""
        done = self.learned is not None
        at = np.array([self.spec.n] * done, dtype=np.int64)
        return Curve(AXIS, MEASURE, at, np.array([self.spec.public.start @ self._lower()] * done))

    def trace(self) -> UploadTrace:
        """Everything that was released, and learned from it."""
        S, A, H, _ = self.spec.problem_size
        released = np.zeros((H, S, A, S + 2))
        if self.released:
            released[...] = self.released[0]
            if "rewards" in self.spec.learner.shown:
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
            released=released,
            Q_hat=found.Q_hat,
            penalty=found.penalty,
            Q=found.Q,
            V=found.V[:-1],
            policy=found.policy.astype(np.int16),
        )


def warm() -> Iterator[Callable[[], object]]:
    """There is nothing to compile that an offline run does not; old data sets are deleted."""
    yield kept.remove_old


def guarantee(spec: UploadSpec) -> dict[str, Any]:
    """What the run claims and proves."""
    return noise_of(spec)[0].guarantee.to_dict()


def reach(spec: UploadSpec) -> dict[str, Any]:
    """Whether its bound can be above the least there is; see reach.py."""
    from dprl.simulation.uploads import reach  # which asks for the noise that is chosen here

    return reach.reach(spec)


def fitted_model(spec: UploadSpec) -> str:
    """JSON of an environment with the frequencies of a data set that is kept here, for `custom`. Not private.

    Raises:
        SpecError: the data set is not kept here, or the model is too large for an environment.
    """
    data = kept.held(spec.data)
    return fitted(data.record, data.declared)


def axes(base: UploadSpec) -> Mapping[str, Callable[[Any], Any]]:
    """What a sweep may change: the budget and the learner's parameters. Each other budget is one more release."""

    def checked(field: Field, value: Any) -> Any:
        result = field.parse(value) if isinstance(value, str) else field.check(value)
        if result is None:
            raise field.refuse(value)
        return result

    found = {f.name: f for f in FIELDS.values() if f.kind != "params" and f.query and f.name != "declared"}
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
    if "n" in given:
        raise SpecError("n", "this is how many trajectories the file has; leave it out.")
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
        warm=warm,
        trace=UploadTrace,
        axis=AXIS,
        measure=MEASURE,
        axes=axes,
        along=along,
        questions={"guarantee": guarantee, "reach": reach},
        from_files=from_files,
        files={"policy.csv": UploadTrace.steps, "release.json": UploadTrace.release},
    )
)
