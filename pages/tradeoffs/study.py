"""A study, which compares several models along one axis, and the Trade-offs page's state for a visitor.

    v=1 & b=<base spec> & m=<model> & ... & x=epsilon & at=0.1,1,10 & show=regret & bounds=on & share=1 & stat=median

Reading a link never raises: wrong values are replaced by defaults and reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError, shown
from dprl.learners import ALGORITHMS
from dprl.links import chosen, decode_spec, encode_spec, last, link_heading
from dprl.messages import messages
from dprl.metrics.curves import Statistic
from dprl.privacy import PRIVATIZERS
from dprl.research.sweeps import Sweep
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.axes import REPORTS, PrivacyChoice
from dprl.simulation.pairs import calibrations_for, mechanisms_for, not_counted
from dprl.words import human
from pages.shared.names import episodes_each, in_common, only
from pages.shared.results.status import Runs
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.links import STATISTICS, Curve, looked, pairs_of, read, read_values, values_text
from pages.shared.visitor.state import PageState, session

SAID = messages("pages")["tradeoffs"]
SHOWS: dict[str, str] = SAID["shows"]
VALUES: dict[str, tuple[float, ...]] = {
    "epsilon": (0.1, 0.2, 0.5, 1, 2, 5, 10, 20),
    "episodes": tuple(10**power for power in (3, 5, 6, 7, 8, 9, 11, 13, 15)),
    "contribution": (1, 2, 3, 5, 10, 20, 50),
}
FACTORS = (0.5, 1, 1.5, 2)  # multiples of the base's value, for a parameter of the environment
MOST_MODELS = 8
MOST_VALUES = 16
X, AT, BASE, MODEL = "x", "at", "b", "m"
DEFAULT_MODELS = ("none", "central", "shuffle", "local")
USERS_GRID = tuple(round(10 ** (j / 8)) for j in range(8 * 2, 8 * 15 + 1))


@dataclass(frozen=True)
class SweepView:
    base: RunSpec  # the constant settings
    models: tuple[str, ...] = DEFAULT_MODELS  # in the notation of PrivacyChoice.parse
    x: str = "epsilon"  # key of the axis
    values: tuple[Any, ...] = VALUES["epsilon"]  # values on the axis
    show: str = looked("price", "the measure that is drawn", "show", choices=tuple(SHOWS))
    bounds: str = looked("off", "the papers' bounds", "bounds", choices=("on", "off"))
    share: float = looked(1.0, "highest privacy cost of an episode, % of V*", "share", low=0.01, high=50)
    statistic: Statistic = looked("mean", "the statistic over seeds", "stat", choices=STATISTICS)

    def __post_init__(self) -> None:
        for name, given, most in (("models", self.models, MOST_MODELS), ("values", self.values, MOST_VALUES)):
            if not 1 <= len(given) <= most:
                raise SpecError(name, f"{len(given)} {name} were given; give 1 to {most}.")
        models = tuple(PrivacyChoice.parse(text).text for text in self.models)
        taken = ALGORITHMS[self.base.algorithm].privacies
        for model in models:
            if PrivacyChoice.parse(model).privacy not in taken:
                wrong = f"{self.base.algorithm} does not support {shown(model)}"
                raise SpecError("models", f"{wrong}; give one of {', '.join(taken)}.")
        if len(set(models)) < len(models):
            raise SpecError("models", "one model was given twice; give each model once.")
        if self.x not in axes(self.base):
            raise SpecError("x", f"{shown(self.x)} is not allowed; give one of {', '.join(axes(self.base))}.")
        sweep = Sweep(self.base, {"privacy": models, self.x: sorted(self.values)})
        object.__setattr__(self, "models", models)
        object.__setattr__(self, "values", sweep.axes[-1][1])

    @property
    def sweep(self) -> Sweep[Any]:
        return _once(self.base, self.models, self.x, self.values)[0]

    def points(self, model: str) -> list[tuple[Any, RunSpec]]:
        """Return the points of a model's curve: each axis value at which the model can be run, with its run."""
        return _once(self.base, self.models, self.x, self.values)[1].get(model, [])

    @cached_property
    def titles(self) -> dict[str, str]:
        """Return the name of each model's line."""
        found = {}
        for text in self.models:
            one = PrivacyChoice.parse(text)
            title = one.title if one.mechanism else PRIVATIZERS[one.privacy].title
            found[text] = title[0].upper() + title[1:]
        return found

    @property
    def private(self) -> list[str]:
        """Return the private models, which the view `users` compares."""
        return [model for model in self.models if model != "none"]

    @property
    def searches(self) -> dict[str, dict[int, RunSpec]]:
        """Return the runs that the view `users` may search, by model and by number of users."""
        found = {way: _once(self.base, (way,), "episodes", USERS_GRID)[1] for way in self.private}
        return {w: {spec.episodes: spec for _, spec in lines[w]} for w, lines in found.items() if w in lines}

    @property
    def refusals(self) -> dict[str, list[str]]:
        """Return the reasons for gaps in the chart, or for searches that stop early, each with its models."""
        refused = [point for point in self.sweep.points if point.spec is None]
        if self.show == "users":
            refused = []
            for way in self.private:
                points = _once(self.base, (way,), "episodes", USERS_GRID)[0].points
                most = max((i for i, point in enumerate(points) if point.spec), default=-1)
                refused += points[most + 1 : most + 2]
        found: dict[str, list[str]] = {}
        for reason, model in dict.fromkeys((point.refusal, point.values[0]) for point in refused):
            found.setdefault(reason, []).append(model)
        return found

    @property
    def common(self) -> str:
        """Describe the settings that all points have in common."""
        specs = list(self.sweep.specs)
        if self.show == "users":
            specs = [spec for runs in self.searches.values() for spec in runs.values()]
        specs = specs or [self.base]
        private = [spec for spec in specs if spec.epsilon is not None]
        return " · ".join(
            [
                in_common([Curve(spec) for spec in specs]),
                *(f"ε = {epsilon:g}" for epsilon in only(spec.epsilon or 0.0 for spec in private)),
                *(f"δ = {human(delta)}" for delta in only(spec.delta or 0.0 for spec in private)),
                *filter(None, only(map(episodes_each, specs))),
            ]
        )


