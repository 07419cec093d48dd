"""What a run claims about privacy, and what it proves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Guarantee:
    """The card every run carries.

    model: JDP, LDP or none; trust: who sees raw data and who is trusted; unit: what is protected;
    adjacency: what counts as a neighbouring data set; where: the place noise enters;
    noise_scale: scale parameter of one noise draw, in counts; noise_std: standard deviation of one released
    counter at the worst release time, in counts; claimed_*: what the paper says; proved_*: what the printed
    noise proves under `adjacency`. Numbers are None where no privacy is claimed.
    """

    model: str
    trust: str
    unit: str
    adjacency: str
    mechanism: str
    where: str
    noise_formula: str
    noise_scale: float | None
    noise_std: float | None
    claimed_epsilon: float | None
    claimed_delta: float | None
    proved_epsilon: float | None
    proved_delta: float | None
    assumptions: tuple[str, ...]
    sources: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return asdict(self)


UNIT = "one user: one whole episode"
REPLACE_ONE = "replace one user's whole trajectory by another"
SIMULATION = (
    "noise is drawn in floating point: right for simulation, not for a deployment that must resist attack"
)
