"""Links to Attack: the attacked run, the two episodes, and what is looked at.

    v=1 & b=<run> & first=0/0/1 & second=5/0/1 & noise=half & show=promise & ...

What is as usual is left out. Reading never raises: what is wrong takes its default and is said in one sentence each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dprl import links
from dprl.fields import SpecError
from dprl.simulation import FIELDS as RUN_FIELDS
from dprl.simulation import AttackSpec, RunSpec
from dprl.simulation.attack import pairs_of
from pages.shared.visitor import views
from pages.shared.visitor.views import fields_of, looked

SEEDS = RUN_FIELDS["seeds"]
BASE = RunSpec(seeds=1)
SHOWN = ("attack", "collusion", "promise")
CHARTS = ("scores", "errors")
STEPS = ("one", "subtract", "tree")


@dataclass(frozen=True)
class AttackView:
    """What is looked at."""

    show: str = looked("attack", "the part of the page", "show", choices=SHOWN)
    chart: str = looked("scores", "the chart of the attack", "chart", choices=CHARTS)
    step: str = looked("one", "the step of the collusion", "step", choices=STEPS)
    prior: int = looked(50, "percent believed before", "prior", low=1, high=99)


FIELDS = fields_of(AttackView)


@dataclass(frozen=True)
class AttackLink:
    """What a link says. problems: a sentence for each thing that was wrong."""

    spec: AttackSpec
    view: AttackView = field(default_factory=AttackView)
    problems: tuple[str, ...] = ()


DEFAULT = AttackSpec(run=BASE)
OWN = {
    "first": "first",
    "second": "second",
    "noise": "noise",
    "places": "places",
}  # fields of the spec by their key


def encode(spec: AttackSpec, view: AttackView) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    usual = AttackSpec(run=spec.run)
    run = spec.run.replace(seeds=SEEDS.default)  # which means nothing here
    items = [*links.link_heading(), ("b", links.encode_spec(run))]
    items += [
        (key, getattr(spec, name)) for key, name in OWN.items() if getattr(spec, name) != getattr(usual, name)
    ]
    return items + views.pairs_of(view)


def decode(parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None) -> AttackLink:
    """Reads the query parameters (each key with all its values). Unknown keys are ignored.

    files: texts too long for a link that are known here, by their digest.
    """
    problems: list[str] = []
    links.check_version(parameters, problems)
    spec = DEFAULT
    if (text := links.last(parameters, "b")) is not None:
        run, wrong = links.decode_spec(text, files)
        problems += [f"The run: {sentence}" for sentence in wrong]
        if run is not None:
            spec = _changed(spec, problems, run=run, first="", second="")
    for key, name in OWN.items():
        if (given := links.last(parameters, key)) is not None:
            spec = _changed(spec, problems, **{name: given})
    view = AttackView(**views.read(AttackView, parameters, problems))
    return AttackLink(spec, view, tuple(problems))


def _changed(spec: AttackSpec, problems: list[str], **changes: Any) -> AttackSpec:
    try:
        return spec.replace(**changes)
    except SpecError as error:
        problems.append(str(error))
        return spec


def is_farthest(spec: AttackSpec) -> bool:
    """Whether no two episodes are farther apart."""
    return (spec.first, spec.second) == pairs_of(spec.run)["farthest"]