# The values of the axis at which each model can be run, with the runs.
Lines = dict[str, list[tuple[Any, RunSpec]]]


@lru_cache(maxsize=40)  # about 200 kB each, for all visitors together
def _once(base: RunSpec, models: tuple[str, ...], x: str, at: tuple[Any, ...]) -> tuple[Sweep[Any], Lines]:
    sweep = Sweep(base, {"privacy": models, x: at})
    lines: Lines = {}
    for point in sweep.points:
        if point.spec is not None:
            lines.setdefault(str(point.values[0]), []).append((point.values[1], point.spec))
    return sweep, lines


def axes(base: RunSpec) -> dict[str, Field]:
    """Return the possible axes: the budget, the number of users, and the environment's whole-number parameters."""
    found = {name: FIELDS[name] for name in ("epsilon", "episodes", "contribution")}
    return found | {
        f.name: f for f in ENVIRONMENTS[base.environment].fields if f.kind == "int" and f.name != "seed"
    }


def default_values(base: RunSpec, x: str) -> tuple[Any, ...]:
    """Return the default values of an axis. For an environment parameter, they surround its value in `base`."""
    if x in VALUES:
        return VALUES[x]
    allowed = []
    for factor in FACTORS:
        with suppress(SpecError):
            allowed.append(axes(base)[x].check(round(base.environment_params[x] * factor)))
    return tuple(dict.fromkeys(allowed))


def parse_values(base: RunSpec, x: str, text: str) -> tuple[Any, ...]:
    """Read values written as `0.1, 1, 10`, in ascending order. Raises SpecError."""
    return read_values(axes(base)[x], text, MOST_VALUES)


def usual_models(base: RunSpec) -> tuple[str, ...]:
    """Return the models that are compared by default: every privacy model that the algorithm supports."""
    return tuple(m for m in PRIVATIZERS if m in ALGORITHMS[base.algorithm].privacies)


def offered_models(algorithm: str) -> list[str]:
    """Return the models that can be compared for an algorithm: each privacy model, followed by its mechanisms."""
    found = []
    for privacy in (model for model in PRIVATIZERS if model in ALGORITHMS[algorithm].privacies):
        found.append(privacy)
        for mechanism in mechanisms_for(algorithm, privacy):
            for noise in calibrations_for(algorithm, mechanism):
                found.append(f"{privacy}:{mechanism}:{noise}")
                for reports in REPORTS if noise == "calibrated" else ():
                    if not not_counted(reports, algorithm, privacy, mechanism):
                        found.append(f"{privacy}:{mechanism}:{noise}:{reports}")
                if noise == "paper" and "laplace" in mechanism:
                    found.append(f"{privacy}:{mechanism}:scaled")
    return found


# With this many users, all privacy models have begun to learn, at every budget of the axis.
DEFAULT = SweepView(RunSpec(episodes=10**10, seeds=10))


