"""A lesson read from its TOML file. Each question has a chart, a guess, the answer, and an explanation.

docs/how-to/lessons.md explains the file. A faulty file raises SpecError, with one sentence that names the field.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dprl.fields import SpecError, shown, similar, unknown
from dprl.figures.lessons import Frame
from dprl.lessons import charts
from dprl.lessons.charts import Chart, Drawn
from dprl.lessons.kinds import KINDS
from dprl.lessons.prediction import Choice, Marker, Order, Prediction
from dprl.messages import filled, messages, overlaid
from dprl.metrics.curves import Evidence
from dprl.privacy import PRIVATIZERS
from dprl.simulation import spec_from_dict
from dprl.sitemap import PAGES

REQUIRED = object()
TYPES = {str: "a text in quotes", dict: "a table", list: "a list", float: "a number", bool: "true or false"}
RANKS = ("right", "wrong", "low", "high")
ENDS, WRONG = messages("lessons")["answer"], messages("refusals")["lesson"]


class Table:
    """A table in a lesson's file, which error messages call `where`."""

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, Mapping):
            raise SpecError(where, f"{shown(values)} is not allowed; give a table.")
        self.values, self.where, self.known = values, where, list[str]()

    def take(self, name: str, kind: type, default: Any = REQUIRED) -> Any:
        """Return the value of a field. Raises SpecError if it is missing or has the wrong type."""
        self.known.append(name)
        value = self.values.get(name, default)
        if value is REQUIRED:
            raise self.refuse(name, f"is missing; give {TYPES[kind]}.")
        value = float(value) if kind is float and type(value) is int else value
        if name in self.values and not isinstance(value, kind):
            raise self.refuse(name, f"{shown(value)} is not allowed; give {TYPES[kind]}.")
        return value

    def one_of(self, name: str, allowed: Sequence[str], default: Any = REQUIRED) -> str:
        """Return the text in a field. Raises SpecError if it is not allowed."""
        value: str = self.take(name, str, default)
        if value not in allowed:
            raise self.refuse(name, unknown(name, value, allowed).sentence)
        return value

    def done(self) -> None:
        """Raise SpecError if the table has a field that has not been read."""
        for name in self.values:
            if name not in self.known:
                fits = f"give one of {', '.join(self.known)}." if self.known else "leave it out."
                said = f"is not known{similar(name, self.known)}; {fits}"
                raise self.refuse(name, said)

    def refuse(self, name: str, sentence: str) -> SpecError:
        """Return an error about one field of this table."""
        return SpecError(f"{self.where}, {name}", sentence)


