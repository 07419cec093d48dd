"""`OfflineSpec`, the description of a run that learns from one private data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from dprl import names
from dprl.environments import ENVIRONMENTS, custom
from dprl.fields import Field, documented, reject
from dprl.learners import OFFLINE
from dprl.messages.brief import described, tabulated
from dprl.messages.labels import called, phrase
from dprl.plugins import sources_of
from dprl.privacy.curator import PROMISES
from dprl.simulation import datasets
from dprl.simulation.base import SAID, field_table
from dprl.simulation.budgeted import Budgeted
from dprl.simulation.cost import Estimate
from dprl.simulation.spec import FIELDS as ONLINE
from dprl.simulation.trace import Ints
from dprl.statistics import DATASET

AXIS, MEASURE = "n", "gap"
FIRST_POINT = 5  # the first size on the curve, as in the paper's figures

FIELDS = field_table(
    "offline",
    ONLINE,
    algorithm={"choices": tuple(OFFLINE)},
    behaviour={"help": datasets.ALLOWED},
    privacy={"choices": tuple(PROMISES)},
)


def sizes_of(n: int) -> Ints:
    """Return the sizes of the data sets on a curve, [C]: 5, 10, 20, 50 and so on below n, and then n itself."""
    import numpy as np

    rounds = [k * 10**e for e in range(len(str(n))) for k in (1, 2, 5)]
    return np.array([size for size in rounds if FIRST_POINT <= size < n] + [n], dtype=np.int64)


@documented(FIELDS)
@dataclass(frozen=True, kw_only=True, eq=False)
class OfflineSpec(Budgeted):
    """The description of an offline run, checked and in canonical form, so that specs with the same meaning are equal.

    Each point of its curve is a new data set, larger than the one before, drawn from the behaviour policy. Missing
    parameters take their defaults, and fields that do not apply are None. As in RunSpec, the environment may be a model
    of your own.

    Raises:
        SpecError: A field is not allowed, or the run exceeds a limit. The message names the field and what is allowed.
    """

    environment: custom.Named = field(default="riverswim", kw_only=False)  # type: ignore[arg-type]
    environment_params: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = "dp-kl-lcb"
    algorithm_params: Mapping[str, Any] = field(default_factory=dict)
    behaviour: str = "mixture:0.7"
    privacy: names.Given[str, str | None] = None  # type: ignore[assignment]
    calibration: str | None = None
    rho: names.NumberOrNone = None  # type: ignore[assignment]
    epsilon: names.NumberOrNone = None  # type: ignore[assignment]
    delta: names.NumberOrNone = None  # type: ignore[assignment]
    beta: names.Number = 0.1  # type: ignore[assignment]
    rewards: names.Given[str, str | None] = "known"  # type: ignore[assignment]
    n: names.Whole = 10**9  # type: ignore[assignment]
    contribution: names.Whole = 1  # type: ignore[assignment]
    seeds: names.Whole = 5  # type: ignore[assignment]
    root_seed: names.Whole = 0  # type: ignore[assignment]

    kind: ClassVar[str] = "offline"
    TABLE: ClassVar[Mapping[str, Field]] = FIELDS
    BELONGS: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "environment": ("environment_params",),
        "algorithm": ("privacy", "calibration", "rho", "epsilon", "delta"),
        "privacy": ("calibration", "rho", "epsilon", "delta"),
        "rewards": ("calibration",),
    }

    __repr__ = described
    _repr_html_ = tabulated

    def __post_init__(self) -> None:
        self._check_owned(environment=ENVIRONMENTS, algorithm=OFFLINE)
        learner = self.learner
        self._set("behaviour", datasets.check_behaviour(self.behaviour, self.problem_size))
        self._set("rewards", (self.rewards or "known") if "rewards" in learner.public else None)
        self._choose_budget(learner.privacies)
        if not PROMISES[self.privacy].fields:
            self._set("contribution", 1)
        linear = [key for key, world in ENVIRONMENTS.items() if world.features]
        if "features" in learner.public and self.environment not in linear:
            told = {"environment": self.environment, "algorithm": self.algorithm}
            raise reject("environment", SAID["no_features"], linear=" or ".join(linear), **told)
        self._check_cells("environment_params")

    def label(self) -> str:
        return called(super().label(), phrase("rewards") if self.rewards == "learned" else "")

    @property
    def size(self) -> int:
        """Return the largest value on the curve's axis: n trajectories."""
        return self.n

    def estimate(self) -> Estimate:
        """Estimate the cost of one seed, on one core of a machine with two cores."""
        S, A, H, _ = self.problem_size
        points, cells = len(sizes_of(self.n)), DATASET.draws(self.problem_size)
        seconds = points * (H * (S + A).bit_length() * 150e-6 + cells * 0.5e-6)
        return Estimate(seconds, 8 * 40 * cells, points)

    @cached_property
    def _baseline(self) -> OfflineSpec:
        if not PROMISES[self.privacy].fields:
            return self
        return self.replace(algorithm=self.learner.baseline, privacy="none")

    @property
    def _plugins(self) -> list[str]:
        return sources_of(environments=self.environment)
