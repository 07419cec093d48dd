"""The charts of lessons: each kind draws the runs that a lesson's file names, and gives the numbers that its texts use.

A text asks for a number of its chart as a reading: `{needed(central):users}`, or one over another,
`{needed(local) / needed(central):rough}`. `READINGS` are those of every chart; some kinds have more.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dprl import metrics
from dprl.claims import SpecSeries
from dprl.claims.collusion import read
from dprl.claims.experiments import COLLUSIONS
from dprl.claims.regret import price
from dprl.fields import SpecError, shown, similar
from dprl.figures.lessons import Frame
from dprl.figures.lines import DATA_SETS, SEEDS
from dprl.messages import filled, messages
from dprl.metrics import search
from dprl.metrics.curves import Array, Evidence
from dprl.sentences.price import rough_users
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec
from dprl.words import human, percent, rough, to_the

SAID = messages("lessons")["charts"]
BUDGETS = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)  # those of Home
ATTACK = AttackSpec(run=RunSpec(seeds=1))
COIN, PEOPLE = 0.5, 100
EXACT, EDGE = 1e-9, 1e-30


@dataclass(frozen=True)
class DrawnSeries:
    """A series of a chart; until: as far as it is drawn before the answer is shown, 0 for not at all."""

    series: SpecSeries
    until: float = np.inf


@dataclass(frozen=True)
class Plot(Frame):
    """What is drawn of a question, and where."""

    drawn: tuple[DrawnSeries, ...] = ()


@dataclass(frozen=True)
class Chart:
    """A chart as a lesson's file describes it.

    Attributes:
        kind: a key of KINDS.
        specs, names: the runs it shows, in this order, and what they are called, by their keys in the file.
        until: as far as a curve is drawn before the answer is shown, by key.
        level: the height of the line that curves are to reach; 0 for the usual one.
        frame: what replaces the usual titles and ranges.
        window: the stretch over which growth is measured.
        point: where the answer points at: a curve, x and the words.
    """

    kind: str
    specs: Mapping[str, Any]
    names: Mapping[str, str]
    until: Mapping[str, float]
    level: float = 0.0
    frame: Mapping[str, Any] = field(default_factory=dict)
    window: tuple[float, float] = (0.0, 0.0)
    point: Mapping[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> tuple[Any, ...]:
        """All runs that it needs."""
        if KINDS[self.kind].over_epsilon:
            return tuple(one for spec in self.specs.values() for one in sweep(spec))
        extra = [one.baseline() for one in self.specs.values()] if self.kind == "cost" else []
        return () if KINDS[self.kind].questions else tuple(dict.fromkeys([*extra, *self.specs.values()]))

    @property
    def questions(self) -> tuple[tuple[str, Any], ...]:
        """What else it asks of specs, see simulation.kinds."""
        asked = KINDS[self.kind].questions
        return tuple(dict.fromkeys(asked(self))) if asked else ()


@dataclass(frozen=True)
class Drawn:
    """A chart of known runs: what is drawn, and what can be read off it."""

    chart: Chart
    evidence: Evidence
    plot: Plot

    def read(self, text: str) -> Any:
        """The number that a reading stands for; a measured exponent comes with its interval."""
        first, _, second = text.partition("/")
        found = self._call(first)
        return first_of(found) / max(first_of(self._call(second)), EDGE) if second else found

    def _call(self, text: str) -> Any:
        name, arguments = parsed_reading(text, self.chart)
        return (READINGS | KINDS[self.chart.kind].readings)[name](self, *arguments)

    def series(self, key: str) -> SpecSeries:
        """A curve by its key."""
        return self.plot.drawn[list(self.chart.specs).index(key)].series

    def fill(self, template: str) -> str:
        """A text with the numbers of this chart."""
        return _Texts(self).vformat(template, (), {})


class _Texts(string.Formatter):
    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn

    def get_field(self, name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        return self.drawn.read(name), name

    def format_field(self, value: Any, spec: str) -> str:
        return FORMATS[spec or "rough"](value)


def first_of(value: Any) -> float:
    """A number, or the mean of one with an interval."""
    return float(value[0] if isinstance(value, tuple) else value)


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "rough": lambda value: rough(first_of(value)),
    "exact": lambda value: human(first_of(value)),
    "users": lambda value: rough_users(first_of(value)),
    "percent": lambda value: percent(first_of(value)),
    "power": lambda value: to_the("K", first_of(value)),
    "power_of_epsilon": lambda value: to_the("(1/ε)", first_of(value)),
    "epsilon": lambda value: rough(1 / first_of(value)),  # of a place on an axis that runs in 1/ε
}


def parsed_reading(text: str, chart: Chart) -> tuple[str, list[Any]]:
    """The name of a reading and its arguments, curves and numbers. Raises SpecError."""
    found = re.fullmatch(r"\s*(\w+)\((.*)\)\s*", text)
    known = [*READINGS, *KINDS[chart.kind].readings]
    if not found or found[1] not in known:
        raise SpecError(
            "reading",
            f"{shown(text.strip())} is not allowed{similar(found[1] if found else text, known)}; give one of "
            f"{', '.join(known)}, with a curve in parentheses, such as needed(central).",
        )
    return found[1], [_argument(one.strip(), chart) for one in found[2].split(",") if one.strip()]


def _argument(text: str, chart: Chart) -> Any:
    if text in chart.specs:
        return text
    try:
        return float(text)
    except ValueError as error:
        raise SpecError(
            "reading",
            f"{shown(text)} is no curve of this question{similar(text, chart.specs)}; "
            f"give one of {', '.join(chart.specs) or 'no curve'}.",
        ) from error


def check_text(template: str, chart: Chart) -> None:
    """Raise SpecError if a text has a reading or a format that its chart does not know."""
    try:
        parts = [(name, spec) for _, name, spec, _ in string.Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise SpecError("text", f"{shown(template)} has a brace without its partner.") from error
    for name, spec in parts:
        for one in name.split("/"):
            parsed_reading(one, chart)
        if (spec or "rough") not in FORMATS:
            raise SpecError("format", f"{shown(spec)} is not allowed; give one of {', '.join(FORMATS)}.")


# --- what every chart can be asked for ---


def needed(drawn: Drawn, key: str) -> float:
    """From where on a curve stays below its level; infinite if it does not."""
    one = drawn.series(key)
    found = search.stays_below(one.x, one.rows.mean(axis=0), level_of(drawn.chart))
    return math.inf if math.isnan(found) else found


def at(drawn: Drawn, key: str, x: float) -> float:
    """The height of a curve at x."""
    one = drawn.series(key)
    return float(np.interp(1 / x if drawn.plot.inverse_x else x, one.x, one.rows.mean(axis=0)))


def where(drawn: Drawn, key: str, y: float) -> float:
    """The last x at which a curve has this height, by straight lines as the chart has them."""
    one, plot = drawn.series(key), drawn.plot
    across, up = (np.log if log else np.asarray for log in (plot.log_x, plot.log_y))
    height = one.rows.mean(axis=0)
    crossed = np.flatnonzero((height[:-1] - y) * (height[1:] - y) <= 0)
    if not len(crossed):
        return math.nan
    ends = slice(int(crossed[-1]), int(crossed[-1]) + 2)
    y0, y1 = up(height[ends])
    x0, x1 = across(one.x[ends])
    x = x0 if y0 == y1 else x0 + (x1 - x0) * (up(y) - y0) / (y1 - y0)
    return float(np.exp(x) if plot.log_x else x)


def growth(drawn: Drawn, key: str) -> tuple[float, float, float]:
    """The exponent with which a curve grows over the question's window, with its interval."""
    one, (start, end) = drawn.series(key), drawn.chart.window
    late = (one.x >= start) & (one.x <= end)
    if KINDS[drawn.chart.kind].over_epsilon:
        return metrics.power_law(one.x[late], one.rows[:, late])
    return metrics.growth_exponent(one.x, one.rows, start, end)


