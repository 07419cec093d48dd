"""Links to Attack: the attacked run, the two episodes, and what is looked at.

    v=2 & t=3 & b=<run> & first=0/0/1 & second=5/0/1 & noise=half & show=promise & ...

What is as usual is left out. Reading never raises: what is wrong takes its default and is said in one sentence each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from dprl import links
from dprl.fields import Field, SpecError
from dprl.simulation import FIELDS as RUN_FIELDS
from dprl.simulation import AttackSpec, RunSpec
from dprl.simulation.attack import pairs_of

SEEDS = RUN_FIELDS["seeds"]
BASE = RunSpec(seeds=1)
SHOWN = ("attack", "collusion", "promise")
CHARTS = ("scores", "errors")
STEPS = ("one", "subtract", "tree")

FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        Field("show", "choice", "attack", "the part of the page", choices=SHOWN, query="show"),
        Field("chart", "choice", "scores", "the chart of the attack", choices=CHARTS, query="chart"),
        Field("step", "choice", "one", "the step of the collusion", choices=STEPS, query="step"),
        Field("prior", "int", 50, "percent believed before", 1, 99, query="prior"),
    )
}


@dataclass(frozen=True)
class AttackView:
    """What is looked at: one attribute for each of FIELDS."""

    show: str = "attack"
    chart: str = "scores"
    step: str = "one"
    prior: int = 50


@dataclass(frozen=True)
class AttackLink:
    """What a link says. problems: a sentence for each thing that was wrong."""

    spec: AttackSpec
    view: AttackView = field(default_factory=AttackView)
    problems: tuple[str, ...] = ()


DEFAULT = AttackSpec(run=BASE)
OWN = {"first": "first", "second": "second", "noise": "noise"}  # fields of the spec by their key


def encode(spec: AttackSpec, view: AttackView) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    usual = AttackSpec(run=spec.run)
    run = spec.run.replace(seeds=SEEDS.default)  # which means nothing here
    items = [*links.heading(), ("b", links.encode_spec(run))]
    items += [
        (key, getattr(spec, name)) for key, name in OWN.items() if getattr(spec, name) != getattr(usual, name)
    ]
    return items + [
        (f.query, links.written(getattr(view, name)))
        for name, f in FIELDS.items()
        if getattr(view, name) != f.default
    ]


def decode(parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None) -> AttackLink:
    """Reads the query parameters (each key with all its values). Unknown keys are ignored.

    files: texts too long for a link that are known here, by their digest.
    """
    problems: list[str] = []
    defaults = links.defaults_of(parameters, problems)
    spec = DEFAULT
    if (text := links.last(parameters, "b")) is not None:
        run, wrong = links.decode_spec(text, defaults, files)
        problems += [f"The run: {sentence}" for sentence in wrong]
        if run is not None:
            spec = _changed(spec, problems, run=run, first="", second="")
    for key, name in OWN.items():
        if (given := links.last(parameters, key)) is not None:
            spec = _changed(spec, problems, **{name: given})
    values = {
        name: links.checked(f, links.last(parameters, f.query), f.default, problems)
        for name, f in FIELDS.items()
    }
    return AttackLink(spec, AttackView(**values), tuple(problems))


def _changed(spec: AttackSpec, problems: list[str], **changes: Any) -> AttackSpec:
    try:
        return spec.replace(**changes)
    except SpecError as error:
        problems.append(str(error))
        return spec


def is_farthest(spec: AttackSpec) -> bool:
    """Whether no two episodes are farther apart."""
    return (spec.first, spec.second) == pairs_of(spec.run)["farthest"]


assert {f.name for f in fields(AttackView)} == FIELDS.keys()
assert replace(AttackView()) == AttackView(**{name: f.default for name, f in FIELDS.items()})