def questions(base: RunSpec) -> dict[str, SweepView]:
    """Return the ready-made studies with the settings of `base`, by question. With many models, omit some values."""
    usual = usual_models(base)
    known = mechanisms_for(base.algorithm, "central") if "central" in usual else ()
    scaled = ("central:laplace-tree:scaled",) if "laplace-tree" in known else ()
    central = (*(f"central:{mechanism}:calibrated" for mechanism in known), *scaled)
    asked: dict[str, tuple[tuple[str, ...], str, str]] = {
        "What does a smaller ε cost?": (usual, "epsilon", "price"),
        "When is privacy free?": (usual, "episodes", "regret"),
        "How many users are needed?": (usual, "epsilon", "users"),
        "Which mechanism costs least?": (central, "epsilon", "price"),
        "What do longer episodes cost?": (usual, "H", "price"),
        "What do more states cost?": (usual, "S", "price"),
    }
    found = {}
    for words, (models, x, show) in asked.items():
        if models and x in axes(base):
            at = default_values(base, x)[:: 2 if len(models) > len(DEFAULT_MODELS) else 1]
            found[words] = SweepView(base, models, x, at, show)
    return found


def question_of(study: SweepView) -> str | None:
    """Return the ready-made question that a study answers, or None."""
    for words, other in questions(study.base).items():
        same = (other.models, other.x, other.values) == (study.models, study.x, study.values)
        if same and (other.show == "users") == (study.show == "users"):
            return words
    return None


def encode(study: SweepView) -> list[tuple[str, str]]:
    return [
        *link_heading(),
        (BASE, encode_spec(study.base)),
        *((MODEL, model) for model in study.models),
        (X, study.x),
        (AT, values_text(study.values).replace(" ", "")),
        *pairs_of(study),
    ]


def decode(
    parameters: Mapping[str, Sequence[str]], problems: list[str], files: Mapping[str, str] | None = None
) -> SweepView:
    """Read a study from a link, and add a sentence to `problems` for each wrong value."""
    base = DEFAULT.base
    if (text := last(parameters, BASE)) is not None:
        found, wrong = decode_spec(text, files)
        problems += wrong
        base = found or base
    how = read(SweepView, parameters, problems)
    x = chosen(X, last(parameters, X), axes(base), problems) or DEFAULT.x
    at = default_values(base, x)
    if (text := last(parameters, AT)) is not None:
        try:
            at = parse_values(base, x, text[:1000])
        except SpecError as error:
            problems.append(str(error))
    usual = usual_models(base)
    kept: tuple[str, ...] = ()
    for text in (parameters.get(MODEL, ()) or usual)[: 2 * MOST_MODELS]:
        try:
            kept = SweepView(base, (*kept, text), x, at).models
        except SpecError as error:
            problems.append(str(error))
    return replace(SweepView(base, kept or usual, x, at), **how)


RUNS = Runs(("tradeoffs",), "sweep", by_ends=True)  # some results are bundled as end values only


@dataclass
class SweepPageState(PageState):
    """The state of Trade-offs for one visitor."""

    view: SweepView = DEFAULT  # the study that is shown
    models: list[str] = field(default_factory=lambda: list(DEFAULT.models))  # chosen in the controls
    x: str = DEFAULT.x
    values: dict[str, str] = field(default_factory=dict)  # as text, for each axis
    asked: bool = False  # whether the study's runs were requested
    linked: bool = False  # whether a link requested them

    @property
    def first_draft(self) -> Draft:
        return draft_of(self.view.base)

    @property
    def link(self) -> list[tuple[str, str]]:
        return encode(self.view)

    def follow(self, given: Query, problems: list[str]) -> None:
        study = decode(given, problems, session().files)
        show_study(study)
        self.linked = True
        self.asked = study.show == "users" or RUNS.begin(study.sweep.specs)


trade = SweepPageState.mine


def show_study(study: SweepView) -> None:
    """Show a study and set the controls to its values."""
    t = trade()
    t.view, t.asked = study, False
    set_controls(study)


def set_controls(study: SweepView) -> None:
    t, s = trade(), session()
    t.models, t.x = list(study.models), study.x
    t.values[study.x] = values_text(study.values)
    s.draft = draft_of(study.base)
    s.version += 1


def start_sweep() -> None:
    """Request the missing runs of the study."""
    t = trade()
    t.asked, t.linked = True, False
    if t.view.show != "users":
        RUNS.start(t.view.sweep.specs)


def go_on(specs: Sequence[RunSpec]) -> None:
    """Request the next runs of a search. If a link started the search, stop once it would cost too much."""
    t = trade()
    new = RUNS.progress(specs).of("unknown")
    if new and t.linked:
        t.asked = RUNS.begin(new)
    elif new:
        RUNS.start(new)
