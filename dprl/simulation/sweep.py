"""`Sweep`: many runs as one value, with a base spec and the axes along which it varies.

Its points are ordinary specs, so they share results with all other runs; without privacy there is only one point,
whatever epsilon is. The runs include each point's non-private baseline, for the privacy cost.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dprl.environments.custom import own_model
from dprl.fields import Field, SpecError, shown, similar
from dprl.messages.brief import shortened
from dprl.simulation.kinds import given_spec, kind_of
from dprl.simulation.trace import Spec

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

S = TypeVar("S", bound=Spec)

MAX_POINTS = 400


@dataclass(frozen=True)
class SweepPoint(Generic[S]):
    """One combination of a sweep: its values in the order of the axes, and its run, or the reason why it has none."""

    values: tuple[Any, ...]
    spec: S | None
    refusal: str = ""

    @property
    def names(self) -> tuple[Any, ...]:
        """Return the values as tables show them: a user's model by its name."""
        return tuple(str(value) if isinstance(value, str) else value for value in self.values)


@dataclass(frozen=True)
class Sweep(Generic[S]):
    """A base spec and the axes along which it varies. Combinations that cannot run are kept as points with the reason.

    Attributes:
        base: the spec, or a dict of its fields.
        axes: the values of each axis by its name, in order. Possible axes depend on the base's kind (see axes.py).

    Raises:
        SpecError: The base is not a spec, an axis is unknown or empty, a value is not allowed or occurs twice, or
            there are more than MAX_POINTS combinations.
    """

    base: S
    axes: tuple[tuple[str, tuple[Any, ...]], ...]

    def __init__(self, base: S, axes: Mapping[str, Sequence[Any]]) -> None:
        base = given_spec(base)
        if not isinstance(axes, Mapping):
            raise SpecError("axes", f"{shown(axes)} is not allowed; give lists of values by name.")
        if not axes:
            raise SpecError("axis", "there is none; give at least one, such as epsilon=0.1,1,10.")
        checked, known = [], kind_of(base).axes(base)
        for name, values in axes.items():
            if name not in known:
                wrong = f"{shown(name)} is not allowed{similar(name, known)}"
                raise SpecError("axis", f"{wrong}; give one of {', '.join(known)}.")
            if isinstance(values, str | bytes) or not np.iterable(values):
                raise SpecError(
                    "axis", f"{shown(name)} is {shown(values)}; give a list of values, such as [0.1, 1, 10]."
                )
            canonical = tuple(known[name](value) for value in values)
            if not canonical:
                raise SpecError("axis", f"{shown(name)} has no values; give some, such as epsilon=0.1,1,10.")
            if len({str(value) for value in canonical}) < len(canonical):
                raise SpecError("axis", f"{shown(name)} has a value or a name twice; give each once.")
            checked.append((name, canonical))
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "axes", tuple(checked))
        count = int(np.prod([len(values) for _, values in checked]))
        if count > MAX_POINTS:
            raise SpecError(
                "axis", f"these are {count:,} combinations, and at most {MAX_POINTS} are allowed."
            )

    def __repr__(self) -> str:
        return f"Sweep({self.base.label()}: {shortened(dict(self.axes))})"

    @cached_property
    def points(self) -> tuple[SweepPoint[S], ...]:
        """Return every combination, the last axis changing fastest."""
        names = [name for name, _ in self.axes]
        return tuple(
            self._point(dict(zip(names, values, strict=True)), values)
            for values in itertools.product(*(values for _, values in self.axes))
        )

    def _point(self, chosen: dict[str, Any], values: tuple[Any, ...]) -> SweepPoint[S]:
        try:
            return SweepPoint(values, kind_of(self.base).along(self.base, chosen))
        except SpecError as error:
            return SweepPoint(values, None, str(error))

    @cached_property
    def specs(self) -> tuple[S, ...]:
        """Return the distinct runs, including baselines, in the order in which to compute them: points that are far
        apart come first, so that the overall shape shows early."""
        found: dict[S, None] = {}
        runs = [point.spec for point in self.points if point.spec is not None]
        for spec in runs:
            found.setdefault(spec.baseline())
        for i in _spread(len(runs)):
            found.setdefault(runs[i])
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the canonical form for JSON."""
        return {"base": self.base.to_dict(), "axes": {name: list(values) for name, values in self.axes}}

    def to_json(self) -> str:
        """Return the canonical JSON on one line."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_dict(cls, given: Any) -> Sweep[Any]:
        """Read the sweep that `to_dict` wrote. Raises SpecError."""
        if not isinstance(given, Mapping) or set(given) != {"base", "axes"}:
            raise SpecError("sweep", f"{shown(given)} is not allowed; give an object with base and axes.")
        return cls(given["base"], given["axes"])

    def frame(self, final: Mapping[S, Array]) -> pd.DataFrame:
        """Return a tidy table: the axes and seed, and for an online run episode (K), regret and extra_regret, which
        compares with the same seed of the non-private baseline. Points without a run are left out.

        Args:
            final: the measure at the end of each run of `specs`, by seed.
        """
        import pandas as pd

        if not isinstance(final, Mapping) or not final.keys() >= set(self.specs):
            raise SpecError("final", "a run is missing; give the measures of each of `specs`.")
        rows, kind = [], kind_of(self.base)
        names = [name for name, _ in self.axes]
        for point in self.points:
            if point.spec is None:
                continue
            measured, baseline = final[point.spec], final[point.spec.baseline()]
            for seed in range(len(measured)):
                rows.append(
                    (*point.names, seed, point.spec.size, measured[seed], measured[seed] - baseline[seed])
                )
        whole = pd.DataFrame(rows, columns=[*names, "seed", kind.axis, kind.measure, f"extra_{kind.measure}"])
        return whole.loc[:, ~whole.columns.duplicated()]  # a sweep along the curve's own axis names it once