def noise(drawn: Drawn, key: str) -> float:
    """The standard deviation of the noise in a visit count at the end of a run."""
    return float(drawn.evidence.runs[drawn.chart.specs[key]].noise_std or 0.0)


def best(drawn: Drawn, key: str) -> float:
    """V*: what the best policy earns in an episode."""
    return float(drawn.evidence.runs[drawn.chart.specs[key]].v_star)


READINGS: Mapping[str, Callable[..., Any]] = {
    "needed": needed,
    "at": at,
    "where": where,
    "growth": growth,
    "noise": noise,
    "best": best,
}


def level_of(chart: Chart) -> float:
    """The height of the line that curves are to reach."""
    return chart.level or KINDS[chart.kind].level


# --- the kinds ---


def _curve_plot(chart: Chart, evidence: Evidence) -> Plot:
    """Curves of runs: of each what `KINDS` reads off it."""
    kind = KINDS[chart.kind]
    drawn = []
    for key, spec in chart.specs.items():
        x, rows = kind.curve(evidence, spec)
        series = SpecSeries(spec, chart.names[key], x, rows, one_budget=not kind.over_epsilon)
        drawn.append(DrawnSeries(series, chart.until.get(key, np.inf)))
    return framed(chart, tuple(drawn))


def framed(chart: Chart, drawn: tuple[DrawnSeries, ...], **more: Any) -> Plot:
    """A plot with the usual frame of its kind, or that of the lesson's file."""
    kind, level = KINDS[chart.kind], level_of(chart)
    said = SAID[chart.kind]
    usual = {"title": said["title"], "x_title": said["x"], "y_title": said["y"]} | kind.frame | more
    if level:
        percents = {**usual, **chart.frame}.get("percent")
        usual["level"] = level, said["level"].format(level=percent(level) if percents else human(level))
    offline = any(isinstance(spec, OfflineSpec) for spec in chart.specs.values())
    frame = {"over": DATA_SETS if offline else SEEDS} | usual | chart.frame
    if offline:
        frame = {"x_title": SAID["records"]} | {k: v for k, v in frame.items() if k != "x_title"}
    xs = [one.series.x for one in drawn]
    ys = [one.series.rows[one.series.rows > 0] for one in drawn]
    frame.setdefault("x_range", (min(x[0] for x in xs), max(x[-1] for x in xs)) if xs else (0.0, 1.0))
    if "y_range" not in frame:
        frame["y_range"] = min(y.min() for y in ys) / 2, 3 * max(y.max() for y in ys)
    return Plot(**frame, drawn=drawn)


