"""Links to Offline: the runs that are compared, and what is looked at, see shared/visitor/several.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from dprl.fields import Field
from dprl.simulation import OfflineSpec
from pages.shared.visitor import several

MAX_CURVES = 8
TABS = ("gap", "pessimism", "policy", "coverage", "guarantee", "data", "upload")
MEASURES = ("gap", "price")
POLICY_CHARTS = ("steps", "visits", "V")
BIGGEST = 10**12

# What is looked at, and how. These defaults stand in no link, so they never change.
FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        Field("tab", "choice", "gap", "the open tab", choices=TABS, query="tab"),
        Field("measure", "choice", "gap", "what is drawn over n", choices=MEASURES, query="m"),
        Field("y", "choice", "log", "the vertical axis", choices=("log", "linear"), query="y"),
        Field("each", "choice", "off", "a line for every repetition", choices=("on", "off"), query="each"),
        Field("curve", "int", -1, "the run looked at, -1: the most private", -1, MAX_CURVES - 1, query="i"),
        Field("seed", "int", 0, "which repetition is looked at", 0, 99, query="seed"),
        Field(
            "n",
            "int",
            0,
            "the size looked at, 0: the largest not yet enough",
            0,
            BIGGEST,
            query="n",
        ),
        Field("h", "int", -1, "the step of the episode, -1 for all", -1, 999, query="h"),
        Field("drawn", "choice", "steps", "the chart of the policy", choices=POLICY_CHARTS, query="pol"),
    )
}


@dataclass(frozen=True)
class OfflineView:
    """What is looked at: one attribute for each of FIELDS."""

    tab: str = "gap"
    measure: str = "gap"
    y: str = "log"
    each: str = "off"
    curve: int = -1
    seed: int = 0
    n: int = 0
    h: int = -1
    drawn: str = "steps"


@dataclass(frozen=True)
class OfflineLink:
    """What a link says. problems: one plain sentence for each thing that could not be used."""

    specs: tuple[OfflineSpec, ...] = ()
    view: OfflineView = field(default_factory=OfflineView)
    problems: tuple[str, ...] = ()


def encode(specs: Sequence[OfflineSpec], view: OfflineView) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    return several.encode(specs, view, FIELDS)


def decode(parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None) -> OfflineLink:
    """Reads the query parameters (each key with all its values). files: see `several.decode`."""
    specs, values, problems = several.decode(parameters, FIELDS, OfflineSpec.kind, MAX_CURVES, files)
    return OfflineLink(specs, OfflineView(**values), tuple(problems))


assert {f.name for f in fields(OfflineView)} == FIELDS.keys()
assert all(getattr(OfflineView(), name) == f.default for name, f in FIELDS.items())
