"""Links to "When is privacy free?": the four runs, what is looked at, and what the calculator holds.

    v=2 & t=2 & b=<the run with a trusted agent> & show=growth & S=12 & ... & bounds=<keys joined by .>

What is looked at stands in it where it is not as usual, and the calculator where it is not at the run's own problem.
Reading never raises: what is wrong is replaced by its default and said in one sentence each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from dprl import links
from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError, shown
from dprl.learners import ALGORITHMS
from dprl.simulation import RunSpec
from dprl.theory import BOUNDS
from dprl.words import listed
from pages.shared.visitor.links import Curve

MODELS = ("none", "central", "shuffle", "local")
LEARNERS = tuple(key for key, a in ALGORITHMS.items() if set(MODELS) <= set(a.privacies))
BASE = RunSpec(episodes=10**15, seeds=20)
FEWEST = 10_000  # episodes: one tenfold after the first thousand
MOST_BOUNDS = 4
DRAWN = ("dp-ucbvi-jdp", "dp-ucbvi-ldp", "sdp-pe", "minimax")  # bounds drawn by default
DRAWABLE = tuple(key for key, bound in BOUNDS.items() if bound.of == "regret")
SHOWN = ("price", "regret", "growth", "theory", "exploration", "calculator")

FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        Field("show", "choice", "price", "the chart, or the calculator", choices=SHOWN, query="show"),
        Field("each", "choice", "off", "a line for every seed", choices=("on", "off"), query="each"),
        Field("S", "int", 6, "states", 1, 10**9, query="S"),
        Field("A", "int", 2, "actions", 1, 10**9, query="A"),
        Field("H", "int", 20, "steps of an episode", 1, 10**6, query="H"),
        Field("K", "float", 1e15, "episodes, one user each", 1, 1e30, query="K"),
        Field("epsilon", "float", 1.0, "privacy budget", 1e-6, 1e6, query="eps"),
        Field("d", "int", 12, "dimension of a linear representation", 1, 10**9, query="d"),
        Field("alpha", "float", 0.1, "an episode is a mistake when it loses more", 1e-9, 1e6, query="alpha"),
        Field("beta", "float", 0.05, "failure probability", 1e-12, 0.5, query="beta"),
        Field("rho", "float", 1.0, "zCDP budget of a data set's release", 1e-9, 1e6, query="rho"),
        Field("coverage", "float", 0.01, "least chance of a visit in a data set", 1e-12, 1, query="dm"),
        Field("kappa", "float", 0.01, "least eigenvalue of the features' second moment", 1e-12, 1, query="kappa"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class FreeView:
    """What is looked at, and the calculator: one attribute for each of FIELDS, and the keys of the bounds drawn."""

    show: str = "price"
    each: str = "off"
    S: int = 6
    A: int = 2
    H: int = 20
    K: float = 1e15
    epsilon: float = 1.0
    d: int = 12
    alpha: float = 0.1
    beta: float = 0.05
    rho: float = 1.0
    coverage: float = 0.01
    kappa: float = 0.01
    bounds: tuple[str, ...] = DRAWN


@dataclass(frozen=True)
class FreeLink:
    """What a link says. base: the run with a trusted agent; problems: a sentence for each thing that was wrong."""

    base: RunSpec
    view: FreeView
    problems: tuple[str, ...]


def calculator(base: RunSpec) -> dict[str, Any]:
    """The calculator's values for the problem and the budget of a run; d: that of a tabular problem, S*A."""
    S, A, H, *_ = ENVIRONMENTS[base.environment].size(**base.environment_params)
    return {"S": S, "A": A, "H": H, "K": float(base.episodes), "epsilon": base.epsilon, "d": S * A}


def compared(base: RunSpec) -> tuple[tuple[Curve, ...], list[str]]:
    """The four runs that differ in who is trusted, and a sentence for each that cannot be made.

    The noise is calibrated alike; each model takes the mechanism that is best for it.
    """
    curves, refused = [], []
    for model in MODELS:
        try:
            curves.append(Curve(_with(base, model)))
        except SpecError as error:
            refused.append(f"{model}: {error}")
    return tuple(curves), refused


