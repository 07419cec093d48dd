"""The base class of all specs: frozen descriptions of runs, in canonical form."""

from __future__ import annotations

import hashlib
import json
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

from dprl.engine import source_digest
from dprl.environments import ENVIRONMENTS, custom
from dprl.fields import Field, Frozen, check_names, check_params, either, not_allowed, reject, shown
from dprl.mdp import Size
from dprl.messages import messages
from dprl.plugins import Registry

SAID = messages("refusals")["spec"]
FIRST = "online"  # the kind of a spec that does not name one
_TABLES = tomllib.loads(Path(__file__).with_name("fields.toml").read_text("utf-8"))


def field_table(kind: str, shared: Mapping[str, Field], **known: dict[str, Any]) -> Registry[Field]:
    """Return the fields of a kind of spec, by name, from fields.toml.

    shared: the fields of the kind that `as` refers to; known: values that follow from the program, by field.
    """
    found: dict[str, Field] = {}
    for name, row in _TABLES[kind].items():
        values: dict[str, Any] = {"default": None, "help": "", "flag": f"--{name.replace('_', '-')}"}
        values |= {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()} | known.get(name, {})
        found[name] = shared[name] if "as" in row else Field(name, **values)
    return Registry(found.items())


class Spec(ABC):
    """The base class of all specs. TABLE lists the fields. Specs with equal canonical forms are equal."""

    kind: ClassVar[str]  # the key of its Kind, see kinds.py
    TABLE: ClassVar[Mapping[str, Field]]  # the kind's fields, except for nested specs
    # for each field, the fields that return to their defaults when it changes
    BELONGS: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @property
    @abstractmethod
    def seeds(self) -> int:
        """Return the number of independent repetitions."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Return the largest value on the curve's axis."""

    @abstractmethod
    def label(self) -> str:
        """Return a short name for a legend."""

    @abstractmethod
    def replace(self, **changes: Any) -> Self:
        """Copy the spec with some fields changed, and check the copy. Raises SpecError."""

    @classmethod
    def from_dict(cls, given: Any) -> Self:
        """Build the spec from a dict of its fields; missing fields take their defaults. Raises SpecError."""
        names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
        if not isinstance(given, Mapping):
            raise not_allowed("spec", given, f"an object with fields such as {names[0]}")
        check_names(names, given)
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return the spec's canonical form as a dict for JSON, in the order of the fields."""
        whole = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        named = {} if self.kind == FIRST else {"kind": self.kind}
        return named | {k: dict(v) if isinstance(v, Mapping) else v for k, v in whole.items()}

    def to_json(self) -> str:
        """Return the spec as canonical JSON on one line."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    def seed_key(self, seed: int) -> str:
        """Return a hash that identifies one seed's result; hashes are equal exactly when results are bit-identical."""
        unit = {k: v for k, v in self.to_dict().items() if k != "seeds"}
        text = json.dumps([unit, seed, *engine(), *self._plugins], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def baseline(self) -> Self:
        """Return the non-private baseline to compare this run with, or the spec itself if it has none."""
        return self._baseline

    @cached_property
    def _baseline(self) -> Self:
        return self

    @property
    def _plugins(self) -> list[str]:
        """Return the versions of the other packages that the spec depends on."""
        return []

    @cached_property
    def _canonical(self) -> str:
        return json.dumps(self.to_dict(), sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._canonical == getattr(other, "_canonical", None)

    def __hash__(self) -> int:
        return hash(self._canonical)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_fields(self) -> None:
        """Check each field on its own, and store its canonical value."""
        for name, table_field in self.TABLE.items():
            self._set(name, table_field.check(getattr(self, name)))

    def _check_owned(self, **owners: Any) -> None:
        """Check all fields, the user's own model, and the parameters against the registries in `owners`."""
        given: Any = self
        key, params = custom.named(given.environment, given.environment_params)
        self._set("environment", key)
        self._set("environment_params", params)
        self._check_fields()
        for name, registry in owners.items():
            owner, params = registry[getattr(self, name)], f"{name}_params"
            self._set(params, Frozen(check_params(params, owner.key, owner.fields, getattr(self, params))))

    @cached_property
    def problem_size(self) -> Size:
        """Return the numbers of states S, actions A and steps H."""
        given: Any = self
        return Size(*ENVIRONMENTS[given.environment].size(**given.environment_params))

    def _choose(self, name: str, allowed: tuple[str, ...], owner: str) -> None:
        if getattr(self, name) not in allowed:
            told = {"value": shown(getattr(self, name)), "owner": owner, "allowed": either(allowed)}
            raise reject(name, SAID["goes"], **told)

    def _kept(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that have a value and still apply after these changes (see BELONGS)."""
        kept = {name: value for name, value in self.to_dict().items() if value is not None and name != "kind"}
        for owner, owned in self.BELONGS.items():
            if owner in changes and changes[owner] != getattr(self, owner):
                for name in owned:
                    kept.pop(name, None)
        return kept


@cache
def engine() -> tuple[str, str, str]:
    """Return the versions of dprl's source, numba and numpy. With the spec, they determine every bit of a result."""
    return source_digest(), version("numba"), version("numpy")