@dataclass(frozen=True, eq=False)
class Step:
    """A question in a lesson."""

    title: str  # a few words
    ask: str  # the question
    setup: str  # the necessary facts, in a sentence or two
    prediction: Prediction  # the form of a guess
    chart: Chart  # the chart that shows the answer
    # the reading that gives the truth, or the number of the right choice; "" if the question asks for an order
    answer: str | float
    # `found` (the measurement) and `why` (the reason), which may contain readings of the chart
    texts: Mapping[str, str]
    # replies to guesses, by the names that the prediction's `errors` returns
    replies: Mapping[str, str]

    @property
    def specs(self) -> tuple[Any, ...]:
        """The runs that answer the question."""
        kind, curves = self.chart.kind, self.chart.specs.values()
        return () if kind.asks else tuple(dict.fromkeys(one for spec in curves for one in kind.runs(spec)))

    @property
    def questions(self) -> tuple[tuple[str, Any], ...]:
        """The questions that workers must answer for the chart, each with a spec (see simulation.kinds)."""
        asks, curves = self.chart.kind.asks, self.chart.specs.values()
        return tuple(dict.fromkeys(asked for spec in curves for asked in asks(spec))) if asks else ()

    @property
    def environment(self) -> tuple[str, Mapping[str, Any]]:
        """The key and the parameters of the environment in which the question's runs take place."""
        spec = next(iter((*self.specs, *(spec for _, spec in self.questions))))
        spec = getattr(spec, "run", spec)
        return spec.environment, spec.environment_params

    def drawn(self, evidence: Evidence) -> Drawn:
        """Draw the question's chart, with the numbers that can be read off it."""
        return charts.draw(self.chart, evidence)

    def truth(self, evidence: Evidence) -> Any:
        """Return the true answer, in the same form as a guess."""
        if isinstance(self.answer, float):
            return self.answer
        drawn = self.drawn(evidence)
        if self.answer:
            return charts.first_of(drawn.read(self.answer))
        keys = list(self.chart.specs)
        ends = [float(drawn.series(key).rows[:, -1].mean()) for key in keys]
        levels = [charts.needed(drawn, key) for key in keys]
        return tuple(sorted(range(len(keys)), key=lambda i: (levels[i], ends[i])))

    def found(self, evidence: Evidence) -> str:
        """Describe the measurement in a sentence with its numbers."""
        return self.drawn(evidence).fill(self.texts["found"])

    def why(self, evidence: Evidence) -> str:
        """Return the reason for the answer, in two sentences."""
        return self.drawn(evidence).fill(self.texts["why"])

    def reply(self, text: str, evidence: Evidence) -> str:
        """Return the usual reasoning behind a guess, or "" if none is known. Raises SpecError for an invalid guess."""
        prediction: Any = self.prediction
        errors = prediction.errors(prediction.parse(text), self.truth(evidence))
        found = next((self.replies[error] for error in errors if error in self.replies), "")
        return self.drawn(evidence).fill(found)

    def score(self, text: str, evidence: Evidence) -> float:
        """Score a guess from 0 to 1. Raises SpecError for an invalid guess."""
        prediction: Any = self.prediction
        return float(prediction.score(prediction.parse(text), self.truth(evidence)))

    def off(self, text: str, evidence: Evidence) -> str:
        """Describe how far a guess is off. Raises SpecError for an invalid guess."""
        prediction: Any = self.prediction
        return str(prediction.verdict(prediction.parse(text), self.truth(evidence)))

    def together(self, texts: Sequence[str], evidence: Evidence) -> str:
        """Describe how far one or more answers are off. Raises SpecError if an answer is invalid."""
        prediction: Any = self.prediction
        return str(prediction.together(list(map(prediction.parse, texts)), self.truth(evidence)))


@dataclass(frozen=True, eq=False)
class Lesson:
    """A lesson that takes about five minutes."""

    key: str  # its name in links
    title: str
    say: str  # its subject
    needs: str  # the knowledge that it assumes, in a sentence
    steps: tuple[Step, ...]
    recap: tuple[str, ...]  # sentences to remember
    attempt: tuple[str, str] | None  # a suggestion for a next step, and its link

    def met(self, at: int) -> tuple[str, Mapping[str, Any]] | None:
        """Return the environment if it first appears at step `at` (from 0), otherwise None."""
        here = self.steps[at].environment
        return here if not at or self.steps[at - 1].environment != here else None


def read_lesson(path: Path, own: Mapping[str, Any] | None = None) -> Lesson:
    """Read a lesson from a file, with translated texts from `own` if given. Raises SpecError for a faulty file."""
    try:
        table = Table(overlaid(tomllib.loads(path.read_text("utf-8")), own or {}), path.name)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SpecError(path.name, f"This file cannot be read as TOML: {error}.") from error
    if not re.fullmatch("[a-z0-9-]+", path.stem):
        raise SpecError(path.name, "This name is not allowed; give lower-case letters, digits and hyphens.")
    said = {name: table.take(name, str) for name in ("title", "about", "needs")}
    recap = table.take("recap", list)
    curves = _curves(table)
    steps = [
        _step(Table(one, f"{path.name}, question {number}"), curves)
        for number, one in enumerate(table.take("questions", list), 1)
    ]
    more = Table(table.take("try", dict, {}), f"{path.name}, try")
    attempt = (more.take("say", str), more.take("link", str)) if more.values else None
    if attempt and attempt[1].strip("/").partition("?")[0] not in PAGES:
        raise more.refuse("link", f"{shown(attempt[1])} is not a page; give a link such as /explore?v=1.")
    more.done()
    table.done()
    if not steps:
        raise table.refuse("questions", "is empty; give at least one question.")
    return Lesson(
        path.stem, said["title"], said["about"], said["needs"], tuple(steps), tuple(map(str, recap)), attempt
    )


