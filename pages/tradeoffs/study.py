"""What the page Trade-offs shows, as a value: a sweep over one axis for several models, and how it is looked at.

    v=1 & b=<base spec> & m=<model> & ... & x=epsilon & at=0.1,1,10 & show=regret & share=1 & stat=median

is its link; of runs on data sets also kind=offline, and in `and` the values of the second axis. Reading never raises:
what is wrong takes its default and is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from dprl.fields import Field, SpecError, shown
from dprl.links import check_version, checked, chosen, decode_spec, encode_spec, last, link_heading
from dprl.links import written as value_written
from dprl.metrics import Statistic
from dprl.simulation import RunSpec
from dprl.simulation.sweep import Sweep
from pages.shared import values
from pages.shared.results.cache import SizedCache
from pages.shared.visitor.links import View
from pages.shared.visitor.views import like, looked, pairs_of, read
from pages.tradeoffs import online
from pages.tradeoffs.subject import SUBJECTS, SweepKind

SHOWS = ("price", "regret", "users", "table")
KIND = Field("kind", "choice", RunSpec.kind, "what is learned from", choices=tuple(SUBJECTS), query="kind")
MOST_MODELS = 8
MOST_VALUES = 16
X, AT, AMONG, BASE, MODEL = "x", "at", "and", "b", "m"
DEFAULT_MODELS = ("none", "central", "shuffle", "local")
SWEEP_BYTES = 8 * 2**20  # of sweeps kept, for all visitors together
POINT_BYTES = 900  # about what a point takes beside what its run is in writing
USERS_GRID = tuple(round(10 ** (j / 8)) for j in range(8 * 2, 8 * 15 + 1))


@dataclass(frozen=True)
class SweepView:
    """One chart of the page.

    Attributes:
        base: what does not change, a spec of one of SUBJECTS.
        models: what is compared: of online runs as Model.parse reads them, of runs on data sets learners.
        x: the axis, and its values.
        show: which chart.
        share: percent of V* in `users`.
        statistic: what is drawn of the seeds; `users` searches by means.
        among: values of the second axis, where there is one; as many of the usual ones as there is room for.
    """

    base: Any
    models: tuple[str, ...] = DEFAULT_MODELS
    x: str = "epsilon"
    values: tuple[Any, ...] = online.VALUES["epsilon"]
    show: str = looked("price", "what is drawn", "show", choices=SHOWS)
    share: float = looked(1.0, "percent of V* that privacy may cost an episode", "share", low=0.01, high=50)
    statistic: Statistic = like(View, "statistic")
    among: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", self.subject.based(self.base))
        if not 1 <= len(self.models) <= MOST_MODELS:
            raise SpecError("models", f"{len(self.models)} were given; give 1 to {MOST_MODELS}.")
        models = self.subject.checked(self.base, self.models)
        if len(set(models)) < len(models):
            raise SpecError("models", "one was given twice; give each once.")
        if self.x not in axes(self.base):
            raise SpecError("x", f"{shown(self.x)} is not allowed; give one of {', '.join(axes(self.base))}.")
        if not 1 <= len(self.values) <= MOST_VALUES:
            raise SpecError("values", f"{len(self.values)} were given; give 1 to {MOST_VALUES}.")
        if self.show not in self.subject.shows:
            object.__setattr__(self, "show", SHOWS[0])
        second = self.subject.second(self.base, self.x)
        usual = self.subject.among(self.base, self.x)[: max(1, MOST_MODELS // len(models))]
        among = sorted(self.among or usual) if second else ()
        object.__setattr__(self, "models", models)
        object.__setattr__(self, "among", tuple(among))
        lines = self.subject.lines(self.base, models, self.x, self.among)
        sweep = Sweep(self.base, {**lines, self.x: sorted(self.values)})
        object.__setattr__(self, "values", sweep.axes[-1][1])
        if second:
            object.__setattr__(self, "among", dict(sweep.axes)[second])
        if len(self.lines) > MOST_MODELS:
            raise SpecError(
                "models",
                f"these are {len(self.lines)} lines; at most {MOST_MODELS} can be told apart, so give fewer.",
            )

    @property
    def subject(self) -> SweepKind:
        """Its kind of specs."""
        return SUBJECTS[self.base.kind]

    @property
    def sweep(self) -> Sweep[Any]:
        """Every model at every value, and at every one of the second axis."""
        return self._made.sweep

    @property
    def _made(self) -> Made:
        return _swept(self.base, self.models, self.x, self.values, self.among)

    @cached_property
    def lines(self) -> dict[str, tuple[Any, ...]]:
        """What the chart has a line of: a name for each, with its values of all axes but x.

        What has no privacy has none at any budget: it is one line.
        """
        found: dict[str, tuple[Any, ...]] = {}
        seen: set[tuple[Any, ...]] = set()
        for point in self.sweep.points[:: len(self.values)]:
            key = line_of(point.values)
            runs = tuple(spec for _, spec in self.points(key))
            if not runs or runs[0] != runs[0].baseline() or runs not in seen:
                found[key] = point.values[:-1]
            seen.add(runs)
        return found

    def points(self, line: str) -> list[tuple[Any, Any]]:
        """The values of the axis at which this line can be run, with its runs."""
        return self._made.lines.get(line, [])

    def free(self, line: str) -> bool:
        """Whether it is without privacy."""
        return any(spec == spec.baseline() for _, spec in self.points(line)[:1])

    @property
    def titles(self) -> dict[str, str]:
        """What each line is called."""
        free = [self.free(line) for line in self.lines]
        said = self.subject.titles(self.base, self.x, list(self.lines.values()), free)
        return dict(zip(self.lines, said, strict=True))

    @property
    def ways(self) -> tuple[str, ...]:
        """What `users` compares: of each private model, every mechanism with the least noise that proves the same,
        and Laplace noise as in the paper scaled to prove (epsilon, 0)."""
        return online.ways(self.base, self.models)

    @property
    def searches(self) -> dict[str, dict[int, RunSpec]]:
        """What `users` looks through: each way that can be run, with its run at every K of USERS_GRID where it can."""
        found = {way: _over_users(self.base, way).points for way in self.ways}
        runs = {way: {p.spec.episodes: p.spec for p in points if p.spec} for way, points in found.items()}
        return {way: by_k for way, by_k in runs.items() if by_k}

    @property
    def refusals(self) -> dict[str, list[str]]:
        """Why something of the chart cannot be run, with the lines (in `users`: the ways) that this concerns.

        In `users` only what bounds the search above, or ends it before it begins, is a reason.
        """
        found: dict[str, dict[str, None]] = {}
        if self.show != "users":
            for point in self.sweep.points:
                if point.spec is None and (line := line_of(point.values)) in self.lines:
                    found.setdefault(point.refusal, {})[line] = None
        else:
            for way in self.ways:
                points = _over_users(self.base, way).points
                most = max((i for i, point in enumerate(points) if point.spec), default=-1)
                for point in points[most + 1 : most + 2]:
                    found.setdefault(point.refusal, {})[way] = None
        return {reason: list(lines) for reason, lines in found.items()}


def line_of(values: tuple[Any, ...]) -> str:
    """The name of the line of a point: its values of all axes but x, as a link writes them."""
    return ":".join(value_written(value) for value in values[:-1])


class Made(NamedTuple):
    """A sweep with its points, and for each line the values of the axis at which it can be run, with its runs."""

    sweep: Sweep[Any]
    lines: dict[str, list[tuple[Any, Any]]]


_made: SizedCache[Made] = SizedCache(SWEEP_BYTES)


def _swept(
    base: Any, models: tuple[str, ...], x: str, values: tuple[Any, ...], among: tuple[Any, ...]
) -> Made:
    lines = SUBJECTS[base.kind].lines
    return _once(
        (base, models, x, values, among),
        lambda: Sweep(base, {**lines(base, models, x, among), x: values}),
    )


def _over_users(base: RunSpec, way: str) -> Sweep:
    return _once((base, way), lambda: Sweep(base, {"privacy": [way], "episodes": USERS_GRID})).sweep


def _once(key: tuple[Any, ...], make: Callable[[], Sweep[Any]]) -> Made:
    def load(_: str | None) -> Made:
        sweep = make()
        lines: dict[str, list[tuple[Any, Any]]] = {}
        for p in sweep.points:
            if p.spec is not None:
                lines.setdefault(line_of(p.values), []).append((p.values[-1], p.spec))
        return Made(sweep, lines)

    def size(made: Made) -> int:
        return len(made.sweep.points) * (POINT_BYTES + len(made.sweep.base.to_json()))

    return _made.cached(key, load, size)


def axes(base: Any) -> dict[str, Field]:
    """What can be on the axis: the budget, how many people, and the environment's own numbers (H, S, ...)."""
    return SUBJECTS[base.kind].axes(base)