def draw(chart: Chart, evidence: Evidence) -> Drawn:
    """A chart of known runs, with what its answer points at."""
    kind = KINDS[chart.kind]
    found = Drawn(chart, evidence, kind.plot(chart, evidence))
    if not chart.point:
        return found
    x, y = (first_of(found.read(v)) if isinstance(v := chart.point.get(axis), str) else v for axis in "xy")
    if y is None:
        y = at(found, chart.point["curve"], x)
    place = 1 / x if found.plot.inverse_x else x
    pointer = (float(place), float(y), found.fill(chart.point["say"]))
    return Drawn(chart, evidence, Plot(**{**vars(found.plot), "pointer": pointer}))


def sweep(spec: RunSpec) -> tuple[RunSpec, ...]:
    """A run at each of BUDGETS, the largest first."""
    return tuple(spec.replace(epsilon=epsilon) for epsilon in reversed(BUDGETS))


INVERSE = np.array([1 / epsilon for epsilon in reversed(BUDGETS)])


def _share(evidence: Evidence, spec: Any) -> tuple[Array, Array]:
    """The share of V* that an average episode has lost so far, or that the learned policy loses."""
    run = evidence.runs[spec]
    per = run.values if isinstance(spec, OfflineSpec) else run.values / run.at
    return run.at.astype(float), per / run.v_star


def _regret(evidence: Evidence, spec: Any) -> tuple[Array, Array]:
    run = evidence.runs[spec]
    return run.at.astype(float), run.values


def _users(evidence: Evidence, spec: RunSpec) -> tuple[Array, Array]:
    need = [
        search.stays_below(x, rows.mean(axis=0), KINDS["loss"].level)
        for x, rows in (_share(evidence, one) for one in sweep(spec))
    ]
    return INVERSE, np.array([need])


def _noise(evidence: Evidence, spec: RunSpec) -> tuple[Array, Array]:
    return INVERSE, np.array([[evidence.runs[one].noise_std or np.nan for one in sweep(spec)]])


def _promise(epsilon: float) -> tuple[str, Any]:
    return "promise", ATTACK.run.replace(epsilon=epsilon)


def right(drawn: Drawn, epsilon: float = math.inf) -> float:
    """Of PEOPLE users, how many the best attacker guesses right at most; without noise if no epsilon is given."""
    if math.isinf(epsilon):
        return float(PEOPLE * metrics.best_guess(COIN, np.zeros(1), np.zeros(1)))
    found = drawn.evidence.answers[_promise(epsilon)]
    return float(PEOPLE * metrics.best_guess(COIN, np.array(found["false"]), np.array(found["missed"])))


