"""Links to Linear: the runs that are compared, and what is looked at, see shared/visitor/several.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from dprl.fields import Field
from dprl.learners import ALGORITHMS
from dprl.metrics import Statistic
from dprl.simulation import RunSpec
from pages.shared.visitor import several
from pages.shared.visitor.links import VIEW_FIELDS

MAX_CURVES = 8
TABS = ("regret", "exponents", "ellipsoid", "eigenvalues", "weights", "guarantee", "data")
MEASURES = ("cumulative", "per-episode", "extra")
PROBLEMS = ("same", "harder")
MOST_WEIGHTS = 1000

# What is looked at, and how. These defaults stand in no link, so they never change.
FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        Field("tab", "choice", "regret", "the open tab", choices=TABS, query="tab"),
        Field("measure", "choice", "per-episode", "which regret is drawn", choices=MEASURES, query="m"),
        VIEW_FIELDS["statistic"],
        VIEW_FIELDS["x"],
        VIEW_FIELDS["y"],
        VIEW_FIELDS["each"],
        Field("problem", "choice", "same", "what exponents are of", choices=PROBLEMS, query="of"),
        Field("curve", "int", -1, "the run looked at, -1: the most private", -1, MAX_CURVES - 1, query="i"),
        VIEW_FIELDS["seed"],
        VIEW_FIELDS["episode"],
        Field("h", "int", 0, "the step of the episode", 0, 999, query="h"),
        Field("first", "int", 0, "the weight along the horizontal axis", 0, MOST_WEIGHTS, query="w1"),
        Field("second", "int", 1, "the weight along the vertical axis", 0, MOST_WEIGHTS, query="w2"),
        Field("near", "choice", "on", "axes that the region fills", choices=("on", "off"), query="near"),
    )
}


@dataclass(frozen=True)
class LinearView:
    """What is looked at: one attribute for each of FIELDS."""

    tab: str = "regret"
    measure: str = "per-episode"
    statistic: Statistic = "mean"
    x: str = "log"
    y: str = "log"
    each: str = "off"
    problem: str = "same"
    curve: int = -1
    seed: int = 0
    episode: int = 10**15
    h: int = 0
    first: int = 0
    second: int = 1
    near: str = "on"


@dataclass(frozen=True)
class LinearLink:
    """What a link says. problems: one plain sentence for each thing that could not be used."""

    specs: tuple[RunSpec, ...] = ()
    view: LinearView = field(default_factory=LinearView)
    problems: tuple[str, ...] = ()


def encode(specs: Sequence[RunSpec], view: LinearView) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    return several.encode(specs, view, FIELDS)


def decode(parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None) -> LinearLink:
    """Reads the query parameters (each key with all its values). files: see `several.decode`. Runs of learners that
    need no features are left out, and said."""
    specs, values, problems = several.decode(parameters, FIELDS, RunSpec.kind, MAX_CURVES, files)
    fitting = tuple(spec for spec in specs if ALGORITHMS[spec.algorithm].needs)
    if len(fitting) < len(specs):
        problems.append("Only runs of learners of linear models are shown here; the others are left out.")
        values["curve"] = LinearView.curve
    return LinearLink(fitting, LinearView(**values), tuple(problems))


assert {f.name for f in fields(LinearView)} == FIELDS.keys()
assert all(getattr(LinearView(), name) == f.default for name, f in FIELDS.items())