def default_values(base: Any, x: str) -> tuple[Any, ...]:
    """Values of an axis to begin with."""
    return SUBJECTS[base.kind].values(base, x)


def parse_values(base: Any, x: str, text: str) -> tuple[Any, ...]:
    """Values written as `0.1, 1, 10`, ascending. Raises SpecError."""
    return values.parse(axes(base)[x], text, MOST_VALUES)


BASE_SPEC = SUBJECTS[RunSpec.kind].base
DEFAULT = SweepView(BASE_SPEC)


def first(kind: str) -> SweepView:
    """The study that is shown first of a kind of specs."""
    base = SUBJECTS[kind].base
    return of(base, usual_models(base), next(iter(axes(base))))


def of(base: Any, models: tuple[str, ...], x: str) -> SweepView:
    """A study with the values of its axis that it begins with."""
    return SweepView(base, models, x, default_values(base, x))


def encode(study: SweepView) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    return [
        *link_heading(),
        *((KIND.query, kind) for kind in [study.base.kind] if kind != RunSpec.kind),
        (BASE, encode_spec(study.base)),
        *((MODEL, model) for model in study.models),
        (X, study.x),
        (AT, values.values_text(study.values).replace(" ", "")),
        *((AMONG, values.values_text(study.among).replace(" ", "")) for _ in study.among[:1]),
        *pairs_of(study),
    ]