def belief(drawn: Drawn, epsilon: float) -> float:
    """The belief to which an even one may rise after an outcome; with a negative epsilon, to which it may fall."""
    return float(metrics.posterior(COIN, epsilon))


def _people(chart: Chart, evidence: Evidence) -> Plot:
    return framed(chart, ())


def _beliefs(chart: Chart, evidence: Evidence) -> Plot:
    (spec,) = chart.specs.values()
    said, before = SAID["belief"], np.linspace(0.01, 0.99, 99)
    high, low = (np.array([metrics.posterior(p, e) for p in before]) for e in (spec.epsilon, -spec.epsilon))
    ends = np.array([0.0, 1.0])
    same = SpecSeries(ATTACK.run.baseline(), said["same"], ends, ends[None])
    bounds = (said["low"], low, before), (said["high"], high, before)
    title = filled(said["title"], epsilon=f"{spec.epsilon:g}")
    return framed(chart, (DrawnSeries(same),), title=title, bounds=bounds)


def _deltas(chart: Chart, evidence: Evidence) -> Plot:
    """Which epsilon is proved for the noise of each run, at each delta."""
    drawn = []
    for key, spec in chart.specs.items():
        found = evidence.answers[("promise", spec)]
        order = np.argsort(found["epsilons"])
        x, y = (np.array(found[name])[order] for name in ("epsilons", "deltas"))
        drawn.append(
            DrawnSeries(SpecSeries(spec, chart.names[key], x, y[None]), chart.until.get(key, np.inf))
        )
    return framed(chart, tuple(drawn))


def _card(drawn: Drawn, name: str, key: str) -> float:
    found = drawn.evidence.answers[("guarantee", drawn.chart.specs[key])]
    return float(found[name])


def _attack(chart: Chart, evidence: Evidence) -> Plot:
    said, proved = SAID["attack"], evidence.answers["promise", ATTACK.run]
    scores = evidence.answers["scores", ATTACK]
    found = metrics.roc(np.asarray(scores["first"]), np.asarray(scores["second"]))
    ends = np.array([0.0, 1.0])
    curves = {"blind": (ends, ends), "attack": (found.false, found.true)}
    drawn = [
        DrawnSeries(SpecSeries(spec, chart.names[key], x, y[None]), chart.until.get(key, np.inf))
        for key, spec in chart.specs.items()
        for x, y in (curves[key],)
    ]
    most = (said["most"], np.array(proved["false"]), 1 - np.array(proved["missed"]))
    return framed(chart, tuple(drawn), bounds=(most,))


def _least_false(drawn: Drawn, true: float) -> float:
    """The share of false positives that every attacker has at least."""
    proved = drawn.evidence.answers["promise", ATTACK.run]
    return float(np.interp(true, 1 - np.array(proved["missed"]), np.array(proved["false"])))


COLLUDED = tuple(("collusion", spec) for spec in COLLUSIONS)


def _errors(evidence: Evidence, way: str) -> Array:
    """[users] how far off two users are who work out a third, over all repetitions."""
    return np.concatenate([read(evidence.answers[asked], way) for asked in COLLUDED])


def _collusion(chart: Chart, evidence: Evidence) -> Plot:
    """Which share of users two others read how precisely; the curves are `one` draw, and a `tree` of draws."""
    x, drawn = np.linspace(0.0, chart.frame["x_range"][1], 201), []
    for key, spec in chart.specs.items():
        share = (_errors(evidence, key)[None, :] <= x[:, None] + EXACT).mean(axis=1)
        # from the axis, so that a curve that is at its height at once is seen to rise
        series = SpecSeries(spec, chart.names[key], np.append(0.0, x), np.append(0.0, share)[None])
        drawn.append(DrawnSeries(series, chart.until.get(key, np.inf)))
    return framed(chart, tuple(drawn))


def _radius(evidence: Evidence, spec: RunSpec) -> tuple[Array, Array]:
    found = evidence.answers["widths", spec]
    return np.array(found["users"]), np.array(found["rows"])


def _lower(chart: Chart, evidence: Evidence) -> Plot:
    """What a policy earns that was learned from records, and the lower bound that the algorithm gives."""
    ((key, spec),) = chart.specs.items()
    run, said = evidence.runs[spec], SAID["lower"]
    x, earned = run.at.astype(float), 1 - run.values / run.v_star
    curves = (said["earns"], earned, np.inf), (said["low"], run.lower / run.v_star, chart.until.get(key, 0.0))
    return framed(chart, tuple(DrawnSeries(SpecSeries(spec, name, x, y), until) for name, y, until in curves))


