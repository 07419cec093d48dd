"""What the page Trade-offs shows, as a value: a sweep over one axis for several models, and how it is looked at.

    v=2 & t=2 & b=<base spec> & m=<model> & ... & x=epsilon & at=0.1,1,10 & show=regret & share=1 & stat=median

is its link. Reading never raises: what is wrong takes its default and is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError, shown
from dprl.learners import ALGORITHMS
from dprl.links import checked, decode_spec, defaults_of, encode_spec, heading, last
from dprl.links import written as value_written
from dprl.metrics import Statistic
from dprl.privacy import PRIVATIZERS
from dprl.simulation.axes import Model
from dprl.simulation.pairs import mechanisms_for
from dprl.simulation.spec import FIELDS, RunSpec
from dprl.simulation.sweep import Sweep
from pages.shared import values
from pages.shared.visitor.links import VIEW_FIELDS

SHOWS = ("price", "regret", "users", "table")
SHOW = Field("show", "choice", "price", "what is drawn", choices=SHOWS, query="show")
SHARE = Field(
    "share", "float", 1.0, "percent of V* that privacy may cost an episode", low=0.01, high=50, query="share"
)
MOST_MODELS = 8
MOST_VALUES = 16
STATISTIC = VIEW_FIELDS["statistic"]
X, AT, BASE, MODEL = "x", "at", "b", "m"
DEFAULT_MODELS = ("none", "central", "shuffle", "local")
DEFAULT_VALUES: dict[str, tuple[float, ...]] = {
    "epsilon": (0.1, 0.2, 0.5, 1, 2, 5, 10, 20),
    "episodes": (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9, 10**10),
}
FACTORS = (0.5, 1, 1.5, 2)  # of the base's value, for a parameter of the environment
USERS_GRID = tuple(round(10 ** (j / 8)) for j in range(8 * 2, 8 * 15 + 1))


@dataclass(frozen=True)
class Study:
    """One chart of the page.

    Attributes:
        base: what does not change.
        models: as Model.parse reads them.
        x: the axis, and its values.
        show: which chart.
        share: percent of V* in `users`.
        statistic: what is drawn of the seeds; `users` searches by means.
    """

    base: RunSpec
    models: tuple[str, ...] = DEFAULT_MODELS
    x: str = "epsilon"
    values: tuple[Any, ...] = DEFAULT_VALUES["epsilon"]
    show: str = "price"
    share: float = 1.0
    statistic: Statistic = "mean"

    def __post_init__(self) -> None:
        if not 1 <= len(self.models) <= MOST_MODELS:
            raise SpecError("models", f"{len(self.models)} were given; give 1 to {MOST_MODELS}.")
        taken = ALGORITHMS[self.base.algorithm].privacies
        models = tuple(Model.parse(text).text for text in self.models)
        for model in models:
            if Model.parse(model).privacy not in taken:
                raise SpecError(
                    "models",
                    f"{self.base.algorithm} does not take {shown(model)}; it takes {', '.join(taken)}.",
                )
        if len(set(models)) < len(models):
            raise SpecError("models", "one was given twice; give each once.")
        if self.x not in axes(self.base):
            raise SpecError("x", f"{shown(self.x)} is not allowed; give one of {', '.join(axes(self.base))}.")
        if not 1 <= len(self.values) <= MOST_VALUES:
            raise SpecError("values", f"{len(self.values)} were given; give 1 to {MOST_VALUES}.")
        object.__setattr__(self, "models", models)
        sweep = Sweep(self.base, {"privacy": models, self.x: sorted(self.values)})
        object.__setattr__(self, "values", sweep.axes[1][1])

    @property
    def sweep(self) -> Sweep:
        """Every model at every value."""
        return _sweep(self.base, self.models, self.x, self.values)

    @property
    def ways(self) -> tuple[str, ...]:
        """What `users` compares: of each private model, every mechanism with the least noise that proves the same,
        and printed Laplace noise scaled to prove (epsilon, 0)."""
        found: dict[str, None] = {}
        for privacy in dict.fromkeys(Model.parse(text).privacy for text in self.models):
            known = mechanisms_for(self.base.algorithm, privacy)
            for mechanism in known:
                found[f"{privacy}:{mechanism}:tight"] = None
            if "laplace-tree" in known:
                found["central:laplace-tree:scaled"] = None
        return tuple(found)

    @property
    def searches(self) -> dict[str, dict[int, RunSpec]]:
        """What `users` looks through: each way that can be run, with its run at every K of USERS_GRID where it can."""
        found = {way: _over_users(self.base, way).points for way in self.ways}
        runs = {way: {p.spec.episodes: p.spec for p in points if p.spec} for way, points in found.items()}
        return {way: by_k for way, by_k in runs.items() if by_k}

    @property
    def refusals(self) -> dict[str, list[str]]:
        """Why something of the chart cannot be run, with the models (in `users`: the ways) that this concerns.

        In `users` only what bounds the search above, or ends it before it begins, is a reason.
        """
        found: dict[str, dict[str, None]] = {}
        if self.show != "users":
            for point in self.sweep.points:
                if point.spec is None:
                    found.setdefault(point.refusal, {})[point.values[0]] = None
        else:
            for way in self.ways:
                points = _over_users(self.base, way).points
                most = max((i for i, point in enumerate(points) if point.spec), default=-1)
                for point in points[most + 1 : most + 2]:
                    found.setdefault(point.refusal, {})[way] = None
        return {reason: list(models) for reason, models in found.items()}


@lru_cache(maxsize=100)
def _sweep(base: RunSpec, models: tuple[str, ...], x: str, values: tuple[Any, ...]) -> Sweep:
    return Sweep(base, {"privacy": models, x: values})


@lru_cache(maxsize=100)
def _over_users(base: RunSpec, way: str) -> Sweep:
    return Sweep(base, {"privacy": [way], "episodes": USERS_GRID})


def axes(base: RunSpec) -> dict[str, Field]:
    """What can be on the axis: epsilon, K, and the environment's own numbers (H, S, ...)."""
    found = {name: FIELDS[name] for name in ("epsilon", "episodes")}
    found |= {
        f.name: f
        for f in ENVIRONMENTS[base.environment].fields
        if f.kind == "int" and f.name != "seed" and f.name not in found
    }
    return found


