"""The settings that a sweep of online runs can vary: spec fields, parameters, and privacy models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.environments.custom import own_model
from dprl.fields import Field, SpecError, not_allowed, reject, shown
from dprl.learners import ALGORITHMS
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.simulation.base import SAID
from dprl.simulation.spec import FIELDS, RunSpec

NOISES = {
    "calibrated": "",
    "paper": "as in the paper",
    "scaled": "as in the paper, scaled so that the claim is proved",
}
OWNERS: dict[str, Mapping[str, Any]] = {"algorithm": ALGORITHMS, "environment": ENVIRONMENTS}
REPORTS = {"played": "only reports from users told to take the action"}
MODEL_ALLOWED = str(SAID["model"])
# If one user is replaced, a paper's Laplace noise guarantees only twice the stated epsilon (QW23-online 5.1-5.2 count
# half of the sensitivity). So the paper's noise for epsilon / 2 guarantees epsilon.
PAPER_PROVES = 2.0


@dataclass(frozen=True)
class PrivacyChoice:
    """A privacy model with its mechanism, noise and reports. None stands for the default.

    noise: `calibrated` (the least noise for (epsilon, delta)), `paper` (the paper's noise for epsilon), or `scaled`
    (the paper's Laplace noise for epsilon / 2, which guarantees (epsilon, 0) if one user is replaced).
    reports: a key of REPORTS or None, which means all reports if a mechanism is named, and otherwise the default.
    """

    privacy: str
    mechanism: str | None = None
    noise: str | None = None
    reports: str | None = None

    @classmethod
    def parse(cls, text: object) -> PrivacyChoice:
        """Parse a model written as `privacy[:mechanism[:noise[:reports]]]`. Raises SpecError."""
        words = text.strip().split(":") if isinstance(text, str) else []
        privacy, mechanism, noise, reports = [*words, "", "", ""][:4] if 1 <= len(words) <= 4 else [""] * 4
        known = privacy in PRIVATIZERS and noise in ("", *NOISES) and reports in ("", *REPORTS)
        if not known or (reports and not (mechanism and noise)):
            raise not_allowed("privacy", text, MODEL_ALLOWED)
        if mechanism and mechanism not in PRIVATIZERS[privacy].mechanisms:
            drawn = ", ".join(PRIVATIZERS[privacy].mechanisms) or "none"
            raise SpecError("privacy", f"{privacy} has no mechanism {shown(mechanism)}; it has {drawn}.")
        if noise == "scaled" and "laplace" not in mechanism:
            raise reject("privacy", SAID["scaled"], value=shown(text))
        return cls(privacy, mechanism or None, noise or None, reports or None)

    @property
    def text(self) -> str:
        """Return the model in the form that `parse` reads."""
        return ":".join(filter(None, (self.privacy, self.mechanism, self.noise, self.reports)))

    @property
    def title(self) -> str:
        """Return the model's name for a legend."""
        if self.privacy == "none":
            return "no privacy"
        mechanism = MECHANISMS[self.mechanism].title if self.mechanism else ""
        words = (self.privacy, mechanism, NOISES.get(self.noise or ""), REPORTS.get(self.reports or ""))
        return ", ".join(filter(None, words))

    def changes(self, epsilon: float | None, delta: float | None) -> dict[str, Any]:
        """Return the spec fields for this privacy model, epsilon and delta."""
        if self.privacy == "none":
            return {"privacy": "none"}
        epsilon = epsilon if epsilon is not None else float(FIELDS["epsilon"].default)
        changes: dict[str, Any] = {"privacy": self.privacy, "mechanism": self.mechanism, "epsilon": epsilon}
        changes["reports"] = self.reports or ("all" if self.mechanism else None)
        if self.noise in ("paper", "scaled"):
            # Laplace noise as in the paper has delta = 0
            changes |= {"calibration": "paper", "delta": None}
            if self.noise == "scaled":
                changes["epsilon"] = epsilon / PAPER_PROVES
        else:
            changes |= {"calibration": "calibrated" if self.noise else None, "delta": delta}
        return changes


def axes(base: RunSpec) -> dict[str, Callable[[Any], Any]]:
    """Return the settings that a sweep can vary, each with a function that puts a value into canonical form."""
    fields = axis_fields(base, OWNERS, FIELDS)
    found: dict[str, Callable[[Any], Any]] = {"privacy": lambda value: PrivacyChoice.parse(value).text}
    return found | {name: partial(axis_value, f) for name, f in fields.items() if name != "privacy"}


def along(base: RunSpec, chosen: Mapping[str, Any]) -> RunSpec:
    """Return the base spec with these values of the swept settings. Raises SpecError if they are incompatible."""
    changes = {name: value for name, value in chosen.items() if name in FIELDS and name != "privacy"}
    changes |= params_along(base, chosen, OWNERS, FIELDS)
    if "privacy" in chosen:
        asked = PrivacyChoice.parse(chosen["privacy"]).changes(
            chosen.get("epsilon", base.epsilon), base.delta
        )
        changes = changes | asked | {k: v for k, v in changes.items() if k != "epsilon"}
    return base.replace(**changes)


# ---- shared by all kinds of specs


def axis_value(field: Field, value: Any) -> Any:
    """Convert the value of a swept setting, which may be text, to its canonical form. Raises SpecError."""
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
    """Return the fields and parameters that a sweep can vary. Seeds are excluded, because results are paired by seed
    and averaged over seeds. The arguments are as in `params_along`."""
    found = {name: field for name, field in fields.items() if field.kind != "params" and name != "seeds"}
    for name, registry in registries.items():
        owned = registry[getattr(base, name)].fields
        found |= {f.name: f for f in owned if f.name not in fields and f.name != "model"}
    return found


def params_along(
    base: Any, chosen: Mapping[str, Any], registries: Mapping[str, Mapping[str, Any]], fields: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Return the environment and algorithm parameters for these values of the swept settings.

    A new environment or algorithm keeps the parameters that it shares with the base spec, unless they have their
    default values. `registries` has the registry of each field that names an entry; `fields` take precedence.
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