def axis_value(field: Field, value: Any) -> Any:
    """Return the canonical form of a value of an axis, which may be given as text. Raises SpecError."""
    own = own_model(value) if field.name == "environment" else None
    if own is not None:
        return own
    result = field.parse(value) if isinstance(value, str) else field.check(value)
    if result is None:
        raise field.refuse(value)
    return result


def axis_fields(
    base: Any, registries: Mapping[str, Mapping[str, Any]], fields: Mapping[str, Field]
) -> dict[str, Field]:
    """Return the possible axes: fields of the spec, and parameters of environment and algorithm. Seeds are no
    axis, because they are paired and averaged. registries, fields: as in `params_along`."""
    found = {name: field for name, field in fields.items() if field.kind != "params" and name != "seeds"}
    for name, registry in registries.items():
        owned = registry[getattr(base, name)].fields
        found |= {f.name: f for f in owned if f.name not in fields and f.name != "model"}
    return found


def params_along(
    base: Any, chosen: Mapping[str, Any], registries: Mapping[str, Mapping[str, Any]], fields: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Return the parameters of environment and algorithm at these values of axes.

    Another environment or algorithm keeps those parameters of the base that it shares and that are not defaults.

    Args:
        registries: environments and algorithms, by the field of a spec that names one.
        fields: the fields of a spec; parameters with these names cannot be axes.
    """
    found = {}
    for name, registry in registries.items():
        kept, key = getattr(base, f"{name}_params"), chosen.get(name, getattr(base, name))
        own = {field.name: field.default for field in registry[getattr(base, name)].fields}
        given = {field: chosen[field] for field in own if field in chosen and field not in fields}
        if key != getattr(base, name):
            known = {field.name for field in registry[key].fields} if key in registry else set()
            kept = {field: kept[field] for field in own if field in known and kept[field] != own[field]}
        elif not given:
            continue
        found[f"{name}_params"] = {field: value for field, value in kept.items() if value is not None} | given
    return found


def _spread(count: int) -> list[int]:
    """Return 0 .. count-1, each as far as possible from those before it: the ends, the middle, the quarters, ..."""
    order: dict[int, None] = dict.fromkeys([0, count - 1]) if count else {}
    step = 1.0
    while len(order) < count:
        step /= 2
        order |= dict.fromkeys(round(i * step * (count - 1)) for i in range(1, int(1 / step), 2))
    return list(order)