Curves = Mapping[str, tuple[Any, str]]  # spec and name by key


def _curves(table: Table) -> Curves:
    """Build a lesson's runs from the settings that they share and the settings of each curve."""
    common, found = table.take("runs", dict, {}), {}
    for key, own in table.take("curves", dict).items():
        one = Table(own, f"{table.where}, curves.{key}")
        name = one.take("name", str, "")
        given = {field: value for field, value in {**common, **own}.items() if field != "name"}
        for params in ("environment_params", "algorithm_params"):
            if not isinstance(given.get(params, {}), Mapping):
                raise one.refuse(params, filled(WRONG["not_a_table"], value=shown(given[params])))
        free = given.get("privacy") == "none" and given.pop("privacy")
        try:
            spec = spec_from_dict({k: int(v) if k in ("episodes", "n") else v for k, v in given.items()})
            spec = spec.baseline() if free else spec
        except (SpecError, ValueError, TypeError) as error:
            shared = any(name in str(error) for name in common if name not in own)
            raise SpecError(f"{table.where}, runs" if shared else one.where, str(error)) from error
        privacy = str(getattr(spec, "privacy", ""))
        found[key] = spec, name or (PRIVATIZERS[privacy].title if privacy in PRIVATIZERS else key)
    return found


def _step(table: Table, curves: Curves) -> Step:
    said = {
        name: table.take(name, str, "" if name == "setup" else REQUIRED) for name in ("title", "ask", "setup")
    }
    for name, text in said.items():
        if "{" in text:
            raise table.refuse(name, "has a number in braces; only found, why and replies may have one.")
    texts = {name: table.take(name, str) for name in ("found", "why")}
    replies: dict[str, str] = dict(table.take("replies", dict, {}))
    chart = _chart(table, curves)
    guess = Table(table.take("guess", dict), f"{table.where}, guess")
    kind = guess.one_of("kind", ("order", "number", "slope", "choice"))
    window = guess.take("window", list) if kind == "slope" else [0.0, 0.0]
    if kind == "slope" and not chart.until:
        raise table.refuse("until", WRONG["no_until"])
    if len(window) != 2 or not all(isinstance(end, int | float) for end in window):
        raise guess.refuse("window", f"{shown(window)} is not allowed; give two numbers, such as [1e5, 1e9].")
    chart = replace(chart, window=(float(window[0]), float(window[1])))
    answer: Any = f"growth({list(chart.specs)[-1]})" if kind == "slope" else ""
    if kind == "number":
        if "answer" not in guess.values:
            raise guess.refuse("answer", WRONG["no_answer"])
        answer = guess.take("answer", str)
    prediction, more = _prediction(kind, guess, chart)
    answer = more.pop("answer", answer)
    guess.done()
    table.done()
    named = {f"{a} before {b}" for a in chart.specs for b in chart.specs}
    for error in replies:
        if error not in named | set(RANKS):
            allowed = "right, wrong, low, high or, for an order, a key such as 'local before central'"
            raise table.refuse("replies", f"{shown(error)} is not known; give {allowed}.")
    replies |= more
    numbers = (answer, chart.point.get("x"))
    readings = [f"{{{number}}}" for number in numbers if isinstance(number, str) and number]
    for text in (*readings, *texts.values(), *replies.values(), str(chart.point.get("say", ""))):
        try:
            charts.check_text(text, chart)
        except SpecError as error:
            raise SpecError(f"{table.where}, {error.field}", error.sentence) from error
    return Step(**said, prediction=prediction, chart=chart, answer=answer, texts=texts, replies=replies)


