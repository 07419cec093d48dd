"""`RunSpec`, the description of an online run, and the table of its fields for links, JSON, flags and widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from functools import cached_property
from typing import Any, ClassVar, Literal, SupportsFloat, cast

from dprl import names
from dprl.environments import ENVIRONMENTS, Environment, custom
from dprl.fields import Field, Frozen, SpecError, documented, either, not_allowed, read_json, reject
from dprl.learners import ALGORITHMS, NEEDED
from dprl.learners.tabular.planner import OWN
from dprl.messages import filled
from dprl.messages.brief import described, tabulated
from dprl.messages.labels import online
from dprl.plugins import add_plugins, sources_of
from dprl.privacy import MECHANISMS, PRIVATIZERS, Mechanism, outside
from dprl.simulation import cost, schedules, structure
from dprl.simulation.base import SAID, Spec, field_table
from dprl.simulation.pairs import calibrations_for, mechanisms_for, not_counted, runs_in
from dprl.statistics import REPLACE_ONE, Statistic
from dprl.statistics.counts import Counts, Declared

# Plug-ins are loaded when all registries exist, because one module may register entries of several kinds.
add_plugins(
    outside.GROUP, MECHANISMS, tuple(f.name for f in fields_of(Mechanism)), outside.refusal, outside.offer
)
add_plugins("dprl.environments", ENVIRONMENTS, tuple(f.name for f in fields_of(Environment)))
add_plugins("dprl.learners", ALGORITHMS, NEEDED)

DEFAULT_DELTA = 1e-6
TIED = "1/(10K)"  # a delta that is small compared with 1 / users

FIELDS = field_table(
    "online",
    {},
    environment={"choices": tuple(ENVIRONMENTS)},
    algorithm={"choices": tuple(ALGORITHMS)},
    privacy={"choices": tuple(PRIVATIZERS)},
    mechanism={"choices": tuple(MECHANISMS)},
    schedule={"default": schedules.DEFAULT, "help": schedules.ALLOWED},
)

AXIS, MEASURE = "episode", "regret"  # of the curve of an online run


@documented(FIELDS)
@dataclass(frozen=True, kw_only=True, eq=False)
class RunSpec(Spec):
    """The description of an online run, checked and in canonical form, so that specs with the same meaning are equal.

    Missing parameters of the environment and the algorithm take their defaults. Fields that do not apply are None, such
    as epsilon without privacy. The environment may be a model of your own: a TabularMDP, or P, R and d1 as a dict or
    JSON. Its key is then `custom`.

    Raises:
        SpecError: A field is not allowed, or the run exceeds a limit. The message names the field and what is allowed.
    """

    environment: custom.Named = field(default="riverswim", kw_only=False)  # type: ignore[arg-type]
    environment_params: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = "dp-ucbvi"
    algorithm_params: Mapping[str, Any] = field(default_factory=dict)
    structure: str | None = None
    privacy: names.Given[str, str | None] = None  # type: ignore[assignment]
    mechanism: str | None = None
    calibration: str | None = None
    reports: names.Given[str, str | None] = None  # type: ignore[assignment]
    epsilon: names.NumberOrNone = 1.0  # type: ignore[assignment]
    delta: names.Given[float | None, SupportsFloat | Literal["1/(10K)"] | None] = None  # type: ignore[assignment]
    beta: names.NumberOrNone = 0.1  # type: ignore[assignment]
    bonus: names.Given[str, str | None] = None  # type: ignore[assignment]
    episodes: names.Whole = 10**9  # type: ignore[assignment]
    contribution: names.Whole = 1  # type: ignore[assignment]
    schedule: str = schedules.DEFAULT
    seeds: names.Whole = 5  # type: ignore[assignment]
    root_seed: names.Whole = 0  # type: ignore[assignment]

    kind: ClassVar[str] = "online"
    TABLE: ClassVar[Mapping[str, Field]] = FIELDS
    BELONGS: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "environment": ("environment_params", "structure"),
        "algorithm": ("algorithm_params",),
        "privacy": ("mechanism", "calibration", "delta", "reports"),
        "calibration": ("mechanism", "delta"),
        "mechanism": ("delta",),
    }

    __repr__ = described
    _repr_html_ = tabulated

    def __post_init__(self) -> None:
        if hasattr(self.algorithm, "key"):
            raise not_allowed("algorithm", self.algorithm, SAID["registered"])
        self._check_owned(environment=ENVIRONMENTS, algorithm=ALGORITHMS)
        world, learner = ENVIRONMENTS[self.environment], ALGORITHMS[self.algorithm]
        if not runs_in(learner.key, world.key):
            fitting = tuple(key for key in ENVIRONMENTS if runs_in(learner.key, key))
            told = {"algorithm": learner.key, "environment": world.key, "fitting": either(fitting)}
            raise reject("environment", SAID["features"], **told)
        if self.structure is not None:
            structure.check(self.structure, learner.key)
        self._set("privacy", self.privacy or learner.privacies[0])
        if self.privacy in learner.refused:
            told = {"reason": learner.refused[self.privacy], "allowed": either(learner.privacies)}
            raise reject("privacy", SAID["privacy_refused"], **told)
        self._choose("privacy", learner.privacies, learner.key)
        self._set("bonus", self.bonus or learner.bonuses[0])
        self._choose("bonus", learner.bonuses, learner.key)
        # the default replaces a schedule that belongs to another learner
        foreign = self.schedule in {other.schedule for other in ALGORITHMS.values() if other.schedule}
        given = schedules.DEFAULT if foreign else self.schedule
        per_release = PRIVATIZERS[self.privacy].per_release
        self._set("schedule", learner.schedule or schedules.check(given, per_release))
        if self.privacy == "none":
            for name in ("mechanism", "calibration", "epsilon", "delta"):
                self._set(name, None)
            self._set("reports", "all")
            self._set("contribution", 1)
        else:
            self._choose_noise()
        unused = {f.name: None for f in learner.fields if not f.used(self.bonus)}
        self._set("algorithm_params", Frozen({**self.algorithm_params, **unused}))
        uses_beta = self.privacy != "none" or self.bonus != "practical"
        beta = FIELDS["beta"].default if self.beta is None else self.beta
        self._set("beta", beta if uses_beta else None)
        self._check_limits()

    @property
    def declared(self) -> Declared | None:
        """Return the facts about declared transitions that affect the noise. Raises SpecError if others can occur."""
        return structure.declared(self.environment, self.environment_params)[1] if self.structure else None

    @property
    def statistic(self) -> Statistic:
        """Return the statistic that the learner learns from, such as counts summed over users."""
        seen = ALGORITHMS[self.algorithm].seen(self.bonus)
        return replace(cast(Counts, seen), declared=self.declared) if self.structure else seen

    def _choose_noise(self) -> None:
        """Fill in the mechanism, calibration, epsilon and delta, and check that they are compatible."""
        privatizer = PRIVATIZERS[self.privacy]
        named = self.mechanism is not None
        if cast(Any, self.delta) == TIED:
            self._set("delta", 1 / (10 * self.episodes))
        if self.mechanism is None:
            self._set("mechanism", self._default_mechanism())
        known = mechanisms_for(self.algorithm, self.privacy)
        owner = filled(SAID["privacy"], privacy=privatizer.key)
        if known != privatizer.mechanisms:
            owner = filled(SAID["privacy_algorithm"], privacy=privatizer.key, algorithm=self.algorithm)
        self._choose("mechanism", known, owner)
        mechanism = MECHANISMS[str(self.mechanism)]
        self._set("calibration", self.calibration or "calibrated")
        able = calibrations_for(self.algorithm, mechanism.key)
        self._choose("calibration", able, filled(SAID["mechanism"], mechanism=mechanism.key))
        outside.check_contribution(mechanism.key, self.contribution)
        if not self.reports:
            self._set("reports", "all" if named else self._default_reports())
        elif reason := not_counted(self.reports, self.algorithm, self.privacy, self.mechanism):
            raise reject("reports", SAID["reports"], reason=reason)
        if self.epsilon is None:
            self._set("epsilon", FIELDS["epsilon"].default)
        if self.delta is None or mechanism.pure:
            zero = mechanism.pure or (self.calibration == "paper" and not mechanism.needs_delta)
            self._set("delta", 0.0 if zero else DEFAULT_DELTA)
        if self.delta == 0 and mechanism.needs_delta:
            others = [k for k in known if not MECHANISMS[k].needs_delta]
            if not others:
                raise reject("delta", SAID["delta"], mechanism=mechanism.key)
            raise reject("delta", SAID["delta_other"], mechanism=mechanism.key, others=either(others))

    def _default_reports(self) -> str:
        """Return the default for `reports`: "all" for a paper's noise or bonus, else the privacy model's default."""
        usual = "all" if "paper" in (self.calibration, self.bonus) else PRIVATIZERS[self.privacy].reports
        return "all" if not_counted(usual, self.algorithm, self.privacy, self.mechanism) else usual

    def _default_mechanism(self) -> str:
        """Return the privacy model's first mechanism that fits the calibration, delta and number of releases."""
        known = mechanisms_for(self.algorithm, self.privacy)
        fitting = [
            key
            for key in known
            if (self.calibration or "calibrated") in calibrations_for(self.algorithm, key)
            and not (self.delta == 0 and MECHANISMS[key].needs_delta)
        ]
        roomy = [key for key in fitting if self._has_room_for(key)]  # if there is none, the last is refused
        return (roomy or fitting[-1:] or known)[0]

    def _has_room_for(self, mechanism: str) -> bool:
        try:
            self._estimate_limits(mechanism)
        except SpecError:
            return False
        return True

    def _check_limits(self) -> None:
        learner, size = ALGORITHMS[self.algorithm], self.problem_size
        if not learner.schedule:
            schedule, argument = schedules.parse(self.schedule)
            if refusal := schedule.refusal(argument, self.episodes):
                raise refusal
        self._estimate_limits(self.mechanism)
        check_budget = PRIVATIZERS[self.privacy].check
        if check_budget is not None:
            change = learner.statistic.sensitivity(size, REPLACE_ONE)
            budget = (str(self.calibration), self.epsilon or 0.0, self.delta or 0.0, self.contribution)
            check_budget(change, str(self.mechanism), self.work(self.mechanism).releases, *budget)

    def _estimate_limits(self, mechanism: str | None) -> None:
        if refusal := ALGORITHMS[self.algorithm].refusal(self.problem_size, self.episodes):
            raise refusal
        cost.check_cost(self.work(mechanism), smaller=ENVIRONMENTS[self.environment].smaller)

    def work(self, mechanism: str | None) -> cost.Work:
        """Return the facts that determine the run's cost with this mechanism, or without noise if it is None."""
        learner, size, K = ALGORITHMS[self.algorithm], self.problem_size, self.episodes
        return cost.Work(
            size=size,
            statistic=self.statistic,
            users=K,
            releases=learner.releases(size, K, self.epsilon, MECHANISMS[mechanism].norm if mechanism else "")
            if learner.schedule
            else schedules.releases(self.schedule, K, size, PRIVATIZERS[self.privacy].per_release),
            fewer="" if learner.schedule else schedules.parse(self.schedule)[0].fewer,
            mechanism=mechanism,
            of_users=self.calibration == "paper",
            planning=learner.seconds(size, K),
            branching=self.declared.most if self.declared else None,
        )

    @classmethod
    def from_json(cls, text: str) -> RunSpec:
        """Read a spec from JSON text. Raises SpecError if a field is not allowed or the text is not JSON."""
        return cls.from_dict(read_json("spec", text))

    def replace(self, **changes: Any) -> RunSpec:
        """Copy the spec with some fields changed, and check the copy. Raises SpecError.

        Fields that belong to a changed field (such as the environment's parameters) and fields that did not apply
        before return to their defaults, unless you change them, too. So does a default mechanism, because it depends on
        the schedule and delta, and a default bonus if the algorithm changes. `reports` returns to its default along
        with a default mechanism, and otherwise is kept if it fits.
        """
        kept = self._kept(changes)
        if self.mechanism is not None and self.mechanism == self._default_mechanism():
            kept.pop("mechanism", None)
            if self.reports == self._default_reports() and changes.get("mechanism") is None:
                kept.pop("reports", None)
        if self.mechanism is not None and MECHANISMS[self.mechanism].pure:
            kept.pop("delta", None)  # a pure mechanism has its own delta
        if "algorithm" in changes and self.bonus == ALGORITHMS[self.algorithm].bonuses[0]:
            del kept["bonus"]
        told = kept | changes
        drawn = told["algorithm"], told["privacy"], told.get("mechanism")
        if "reports" not in changes and not_counted(told.get("reports", "all"), *drawn):
            del kept["reports"]
        for name in ("environment_params", "algorithm_params"):
            if name in kept:
                kept[name] = {key: value for key, value in kept[name].items() if value is not None}
        return RunSpec.from_dict(kept | changes)

    @property
    def size(self) -> int:
        """Return the largest value on the curve's axis: K users."""
        return self.episodes

    @cached_property
    def _baseline(self) -> RunSpec:
        return self.replace(privacy="none")

    @property
    def _plugins(self) -> list[str]:
        used = {"environments": self.environment, "learners": self.algorithm, "mechanisms": self.mechanism}
        return sources_of(**used)

    def label(self) -> str:
        """Return a short name for a legend."""
        learner = ALGORITHMS[self.algorithm]
        usual = {f.name: f.default for f in learner.fields}
        own = {k: value for k, value in self.algorithm_params.items() if value not in (None, usual[k])}
        level = None if self.privacy == "none" else (self.privacy, self.epsilon or 0.0)
        declared, unproved = bool(self.structure), self.bonus == OWN
        return online(learner.title, own, level, self.contribution, structure=declared, unproved=unproved)
