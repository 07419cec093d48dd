"""`Sweep`: many runs as one value. A base spec, and axes along which it is changed.

Its points are ordinary specs, so they are shared with everything else that runs; without privacy there is only
one, whatever epsilon is. Each point has its non-private twin among the runs, for the price of privacy.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError, shown
from dprl.learners import ALGORITHMS
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.simulation.spec import FIELDS, RunSpec

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

MAX_POINTS = 400
NOISES = ("tight", "paper", "scaled")
MODEL_ALLOWED = (
    "a privacy model, alone or with mechanism and noise, such as central:laplace-tree:paper, where noise is "
    "tight, paper or scaled"
)
# Replace-one proves twice the epsilon for which Laplace noise is printed (QW23-online 5.1-5.2 count half the
# sensitivity), so printed for half of it, it proves what was asked.
PRINTED_PROVES = 2.0


@dataclass(frozen=True)
class Model:
    """A way to be private: privacy model, mechanism and noise, None for the default.

    noise: `tight`, the least that proves (epsilon, delta); `paper`, as printed for epsilon; `scaled`, Laplace noise as
    printed for epsilon / 2, which is proved to be (epsilon, 0) when one user is replaced.
    """

    privacy: str
    mechanism: str | None = None
    noise: str | None = None

    @classmethod
    def parse(cls, text: object) -> Model:
        """The model written as `privacy[:mechanism[:noise]]`. Raises SpecError."""
        words = text.strip().split(":") if isinstance(text, str) else []
        privacy, mechanism, noise = [*words, "", ""][:3] if 1 <= len(words) <= 3 else ("", "", "")
        if privacy not in PRIVATIZERS or (noise and noise not in NOISES):
            raise SpecError("privacy", f"{shown(text)} is not allowed; give {MODEL_ALLOWED}.")
        if mechanism and mechanism not in PRIVATIZERS[privacy].mechanisms:
            known = ", ".join(PRIVATIZERS[privacy].mechanisms) or "none"
            raise SpecError("privacy", f"{privacy} has no mechanism {shown(mechanism)}; it has {known}.")
        if noise == "scaled" and "laplace" not in mechanism:
            raise SpecError("privacy", f"{shown(text)}: only printed Laplace noise can be scaled.")
        return cls(privacy, mechanism or None, noise or None)

    @property
    def text(self) -> str:
        """As `parse` reads it."""
        return ":".join(filter(None, (self.privacy, self.mechanism, self.noise)))

    @property
    def title(self) -> str:
        """In words, for a legend."""
        if self.privacy == "none":
            return "no privacy"
        words = [self.privacy]
        if self.mechanism:
            words.append(MECHANISMS[self.mechanism].title)
        if self.noise in ("paper", "scaled"):
            words.append({"paper": "as printed", "scaled": "as printed, scaled to prove ε"}[self.noise])
        return ", ".join(words)

    def changes(self, epsilon: float | None, delta: float | None) -> dict[str, Any]:
        """The fields of a spec that make it this model at (epsilon, delta)."""
        if self.privacy == "none":
            return {"privacy": "none"}
        epsilon = epsilon if epsilon is not None else float(FIELDS["epsilon"].default)
        changes: dict[str, Any] = {"privacy": self.privacy, "mechanism": self.mechanism, "epsilon": epsilon}
        if self.noise in ("paper", "scaled"):
            # printed Laplace noise is for delta = 0
            changes |= {"calibration": "paper", "delta": None}
            if self.noise == "scaled":
                changes["epsilon"] = epsilon / PRINTED_PROVES
        else:
            changes |= {"calibration": "tight" if self.noise else None, "delta": delta}
        return changes


@dataclass(frozen=True)
class Point:
    """One combination of a sweep: its values in the order of the axes, and its run, or why there is none."""

    values: tuple[Any, ...]
    spec: RunSpec | None
    refusal: str = ""


@dataclass(frozen=True)
class Sweep:
    """A base spec and the axes along which it changes.

    axes: name to values, in order. A name is a field of RunSpec or a parameter of the environment or algorithm; the
    values of `privacy` are models as `Model.parse` reads them. Raises SpecError for an unknown axis, an empty one, a
    value that is not allowed or stands twice, or more than MAX_POINTS combinations. Combinations that cannot be run
    are points with a refusal.
    """

    base: RunSpec
    axes: tuple[tuple[str, tuple[Any, ...]], ...]

    def __init__(self, base: RunSpec, axes: Mapping[str, Sequence[Any]]) -> None:
        if not axes:
            raise SpecError("axis", "there is none; give at least one, such as epsilon=0.1,1,10.")
        checked = []
        for name, values in axes.items():
            check = _checker(base, name)
            canonical = tuple(check(value) for value in values)
            if not canonical:
                raise SpecError("axis", f"{shown(name)} has no values; give some, such as epsilon=0.1,1,10.")
            if len(set(canonical)) < len(canonical):
                raise SpecError("axis", f"{shown(name)} has a value twice; give each once.")
            checked.append((name, canonical))
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "axes", tuple(checked))
        count = int(np.prod([len(values) for _, values in checked]))
        if count > MAX_POINTS:
            raise SpecError(
                "axis", f"these are {count:,} combinations, and at most {MAX_POINTS} are allowed."
            )

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every combination, the last axis fastest."""
        names = [name for name, _ in self.axes]
        return tuple(
            self._point(dict(zip(names, values, strict=True)), values)
            for values in itertools.product(*(values for _, values in self.axes))
        )

    def _point(self, chosen: dict[str, Any], values: tuple[Any, ...]) -> Point:
        try:
            return Point(values, self._spec(chosen))
        except SpecError as error:
            return Point(values, None, str(error))

    def _spec(self, chosen: dict[str, Any]) -> RunSpec:
        base = self.base
        changes = {name: value for name, value in chosen.items() if name in FIELDS and name != "privacy"}
        for owner, params in _params(base, chosen):
            changes[owner] = {**{k: v for k, v in getattr(base, owner).items() if v is not None}, **params}
        if "privacy" in chosen:
            asked = Model.parse(chosen["privacy"]).changes(chosen.get("epsilon", base.epsilon), base.delta)
            changes = changes | asked | {k: v for k, v in changes.items() if k != "epsilon"}
        return base.replace(**changes)

    @cached_property
    def specs(self) -> tuple[RunSpec, ...]:
        """The distinct runs, twins included, in the order in which to compute them: points that lie far apart
        first, so that the shape of the whole shows early."""
        found: dict[RunSpec, None] = {}
        runs = [point.spec for point in self.points if point.spec is not None]
        for spec in runs:
            found.setdefault(spec.twin())
        for i in _spread(len(runs)):
            found.setdefault(runs[i])
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able canonical form."""
        return {"base": self.base.to_dict(), "axes": {name: list(values) for name, values in self.axes}}

    def to_json(self) -> str:
        """Canonical JSON on one line."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_dict(cls, given: Any) -> Sweep:
        """The sweep that `to_dict` wrote. Raises SpecError."""
        if not isinstance(given, Mapping) or set(given) != {"base", "axes"}:
            raise SpecError("sweep", f"{shown(given)} is not allowed; give an object with base and axes.")
        axes = given["axes"]
        if not isinstance(axes, Mapping) or not all(isinstance(v, list | tuple) for v in axes.values()):
            raise SpecError("axes", f"{shown(axes)} is not allowed; give lists of values by name.")
        return cls(RunSpec.from_dict(given["base"]), axes)

    def frame(self, final: Mapping[RunSpec, Array]) -> pd.DataFrame:
        """Tidy table: the axes, seed, episode (K), regret, and extra_regret over the non-private twin's same seed.

        final: [seeds] regret at the end of each run of `specs`. Points without a run are left out.
        """
        import pandas as pd

        rows = []
        for point in self.points:
            if point.spec is None:
                continue
            regret, twin = final[point.spec], final[point.spec.twin()]
            for seed in range(len(regret)):
                rows.append(
                    (*point.values, seed, point.spec.episodes, regret[seed], regret[seed] - twin[seed])
                )
        columns = [*(name for name, _ in self.axes), "seed", "episode", "regret", "extra_regret"]
        return pd.DataFrame(rows, columns=columns)