def _with(base: RunSpec, model: str) -> RunSpec:
    if model == base.privacy:
        return base
    if model == "none":
        return base.twin()
    delta = base.delta if base.calibration == "tight" else None  # printed noise has the paper's
    return base.replace(privacy=model, calibration=base.calibration, delta=delta)


def encode(base: RunSpec, view: FreeView) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    usual = FreeView(**within(calculator(base)))
    changed = [name for name in FIELDS if getattr(view, name) != getattr(usual, name)]
    items = [*links.heading(), ("b", links.encode_spec(base))]
    items += [(FIELDS[name].query, links.written(getattr(view, name))) for name in changed]
    return items + ([("bounds", ".".join(view.bounds))] if view.bounds != usual.bounds else [])


def decode(parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None) -> FreeLink:
    """Reads the query parameters (each key with all its values). Unknown keys are ignored.

    files: texts too long for a link that are known here, by their digest.
    """
    problems: list[str] = []
    given = {key: values[-1] for key, values in parameters.items() if values}
    defaults = links.defaults_of(parameters, problems)
    base = BASE
    if "b" in given:
        spec, wrong = links.decode_spec(given["b"], defaults, files)
        problems += [f"The run: {sentence}" for sentence in wrong]
        base = _base(spec, problems) if spec else BASE
    values = calculator(base)
    for name, field in FIELDS.items():
        if field.query in given:
            try:
                values[name] = field.parse(given[field.query])
            except SpecError as error:
                problems.append(str(error))
    bounds = _bounds(given["bounds"], problems) if "bounds" in given else DRAWN
    return FreeLink(base, replace(FreeView(**within(values)), bounds=bounds), tuple(problems))


def _base(spec: RunSpec, problems: list[str]) -> RunSpec:
    """The spec as one whose four privacy models can be compared over tenfolds."""
    changes: dict[str, Any] = {}
    if spec.algorithm not in LEARNERS:
        problems.append(
            f"algorithm: {spec.algorithm} does not run with every privacy model; this page compares "
            f"{listed(LEARNERS)}."
        )
        changes |= {"algorithm": BASE.algorithm, "privacy": "central"}
    elif spec.privacy != "central":
        problems.append("privacy: the link of this page holds the run with privacy central.")
        changes["privacy"] = "central"
    if spec.episodes < FEWEST:
        problems.append(f"episodes: {spec.episodes} is not allowed; give from {FEWEST} to 10^15.")
        changes["episodes"] = BASE.episodes
        if spec.schedule == "episodic":
            changes["schedule"] = BASE.schedule
    if not changes:
        return spec
    try:
        return spec.replace(**changes)
    except SpecError as error:
        problems.append(str(error))
        return BASE


def within(values: dict[str, Any]) -> dict[str, Any]:
    """The values, those of an environment beyond what the calculator takes at its ends."""
    inside = dict(values)
    for name in ("S", "A", "H", "K", "epsilon", "d"):
        field = FIELDS[name]
        assert field.low is not None
        assert field.high is not None
        inside[name] = type(inside[name])(min(max(inside[name], field.low), field.high))
    return inside


def _bounds(text: str, problems: list[str]) -> tuple[str, ...]:
    """The bounds to draw. An empty text is none."""
    keys = list(dict.fromkeys(filter(None, text[:2000].split("."))))
    unknown = [key for key in keys if key not in DRAWABLE]
    if unknown:
        problems.append(f"bounds: {shown(unknown[0])} is not a bound on regret that is known here.")
    known = [key for key in keys if key in DRAWABLE]
    if len(known) > MOST_BOUNDS:
        problems.append(
            f"bounds: {len(known)} are too many to tell apart; the first {MOST_BOUNDS} are drawn."
        )
    return tuple(known[:MOST_BOUNDS])


assert {f.name for f in fields(FreeView)} == {*FIELDS, "bounds"}
