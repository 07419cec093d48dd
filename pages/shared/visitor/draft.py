"""The draft of a run in the controls, which may be incomplete or impossible."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from dprl.learners import ALGORITHMS
from dprl.privacy import MECHANISMS
from dprl.simulation.pairs import calibrations_for, mechanisms_for, not_counted
from dprl.simulation.spec import FIELDS, RunSpec

Owner = Literal["environment", "algorithm"]


@dataclass
class Draft:
    """The fields of a RunSpec as the controls show them.

    environment_params, algorithm_params, structure: stored for each environment or algorithm, so that switching back
    restores them. mechanism, calibration, reports, delta, bonus: None if they are chosen automatically.
    """

    environment: str
    environment_params: dict[str, dict[str, Any]]
    algorithm: str
    algorithm_params: dict[str, dict[str, Any]]
    structure: dict[str, str]
    privacy: str | None
    mechanism: str | None
    calibration: str | None
    reports: str | None
    epsilon: float
    delta: float | str | None
    beta: float
    bonus: str | None
    episodes: int
    contribution: int
    schedule: str
    seeds: int
    root_seed: int

    def params(self, owner: Owner, key: str) -> dict[str, Any]:
        """Return the parameters of one environment or algorithm, which can be changed in place."""
        of_all = self.environment_params if owner == "environment" else self.algorithm_params
        return of_all.setdefault(key, {})


def draft_of(spec: RunSpec) -> Draft:
    """Return the draft that describes `spec`. Unused fields and automatically chosen noise have their defaults."""
    values = spec.to_dict()
    draft: dict[str, Any] = {name: f.default for name, f in FIELDS.items() if f.kind != "params"}
    draft |= {k: v for k, v in values.items() if v is not None and FIELDS[k].kind != "params"}
    draft["reports"] = spec.reports if spec.privacy != "none" else None
    chosen_for_it: dict[str, Any] = dict.fromkeys(("mechanism", "calibration", "reports", "delta"))
    if spec.replace(**chosen_for_it) == spec:
        draft |= chosen_for_it
    if spec.mechanism and MECHANISMS[spec.mechanism].pure:
        draft["delta"] = None
    if spec.bonus == ALGORITHMS[spec.algorithm].bonuses[0]:
        draft["bonus"] = None
    if ALGORITHMS[spec.algorithm].schedule:  # its own schedule, which another algorithm does not have
        draft["schedule"] = FIELDS["schedule"].default
    for owner in ("environment", "algorithm"):
        params = {k: v for k, v in values[f"{owner}_params"].items() if v is not None}
        draft[f"{owner}_params"] = {draft[owner]: params}
    draft["structure"] = {spec.environment: spec.structure} if spec.structure else {}
    return Draft(**draft)


def spec_from(draft: Draft) -> RunSpec:
    """Return the run that a draft describes, without settings that do not fit it. Raises SpecError."""
    values = asdict(draft)
    for owner in ("environment", "algorithm"):
        values[f"{owner}_params"] = values[f"{owner}_params"].get(values[owner], {})
    algorithm = ALGORITHMS[draft.algorithm]
    declares = "structure" in algorithm.declarable
    values["structure"] = (draft.structure.get(draft.environment) or None) if declares else None
    values["privacy"] = effective(draft.privacy, algorithm.privacies)
    values["bonus"] = effective(draft.bonus, algorithm.bonuses)
    mechanisms = mechanisms_for(draft.algorithm, values["privacy"])
    if draft.mechanism not in mechanisms:
        values["mechanism"] = None
    if not any(draft.calibration in calibrations_for(draft.algorithm, key) for key in mechanisms):
        values["calibration"] = None
    if not_counted(values["reports"] or "all", draft.algorithm, values["privacy"], values["mechanism"]):
        values["reports"] = "all"
    return RunSpec.from_dict(values)


def effective(wish: str | None, allowed: tuple[str, ...]) -> str:
    """Return the visitor's last choice, `wish`, if it is allowed, or else the first allowed value."""
    return wish if wish in allowed else allowed[0]