def axis_fields(base: RunSpec) -> dict[str, Field]:
    """What can be an axis besides privacy: fields of the spec, and parameters of its environment and algorithm."""
    found = {
        name: field
        for name, field in FIELDS.items()
        if field.kind != "params"
        and name not in ("privacy", "seeds")  # seeds are what is paired and averaged
    }
    for owner in (ALGORITHMS[base.algorithm], ENVIRONMENTS[base.environment]):
        found |= {f.name: f for f in owner.fields if f.name not in FIELDS and f.name != "model"}
    return found


def _checker(base: RunSpec, name: str) -> Any:
    """What makes the canonical value of an axis out of a given one, text or not. Raises SpecError."""
    if name == "privacy":
        return lambda value: Model.parse(value).text
    fields = axis_fields(base)
    if name not in fields:
        known = ", ".join(["privacy", *fields])
        raise SpecError("axis", f"{shown(name)} is not allowed; give one of {known}.")
    field = fields[name]

    def check(value: Any) -> Any:
        result = field.parse(value) if isinstance(value, str) else field.check(value)
        if result is None:
            raise field.refuse(value)
        return result

    return check


def _params(base: RunSpec, chosen: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The chosen values that are parameters, by the field of the spec that holds them."""
    found = []
    for owner, record in (
        ("environment_params", ENVIRONMENTS[base.environment]),
        ("algorithm_params", ALGORITHMS[base.algorithm]),
    ):
        names = {f.name for f in record.fields}
        params = {k: v for k, v in chosen.items() if k not in FIELDS and k in names}
        if params:
            found.append((owner, params))
    return found


def _spread(count: int) -> list[int]:
    """0 .. count-1, each as far as may be from those before it: the ends, the middle, the quarters, ..."""
    order: dict[int, None] = dict.fromkeys([0, count - 1]) if count else {}
    step = 1.0
    while len(order) < count:
        step /= 2
        order |= dict.fromkeys(round(i * step * (count - 1)) for i in range(1, int(1 / step), 2))
    return list(order)