def decode(
    parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None
) -> tuple[SweepView, list[str]]:
    """Reads the query parameters (each key with all its values): the study, and a sentence for each thing that could
    not be used. Unknown keys are ignored. files: texts too long for a link that are known here, by their digest."""
    problems: list[str] = []
    check_version(parameters, problems)
    kind = checked(KIND, last(parameters, KIND.query), RunSpec.kind, problems)
    subject = SUBJECTS[kind]
    base = subject.base
    if (text := last(parameters, BASE)) is not None:
        found, wrong = decode_spec(text, files, kind)
        problems += wrong
        base = subject.based(found or base)
    how = read(SweepView, parameters, problems)
    x = chosen(X, last(parameters, X), axes(base), problems) or subject.budget(base)
    at, among = default_values(base, x), ()
    try:
        if (text := last(parameters, AT)) is not None:
            at = parse_values(base, x, text[:1000])
        if (text := last(parameters, AMONG)) is not None and subject.second(base, x):
            among = parse_values(base, subject.second(base, x), text[:1000])
    except SpecError as error:
        problems.append(str(error))
    usual = usual_models(base)
    models = parameters.get(MODEL, ()) or usual
    kept: tuple[str, ...] = ()
    for text in models[: 2 * MOST_MODELS]:
        try:
            kept = SweepView(base, (*kept, text), x, at, among=among).models
        except SpecError as error:
            problems.append(str(error))
    if not kept:
        kept, among = usual, ()
    return SweepView(base, kept, x, at, among=among, **how), problems


def usual_models(base: Any) -> tuple[str, ...]:
    """What is compared to begin with: of online runs every privacy model that the algorithm takes."""
    return SUBJECTS[base.kind].usual(base)


def questions(study: SweepView) -> dict[str, SweepView]:
    """Other studies of the same base, by the question they answer."""
    asked = study.subject.questions(study.base, study.models)
    found = {words: of(study.base, **other) for words, other in asked.items()}
    return {
        words: replace(other, statistic=study.statistic)
        for words, other in found.items()
        if (other.models, other.x) != (study.models, study.x)
    }
