"""Links to Offline: the runs that are compared, and what is looked at.

    v=2 & t=2 & c=<first run> & c=<each later one, as differences from the one before> & ... & tab=coverage & i=1 & ...

How a run is written is said in dprl/links.py. What is as usual is left out. Reading never raises: what is wrong takes
its default, or is left out, and is said in one sentence each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from dprl import links
from dprl.fields import Field
from dprl.simulation import OfflineSpec

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
    items = links.heading()
    items += [("c", links.encode_spec(spec, specs[i - 1] if i else None)) for i, spec in enumerate(specs)]
    looked = ((f.query, getattr(view, name), f.default) for name, f in FIELDS.items())
    return items + [(key, links.written(value)) for key, value, usual in looked if value != usual]


def decode(parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None) -> OfflineLink:
    """Reads the query parameters (each key with all its values). Unknown keys are ignored.

    files: texts too long for a link that are known here, by their digest.
    """
    problems: list[str] = []
    links.defaults_of(parameters, problems)
    values = {
        name: links.checked(f, links.last(parameters, f.query), f.default, problems)
        for name, f in FIELDS.items()
    }
    given = list(parameters.get("c", ()))
    if len(given) > MAX_CURVES:
        problems.append(f"The link has {len(given)} curves; the first {MAX_CURVES} are shown.")
    specs: list[OfflineSpec] = []
    before: links.Pairs = {}
    for index, text in enumerate(given[:MAX_CURVES]):
        pairs, wrong = links.split(text, kind=OfflineSpec.kind)
        whole = links.inherited(before, pairs) | pairs
        spec, more = links.spec_from(whole, files or {}, OfflineSpec.kind)
        before = whole if spec is None else links.spec_pairs(spec)  # what was wrong in it is said only once
        if spec is not None and spec not in specs:
            specs.append(spec)
        problems += [f"Curve {index + 1}: {sentence}" for sentence in wrong + more]
    if values["curve"] >= max(len(specs), 1):
        values["curve"] = OfflineView.curve
    return OfflineLink(tuple(specs), OfflineView(**values), tuple(problems))


assert {f.name for f in fields(OfflineView)} == FIELDS.keys()
assert all(getattr(OfflineView(), name) == f.default for name, f in FIELDS.items())