def _chart(table: Table, curves: Curves) -> Chart:
    kind = KINDS[table.one_of("chart", tuple(KINDS))]
    keys = table.take("curves", list)
    for key in keys or ["nothing"]:
        if key not in curves:
            said = f"{shown(key)} is not allowed{similar(key, curves)}; give keys of [curves], {', '.join(curves)}."
            raise table.refuse("curves", said)
    until = Table(table.take("until", dict, {}), f"{table.where}, until")
    known = {key: until.take(key, float) for key in keys if key in until.values}
    until.done()
    point = Table(table.take("point", dict, {}), f"{table.where}, point")
    if point.values:
        point.take("say", str)
        point.one_of("curve", keys, "") if "curve" in point.values else point.take("y", float)
        point.take("x", str if isinstance(point.values.get("x"), str) else float)
        point.done()
    frame = {
        name: tuple(v) if isinstance(v, list) else v for name, v in table.take("frame", dict, {}).items()
    }
    if "x_range" not in kind.frame:
        frame.setdefault("x_range", (10.0, float(max(curves[key][0].size for key in keys))))
    for name in frame:
        allowed = list(Frame.__dataclass_fields__)
        if name not in allowed:
            said = f"{shown(name)} is not known{similar(name, allowed)}; give one of {', '.join(allowed)}."
            raise table.refuse("frame", said)
    return Chart(
        kind,
        {key: curves[key][0] for key in keys},
        {key: curves[key][1] for key in keys},
        known,
        table.take("level", float, 0.0) or kind.level,
        frame,
        point=point.values,
    )


def _prediction(kind: str, guess: Table, chart: Chart) -> tuple[Prediction, dict[str, Any]]:
    """Read the form of the guess and, if it is a choice, also the replies and the right answer."""
    if kind == "order":
        return Order(tuple(chart.names.values()), tuple(chart.specs)), {}
    if kind == "number":
        frame = {"log_x": True, **chart.kind.frame, **chart.frame}
        log, usual = frame["log_x"], frame["x_range"]
        low, high = guess.take("low", float, usual[0]), guess.take("high", float, usual[1])
        if not low < high or (log and low <= 0):
            least = ", and above 0 because the axis is logarithmic" if log else ""
            raise guess.refuse("low", f"{low:g} is not allowed; give less than guess.high, {high:g}{least}.")
        unit = guess.take("unit", str, ENDS["unit"])
        marker = Marker(
            low,
            high,
            unit,
            log=log,
            steps=int(guess.take("steps", float, 10.0 if log else 50.0)),
            ends=(guess.take("few", str, ENDS["fewer"]), guess.take("many", str, ENDS["more"])),
            share=guess.take("percent", bool, False),
            inverse=chart.kind.over_epsilon,
            waits=guess.take("waits", float, None),
            by=guess.take("by", str, ENDS["measured"]),
            unit_one=guess.take("unit_one", str, ""),
        )
        return marker, {}
    choices, replies = [], {}
    more: dict[str, Any] = {}
    for place, one in enumerate(guess.take("choices", list)):
        row = Table(one, f"{guess.where}, choice {place + 1}")
        value = row.take("power", float) if kind == "slope" else float(place)
        choices.append((value, row.take("say", str).rstrip(".")))  # verdicts quote it
        replies[str(place)] = row.take("reply", str)
        if kind == "choice" and row.take("right", bool, False):
            if more:
                raise row.refuse("right", "is already true for another choice; set it for only one of them.")
            more["answer"] = value
        row.done()
    if kind == "choice" and "answer" not in more:
        raise guess.refuse("choices", "has no right answer; set right = true for one of the choices.")
    of = "" if kind == "choice" else "(1/ε)" if chart.kind.over_epsilon else "K"
    return Choice(tuple(choices), of, *chart.window), replies | more