def _above(drawn: Drawn, curve: int) -> float:
    one = drawn.plot.drawn[curve].series
    return search.stays_below(one.x, 1 - one.rows.mean(axis=0), 1 - level_of(drawn.chart))


@dataclass(frozen=True)
class Kind:
    """A kind of chart.

    Attributes:
        curve(evidence, spec): x [P] and rows [seeds, P] of a run.
        plot(chart, evidence): what is drawn.
        frame: its usual frame. Titles are messages.
        level: the height of the line that curves are to reach, 0 for none.
        over_epsilon: whether each curve is over BUDGETS.
        questions(chart): what it asks of specs, if it shows no runs.
        readings: what its texts can use beside READINGS.
    """

    curve: Callable[[Evidence, Any], tuple[Array, Array]] = _regret
    plot: Callable[[Chart, Evidence], Plot] = _curve_plot
    frame: Mapping[str, Any] = field(default_factory=dict)
    level: float = 0.0
    over_epsilon: bool = False
    questions: Callable[[Chart], Any] | None = None
    readings: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


SHARE = {"percent": True, "y_range": (0.0, 1.05)}
SQUARE = {"log_x": False, "percent": True, "percent_x": True, "x_range": (0.0, 1.0), "y_range": (0.0, 1.0)}
OVER_EPSILON = {"log_y": True, "inverse_x": True, "x_range": (float(INVERSE[0]), float(INVERSE[-1]))}
PEOPLE_FRAME = {"log_x": False, "people": PEOPLE, "x_range": (0.0, float(PEOPLE)), "y_range": (0.0, 1.12)}


def _promises(chart: Chart) -> Any:
    return [_promise(epsilon) for epsilon in (0.1, 1.0, 10.0)]


KINDS: Mapping[str, Kind] = {
    "loss": Kind(_share, frame=SHARE, level=0.1),
    "regret": Kind(_regret, frame={"log_y": True}),
    "cost": Kind(price, frame={"log_y": True}),
    "users": Kind(_users, frame=OVER_EPSILON, over_epsilon=True),
    "noise": Kind(_noise, frame=OVER_EPSILON, over_epsilon=True),
    "people": Kind(
        plot=_people, frame=PEOPLE_FRAME, questions=_promises, readings={"right": right, "belief": belief}
    ),
    "belief": Kind(
        plot=_beliefs,
        frame=SQUARE,
        level=COIN,
        questions=_promises,
        readings={"right": right, "belief": belief},
    ),
    "deltas": Kind(
        plot=_deltas,
        frame={"log_x": False, "log_y": True},
        level=1e-6,
        questions=lambda chart: [
            *(("promise", spec) for spec in chart.specs.values()),
            *(("guarantee", spec) for spec in chart.specs.values() if spec.calibration == "paper"),
        ],
        readings={
            name: (lambda drawn, key, name=name: _card(drawn, name, key))
            for name in ("claimed_epsilon", "proved_epsilon")
        },
    ),
    "attack": Kind(
        plot=_attack,
        frame=SQUARE,
        level=0.5,
        questions=lambda chart: [("scores", ATTACK), ("promise", ATTACK.run)],
        readings={
            "least_false": _least_false,
            "releases": lambda drawn: len(drawn.evidence.answers["scores", ATTACK]["first"]),
        },
    ),
    "collusion": Kind(
        plot=_collusion,
        frame={"log_x": False, **SHARE},
        level=0.5,
        questions=lambda chart: COLLUDED,
        readings={
            "within": lambda drawn, key: float(np.median(_errors(drawn.evidence, key))),
            "exactly": lambda drawn, key: float((_errors(drawn.evidence, key) < EXACT).mean()),
            "read": lambda drawn, key: len(_errors(drawn.evidence, key)),
        },
    ),
    "radius": Kind(
        _radius,
        frame={"log_y": True},
        questions=lambda chart: [("widths", spec) for spec in chart.specs.values()],
    ),
    "lower": Kind(
        plot=_lower,
        frame=SHARE,
        level=0.9,
        readings={"earned": lambda drawn: _above(drawn, 0), "promised": lambda drawn: _above(drawn, 1)},
    ),
}
