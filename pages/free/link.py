"""Links to "When is privacy free?": the four runs, what is looked at, and what the calculator holds.

    v=1 & b=<the run with a trusted curator> & show=growth & S=12 & ... & bounds=<keys joined by .>

What is looked at stands in it where it is not as usual, and the calculator where it is not at the run's own problem.
Reading never raises: what is wrong is replaced by its default and said in one sentence each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dprl import links
from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError, shown
from dprl.learners import ALGORITHMS
from dprl.simulation import RunSpec
from dprl.theory import BOUNDS
from dprl.words import listed
from pages.shared.visitor.links import Curve
from pages.shared.visitor.views import fields_of, looked, pairs_of, read

MODELS = ("none", "central", "shuffle", "local")
LEARNERS = tuple(key for key, a in ALGORITHMS.items() if set(MODELS) <= set(a.privacies))
BASE = RunSpec(episodes=10**15, seeds=20)
FEWEST = 10_000  # episodes: one tenfold after the first thousand
MOST_BOUNDS = 4
DRAWN = ("dp-ucbvi-jdp", "dp-ucbvi-ldp", "sdp-pe", "minimax")  # bounds drawn by default
DRAWABLE = tuple(key for key, bound in BOUNDS.items() if bound.of == "regret")
SHOWN = ("price", "regret", "growth", "theory", "calculator")


@dataclass(frozen=True)
class FreeView:
    """What is looked at, and the calculator. bounds: keys of those that are drawn."""

    show: str = looked("price", "the chart, or the calculator", "show", choices=SHOWN)
    each: str = looked("off", "a line for every seed", "each", choices=("on", "off"))
    S: int = looked(6, "states", "S", low=1, high=10**9)
    A: int = looked(2, "actions", "A", low=1, high=10**9)
    H: int = looked(20, "steps of an episode", "H", low=1, high=10**6)
    K: float = looked(1e15, "users, one episode each", "K", low=1, high=1e30)
    epsilon: float = looked(1.0, "privacy budget", "eps", low=1e-6, high=1e6)
    d: int = looked(12, "dimension of a linear representation", "d", low=1, high=10**9)
    alpha: float = looked(
        0.1, "reward that an episode must lose to count as suboptimal", "alpha", low=1e-9, high=1e6
    )
    beta: float = looked(0.05, "failure probability", "beta", low=1e-12, high=0.5)
    rho: float = looked(1.0, "zCDP budget of a data set's release", "rho", low=1e-9, high=1e6)
    coverage: float = looked(0.01, "least chance of a visit in a data set", "dm", low=1e-12, high=1)
    kappa: float = looked(0.01, "least eigenvalue of the features' second moment", "kappa", low=1e-12, high=1)
    bounds: tuple[str, ...] = DRAWN


FIELDS = fields_of(FreeView)


@dataclass(frozen=True)
class FreeLink:
    """What a link says. base: the run with a trusted curator; problems: a sentence for each thing that was wrong."""

    base: RunSpec
    view: FreeView
    problems: tuple[str, ...]


def calculator(base: RunSpec) -> dict[str, Any]:
    """The calculator's values for the problem and the budget of a run; d: that of a tabular problem, S*A."""
    S, A, H, *_ = ENVIRONMENTS[base.environment].size(**base.environment_params)
    return {"S": S, "A": A, "H": H, "K": float(base.episodes), "epsilon": base.epsilon, "d": S * A}


def four_models(base: RunSpec) -> tuple[tuple[Curve, ...], list[str]]:
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
        return base.baseline()
    delta = base.delta if base.calibration == "calibrated" else None  # noise as in the paper has its own
    return base.replace(privacy=model, calibration=base.calibration, delta=delta)


def encode(base: RunSpec, view: FreeView) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    items = [*links.link_heading(), ("b", links.encode_spec(base))]
    items += pairs_of(view, usual=within(calculator(base)))
    return items + ([("bounds", ".".join(view.bounds))] if view.bounds != DRAWN else [])


def decode(parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None) -> FreeLink:
    """Reads the query parameters (each key with all its values). Unknown keys are ignored.

    files: texts too long for a link that are known here, by their digest.
    """
    problems: list[str] = []
    links.check_version(parameters, problems)
    base = BASE
    if (text := links.last(parameters, "b")) is not None:
        spec, wrong = links.decode_spec(text, files)
        problems += [f"The run: {sentence}" for sentence in wrong]
        base = _base(spec, problems) if spec else BASE
    values = read(FreeView, parameters, problems, calculator(base))
    text = links.last(parameters, "bounds")
    bounds = DRAWN if text is None else _bounds(text, problems)
    return FreeLink(base, FreeView(**within(values), bounds=bounds), tuple(problems))


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