def default_values(base: RunSpec, x: str) -> tuple[Any, ...]:
    """Values of an axis to begin with."""
    if x in DEFAULT_VALUES:
        return DEFAULT_VALUES[x]
    field = axes(base)[x]
    now = base.environment_params[x]
    allowed = []
    for factor in FACTORS:
        try:
            allowed.append(field.check(round(now * factor)))
        except SpecError:
            continue
    return tuple(dict.fromkeys(allowed))


def parse_values(base: RunSpec, x: str, text: str) -> tuple[Any, ...]:
    """Values written as `0.1, 1, 10`, ascending. Raises SpecError."""
    return values.parse(axes(base)[x], text, MOST_VALUES)


BASE_SPEC = RunSpec(episodes=10**6, seeds=10)
DEFAULT = Study(BASE_SPEC)


def encode(study: Study) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    looked = [(SHOW, study.show), (SHARE, study.share), (STATISTIC, study.statistic)]
    return [
        *heading(),
        (BASE, encode_spec(study.base)),
        *((MODEL, model) for model in study.models),
        (X, study.x),
        (AT, values.written(study.values).replace(" ", "")),
        *((field.query, value_written(value)) for field, value in looked if value != field.default),
    ]


def decode(
    parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None
) -> tuple[Study, list[str]]:
    """Reads the query parameters (each key with all its values): the study, and a sentence for each thing that could
    not be used. Unknown keys are ignored. files: texts too long for a link that are known here, by their digest."""
    problems: list[str] = []
    defaults = defaults_of(parameters, problems)
    base = BASE_SPEC
    if (text := last(parameters, BASE)) is not None:
        found, wrong = decode_spec(text, defaults, files)
        problems += wrong
        base = found or base
    show, share, statistic = (
        checked(field, last(parameters, field.query), field.default, problems)
        for field in (SHOW, SHARE, STATISTIC)
    )
    x = last(parameters, X) or "epsilon"
    if x not in axes(base):
        problems.append(f"x: {shown(x)} is not allowed; give one of {', '.join(axes(base))}.")
        x = "epsilon"
    at = default_values(base, x)
    try:
        if (text := last(parameters, AT)) is not None:
            at = parse_values(base, x, text[:1000])
    except SpecError as error:
        problems.append(str(error))
    models = [*parameters.get(MODEL, ())] or list(usual_models(base))
    kept: list[str] = []
    for text in models[: 2 * MOST_MODELS]:
        try:
            kept = list(Study(base, (*kept, text), x, at).models)
        except SpecError as error:
            problems.append(str(error))
    return Study(base, tuple(kept) or usual_models(base), x, at, show, share, statistic), problems


def usual_models(base: RunSpec) -> tuple[str, ...]:
    """Every privacy model that the algorithm takes."""
    return tuple(m for m in PRIVATIZERS if m in ALGORITHMS[base.algorithm].privacies)


def questions(study: Study) -> dict[str, Study]:
    """Other studies of the same base, by the question they answer."""
    base, usual = study.base, usual_models(study.base)
    found = {}
    mechanisms = tuple(m for m in study.ways if Model.parse(m).privacy == "central")
    if mechanisms:
        found["Which mechanism?"] = Study(base, mechanisms, "epsilon", DEFAULT_VALUES["epsilon"])
    for x, words in (("episodes", "More users?"), ("H", "A longer horizon?"), ("S", "More states?")):
        if x in axes(base):
            found[words] = Study(base, usual, x, default_values(base, x))
    return {
        words: replace(other, statistic=study.statistic)
        for words, other in found.items()
        if (other.models, other.x) != (study.models, study.x)
    }
