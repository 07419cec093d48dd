"""Runs on uploaded data sets, as a kind of specs: one release, two policies, and a lower bound on the value of one."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from dprl.fields import SpecError, shown
from dprl.learners import OFFLINE
from dprl.learners.offline.kl_lcb import reward_bounds
from dprl.learners.offline.learner import OfflineProblem
from dprl.mdp import counts
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.privacy.curator import ONCE, CuratorNoise, apart_of
from dprl.simulation import kinds
from dprl.simulation.kinds import Kind
from dprl.simulation.loops.offline import families_of, learned_from
from dprl.simulation.trace import Curve
from dprl.simulation.uploads import check, kept
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.noise import beside, noise_of, upload_problem_of
from dprl.simulation.uploads.registry import registry_entry
from dprl.simulation.uploads.release import UploadCurator, noise_in_words
from dprl.simulation.uploads.spec import AXIS, FIELDS, LEARNERS, MEASURE, UploadSpec
from dprl.simulation.uploads.spent import Draw
from dprl.simulation.uploads.start import bound_from_start
from dprl.simulation.uploads.trace import UploadTrace
from dprl.statistics import REPLACE_ONE, REWARDS, TRANSITIONS


@lru_cache(maxsize=256)
def draws_of(spec: UploadSpec) -> tuple[Draw, ...]:
    """Return the draws of a release: for the people learned from, and for those held out."""
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
    """Describe the purpose of the sums over held-out people; texts are equal if and only if it is the same draw."""
    return f"held out: {spec.to_json()}"


def fitted_to(
    problem: OfflineProblem, policy: Policy, released: tuple[Array, ...], noise: CuratorNoise
) -> tuple[check.Fitted, check.Scores]:
    """Fit the model to the released sums of the people learned from, and return it with its scores."""
    assert noise.mechanism is not None
    scale, E = (next(iter(each.values())) for each in (noise.scales, problem.errors))  # of counts
    unit = float(noise.mechanism.std(ONCE)[0]) ** 2
    r, of_rewards = problem.rewards, None
    if r is None:
        r = reward_bounds(problem, released[0], released[1])[0]
        of_rewards = unit * noise.scales[REWARDS.family] ** 2
    n, m = float(problem.n), problem.episodes
    if m > 1:  # only the noisy counts show how many episodes there are
        n = float(np.clip(counts.visits(released[0]).sum() / problem.size.H, n, m * n))
    fitted = check.fit(released[0], policy, r, E, unit * scale**2, n, of_rewards, m)
    return fitted, check.scores(fitted, policy, r, of_rewards is not None)


class UploadRun:
    """The one release of a spec. Raises SpecError if its data set is not stored here."""

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
        self._problem = replace(upload_problem_of(spec), errors=self.errors)
        self._trace: UploadTrace | None = None

    @property
    def progress(self) -> float:
        """Return the share of the noise that is drawn, 0 to 1; learning takes only a moment."""
        return self._curator.share

    def advance(self, seconds: float = 0.1) -> bool:
        """Work for about `seconds`; return whether it is done. Raises SpecError if a release cannot be recorded."""
        if self._trace is None and self._curator.draw(seconds):
            self._trace = self._learn()
        return self._trace is not None

    def curve(self) -> Curve:
        """Return the lower bound at n, once it exists."""
        return self._trace.curve if self._trace else Curve(AXIS, MEASURE, np.zeros(0, np.int64), np.zeros(0))

    def trace(self) -> UploadTrace:
        """Return all that was released, and what was learned from it, once the run is done."""
        assert self._trace is not None
        return self._trace

    def _learn(self) -> UploadTrace:
        spec, public, size = self.spec, self.spec.public, self.spec.problem_size
        began = time.perf_counter()  # after drawing, because its duration depends on the draws
        learned, sums = learned_from(self._curator, spec.learner.plan(self._problem))
        plug_in, _ = learned_from(self._curator, OFFLINE[LEARNERS[1]].plan(self._problem))
        policies = np.stack([learned.policy, plug_in.policy])
        always = self._always(sums)
        checked = self._ask_those_held_out(policies, sums) if spec.checked else {}
        bound = public.in_units(np.array(self._bound_from_start(learned.V[0], sums[0])), size.H)
        seconds = time.perf_counter() - began
        released = sums[0].copy()
        if public.rewards is None:
            counts.rewards(released)[...] = spec.learner.shown["rewards"](sums)
        return UploadTrace(
            spec=spec,
            seed=self.seed,
            complete=True,
            curve=Curve(AXIS, MEASURE, np.array([spec.n], dtype=np.int64), np.array([float(bound)])),
            v_star=None,
            guarantee=self.noise.guarantee,
            seconds=seconds,
            rate=spec.n / seconds if seconds > 0 else 0.0,
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
        """Return the value, from the start, of always taking each action [A], from the released sums alone."""
        S, A, H, _ = self._problem.size
        found = []
        for action in range(A):
            policy = np.full((H, S), action, dtype=np.int64)
            fitted, _ = fitted_to(self._problem, policy, released, self.noise)
            start = np.maximum(counts.visits(released[0])[0].sum(-1), 0.0)
            found.append(float(start @ fitted.V[0]) / max(float(start.sum()), 1.0))
        return np.array(found)

    def _ask_those_held_out(self, policies: Policy, released: tuple[Array, ...]) -> dict[str, Array]:
        """Release the held-out people's sums for both policies. They are drawn once for a spec, and stored."""
        assert self.noise.mechanism is not None
        problem = self._problem
        models = [fitted_to(problem, policy, released, self.noise) for policy in policies]
        scales, std = self.noise.scales, float(self.noise.mechanism.std(ONCE)[0])
        which = asked_of_those_held_out(self.spec)
        found = kept.drawn_sums(self.spec.data, which)
        if found is None:
            exact = check.sums([table for _, table in models], self.data.held, problem.episodes)
            noisy = check.noisy(exact, scales)
            # without which scores mean nothing
            ends = np.array([[table.low, table.width] for _, table in models])
            found = kept.write_down(self.spec.data, which, {"sums": noisy, "ends": ends})
        of_sums = std * np.array([scales[name] for name in check.names(problem.episodes)])
        H, n, each = problem.size.H, self.spec.checked, []
        for number, ((fitted, table), (low, width)) in enumerate(zip(models, found["ends"], strict=True)):
            table = table._replace(low=int(low), width=int(width))
            mine = [number, *range(2, len(of_sums))]
            each.append(
                check.assessed(found["sums"][mine], fitted, table, n, H, of_sums[mine], problem.episodes)
            )
        return {name: np.stack([one[name] for one in each]) for name in each[0]}

    def _bound_from_start(self, V: Array, released: Array) -> float:
        """Return the bound from the declared start, or from the start in the released counts of the first step."""
        spec, noise = self.spec, self.noise
        if spec.public.start is not None:
            return float(spec.public.start @ V)
        scale = noise.scales[TRANSITIONS.family]
        return bound_from_start(V, released, spec.problem_size, spec.learned_from, spec.beta, scale)


def guarantee(spec: UploadSpec) -> dict[str, Any]:
    """Return the stated and the proved guarantee of the run."""
    return noise_of(spec)[0].guarantee.to_dict()


def axes(base: UploadSpec) -> NoReturn:
    """Refuse a sweep: each further budget would be one more release."""
    raise SpecError(
        "axis", "a file of your own has none, for each point would be one more release; give another spec."
    )


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
        along=lambda base, chosen: base,
        questions={"guarantee": guarantee},
        files={
            "policy.json": lambda trace: trace.portable.to_json(),
            "policy.csv": lambda trace: trace.portable.csv_text(),
            "release.json": UploadTrace.release,
            "registry.yaml": registry_entry,
        },
    )
)
