"""`OfflineSpec`: learning from one private data set, as a value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError, check_params, shown
from dprl.learners import OFFLINE
from dprl.mdp import Size
from dprl.plugins import sources
from dprl.privacy.curator import PROMISES, Budget
from dprl.simulation import cost, datasets
from dprl.simulation.cost import Estimate
from dprl.simulation.spec import engine
from dprl.simulation.trace import Ints
from dprl.statistics import DATASET

AXIS, MEASURE = "n", "gap"
DEFAULT_DELTA = 1e-6
FIRST_POINT = 5  # of the curve; the paper's figures begin there

# What takes its default again when another field changes: it would mean something else, or nothing.
BELONGS = {
    "environment": ("environment_params",),
    "algorithm": ("privacy", "calibration", "rho", "epsilon", "delta"),
    "privacy": ("calibration", "rho", "epsilon", "delta"),
}

FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        Field(
            "environment", "choice", "riverswim", "the problem", choices=tuple(ENVIRONMENTS), query="env", flag="--env",
        ),
        Field("environment_params", "params", {}, "its parameters", query="envp", flag="--env-param"),
        Field(
            "algorithm", "choice", "dp-apvi", "the learner", choices=tuple(OFFLINE), query="alg", flag="--algorithm",
        ),
        Field("algorithm_params", "params", {}, "its parameters", query="algp", flag="--algorithm-param"),
        Field(
            "behaviour", "text", "mixture:0.7", datasets.ALLOWED, query="mu", flag="--behaviour",
        ),
        Field(
            "privacy", "choice", None, "what is promised; by default the algorithm's first",
            choices=tuple(PROMISES), optional=True, query="priv", flag="--privacy",
        ),
        Field(
            "calibration", "choice", None,
            "how large the noise is: as printed, or the least that proves the budget; as printed by default",
            choices=("paper", "tight"), optional=True, query="cal", flag="--calibration",
        ),
        Field(
            "rho", "float", None, "budget of zero-concentrated privacy, by default 1: small is private",
            1e-6, 1e6, optional=True, query="rho", flag="--rho",
        ),
        Field(
            "epsilon", "float", None, "budget of pure or approximate privacy, by default 1: small is private",
            0.001, 10_000.0, optional=True, query="eps", flag="--epsilon",
        ),
        Field(
            "delta", "float", None, "budget of approximate privacy beside epsilon, by default 1e-6",
            0.0, 0.1, low_open=True, optional=True, query="delta", flag="--delta",
        ),
        Field(
            "beta", "float", 0.1, "failure probability of the learner's bounds", 1e-9, 0.5, query="beta", flag="--beta",
        ),
        Field("n", "int", 10**9, "trajectories in the largest data set", 1, 10**12, query="n", flag="--n"),
        Field("seeds", "int", 5, "independent data sets of each size", 1, 100, query="seeds", flag="--seeds"),
        Field("root_seed", "int", 0, "where the random numbers start", 0, 2**53 - 1, query="seed", flag="--root-seed"),
    )
}  # fmt: skip


def sizes_of(n: int) -> Ints:
    """[C] sizes of the data sets on a curve that ends at n: 5, 10, 20, 50, ... below n, and n."""
    import numpy as np

    rounds = [k * 10**e for e in range(len(str(n))) for k in (1, 2, 5)]
    return np.array([size for size in rounds if FIRST_POINT <= size < n] + [n], dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class OfflineSpec:
    """An offline run, checked and in canonical form: two specs that mean the same are equal.

    Its curve is over data sets of growing size, each drawn anew from the behaviour policy, so that no trajectory is in
    two of them; its seeds are repetitions of all that. Parameters are filled in with their defaults, and fields that a
    combination does not use are None. FIELDS gives types, ranges and defaults.

    Raises:
        SpecError: one sentence that names the field and what is allowed, also when the run would not fit the limits.
    """

    environment: str = "riverswim"
    environment_params: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = "dp-apvi"
    algorithm_params: Mapping[str, Any] = field(default_factory=dict)
    behaviour: str = "mixture:0.7"
    privacy: str = None  # type: ignore[assignment]  # filled in below
    calibration: str | None = None
    rho: float | None = None
    epsilon: float | None = None
    delta: float | None = None
    beta: float = 0.1
    n: int = 10**9
    seeds: int = 5
    root_seed: int = 0

    kind: ClassVar[str] = "offline"

    def __post_init__(self) -> None:
        for name, table_field in FIELDS.items():
            self._set(name, table_field.check(getattr(self, name)))
        world, learner = ENVIRONMENTS[self.environment], OFFLINE[self.algorithm]
        for name, owner in (("environment_params", world), ("algorithm_params", learner)):
            self._set(name, check_params(name, owner.key, owner.fields, getattr(self, name)))
        self._set("behaviour", datasets.check(self.behaviour))
        self._set("privacy", self.privacy or learner.privacies[0])
        self._choose("privacy", learner.privacies, learner.key)
        self._choose_budget()
        self._check_limits()

    def _choose_budget(self) -> None:
        """Fill in calibration and the numbers of the budget; those that it has no use for become None."""
        learner, promise = OFFLINE[self.algorithm], PROMISES[self.privacy]
        if not promise.fields:
            self._set("calibration", None)
        else:
            ways = ("paper", "tight") if promise.key in learner.printed else ("tight",)
            self._set("calibration", self.calibration or ways[0])
            self._choose("calibration", ways, f"privacy {promise.key} of {learner.key}")
        for name, usual in (("rho", 1.0), ("epsilon", 1.0), ("delta", DEFAULT_DELTA)):
            given = getattr(self, name)
            self._set(name, (usual if given is None else given) if name in promise.fields else None)

    def _choose(self, name: str, allowed: tuple[str, ...], owner: str) -> None:
        if getattr(self, name) not in allowed:
            raise SpecError(
                name, f"{shown(getattr(self, name))} does not go with {owner}; give {' or '.join(allowed)}."
            )

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_limits(self) -> None:
        linear = [key for key, world in ENVIRONMENTS.items() if world.features]
        if "features" in OFFLINE[self.algorithm].public and self.environment not in linear:
            raise SpecError(
                "environment",
                f"{self.environment} has no features, which {self.algorithm} needs; give {' or '.join(linear)}.",
            )
        cells = DATASET.cells(self.problem_size)
        if cells > cost.MAX_CELLS:
            S, A, H = self.problem_size
            raise SpecError(
                "environment_params",
                f"S={S}, A={A}, H={H} needs {cells:,} counters {DATASET.formula} and at most {cost.MAX_CELLS:,} are "
                f"allowed; give smaller ones.",
            )

    @cached_property
    def problem_size(self) -> Size:
        """S, A and H."""
        return Size(*ENVIRONMENTS[self.environment].size(**self.environment_params))

    @property
    def budget(self) -> Budget:
        """What is promised."""
        return Budget(PROMISES[self.privacy], self.rho, self.epsilon, self.delta)

    @property
    def size(self) -> int:
        """Where the curve ends: n trajectories."""
        return self.n

    def estimate(self) -> Estimate:
        """What one seed will cost, on one core of the machine of bench/offline.py."""
        S, A, H = self.problem_size
        points, cells = len(sizes_of(self.n)), DATASET.cells(self.problem_size)
        seconds = points * (H * (S + A).bit_length() * 150e-6 + cells * 0.5e-6)
        return Estimate(seconds, 8 * 40 * cells, points)

    def twin(self) -> OfflineSpec:
        """The non-private twin: the same learner without noise, on the same data sets."""
        return self._twin

    @cached_property
    def _twin(self) -> OfflineSpec:
        if not PROMISES[self.privacy].fields:
            return self
        return self.replace(algorithm=OFFLINE[self.algorithm].twin, privacy="none")

    @property
    def caution(self) -> str:
        """Nothing: all constants that there are, are offered."""
        return ""

    def label(self) -> str:
        """A short name for a legend."""
        title = OFFLINE[self.algorithm].title
        if not PROMISES[self.privacy].fields:
            return f"{title}, no privacy"
        budget = ", ".join(f"{name} {getattr(self, name):g}" for name in PROMISES[self.privacy].fields)
        return f"{title}, {budget}"

    def seed_key(self, seed: int) -> str:
        """Name of the unit of work `one seed of this spec`: equal exactly when the resulting bits are."""
        unit = {k: v for k, v in self.to_dict().items() if k != "seeds"}
        versions = (*engine(), *(sources[key] for key in (self.environment,) if key in sources))
        text = json.dumps([unit, seed, versions], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def replace(self, **changes: Any) -> OfflineSpec:
        """A copy with some fields changed, checked anew. Raises SpecError.

        What belongs to a changed field takes its default again; of the parameters of another algorithm those stay that
        it has, too.
        """
        kept = {name: value for name, value in self.to_dict().items() if value is not None and name != "kind"}
        for owner, owned in BELONGS.items():
            if owner in changes and changes[owner] != getattr(self, owner):
                for name in owned:
                    kept.pop(name, None)
        algorithm = changes.get("algorithm", self.algorithm)
        if algorithm in OFFLINE:
            known = {f.name for f in OFFLINE[algorithm].fields}
            kept["algorithm_params"] = {k: v for k, v in kept["algorithm_params"].items() if k in known}
        return from_dict(kept | changes)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able canonical form, in the order of FIELDS."""
        whole = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"kind": self.kind} | {k: dict(v) if isinstance(v, Mapping) else v for k, v in whole.items()}

    def to_json(self) -> str:
        """Canonical JSON on one line."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @cached_property
    def _canonical(self) -> str:
        return json.dumps(self.to_dict(), sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OfflineSpec) and self._canonical == other._canonical

    def __hash__(self) -> int:
        return hash(self._canonical)


def from_dict(given: Mapping[str, Any]) -> OfflineSpec:
    """The spec with these fields; what is left out takes its default. Raises SpecError."""
    for name in given:
        if name not in FIELDS:
            raise SpecError("spec", f"{shown(name)} is not a field; the fields are {', '.join(FIELDS)}.")
    return OfflineSpec(**given)
