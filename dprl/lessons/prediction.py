"""What a visitor predicts before a chart is shown: an order of curves, a place on an axis, or a slope.

A prediction says what is asked, which answers there are, how an answer is written as a short text, how it is drawn, and
how far one is from the truth, as a number and in words. The truth is an answer, too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import multimode
from typing import Any, ClassVar

from dprl.fields import Field, SpecError, shown
from dprl.figures import guesses as figures
from dprl.figures.chart import Chart
from dprl.figures.guesses import Who
from dprl.figures.lessons import AskedChart, value_at
from dprl.links import written
from dprl.messages import counted, filled, messages
from dprl.words import human, listed, percent, rough, to_the

LETTERS = "abcdefghijklmnop"
OPEN = "-"  # in an order that is not whole yet
NEAR = 2.0  # a factor below which a marker counts as hit
PART = 0.5  # what counts of a point where a marker is near
PART_NEAR, PART_WIDE = 10.0, 0.2  # a tenfold on a log axis; a fifth of another one
GUESS = "guess"
SAID = messages("lessons")["answer"]
VERDICT = messages("lessons")["verdict"]


@dataclass(frozen=True)
class Order:
    """Which curve is which: the items in the order of the curves 1, 2, ...

    An answer is a tuple of the items' places, that of curve 1 first; its text has a letter for each: "bac". A text with
    "-" for a curve that has no name yet is the beginning of one.

    Attributes:
        ask: the question, in a sentence.
        items: what is to be put in order, in the order in which it is offered.
    """

    ask: str
    items: tuple[str, ...]
    kind: ClassVar[str] = "order"

    @property
    def letters(self) -> str:
        """A letter for each item."""
        return LETTERS[: len(self.items)]

    def parse(self, text: str) -> tuple[int, ...]:
        """The answer that a text says. Raises SpecError."""
        if sorted(text) != list(self.letters):
            raise SpecError(GUESS, filled(SAID["refused_order"], shown=shown(text), letters=self.letters))
        return tuple(self.letters.index(letter) for letter in text)

    def begun(self, text: str) -> tuple[int | None, ...]:
        """The answer that a text says or begins, None for a curve without a name. Raises SpecError."""
        names = [letter for letter in text if letter != OPEN]
        if (
            len(text) != len(self.items)
            or not names
            or sorted(names) != sorted(set(names) & set(self.letters))
        ):
            return self.parse(text)
        return tuple(None if letter == OPEN else self.letters.index(letter) for letter in text)

    def write(self, answer: Sequence[int]) -> str:
        """An answer as a short text."""
        return "".join(self.letters[place] for place in answer)

    def put(self, text: str, item: int, curve: int | None = None) -> str:
        """The text with an item as the name of a curve, or of the first without one; the same again takes it away.

        text: a whole answer, the beginning of one, or "".
        """
        names = list(text) if len(text) == len(self.items) else [OPEN] * len(self.items)
        letter = self.letters[item]
        before = names.index(letter) if letter in names else None
        if before is not None:
            names[before] = OPEN
        if curve is None and before is None and OPEN in names:
            names[names.index(OPEN)] = letter
        elif curve is not None and curve != before:
            names[curve] = letter
        return "".join(names) if set(names) != {OPEN} else ""

    def distance(self, guess: Sequence[int], truth: Sequence[int]) -> float:
        """The number of pairs that are the wrong way round."""
        place = {item: i for i, item in enumerate(truth)}
        return float(sum(place[a] > place[b] for a, b in itertools.combinations(guess, 2)))

    def verdict(self, guess: Sequence[int | None], truth: Sequence[int]) -> str:
        """How far off a guess is, or the beginning of one."""
        named = [place for place in guess if place is not None]
        hit = sum(a == b for a, b in zip(guess, truth, strict=True))
        if len(named) < len(truth):
            given = {"hit": hit, "n": len(truth), "open": counted(len(truth) - len(named), "curve")}
            if hit == len(named):
                return filled(VERDICT["begun_rightly"], **given)
            return filled(VERDICT["begun"], wrong=counted(len(named) - hit, "curve"), **given)
        n, wrong = len(self.items), int(self.distance(named, truth))
        if not wrong:
            return filled(VERDICT["all"], n=n)
        return filled(VERDICT["order"], hit=hit, n=n, pairs=counted(wrong, "pair"), all=math.comb(n, 2))

    def score(self, guess: Sequence[int | None], truth: Sequence[int]) -> float:
        """The share of curves that are named rightly."""
        return sum(a == b for a, b in zip(guess, truth, strict=True)) / len(truth)

    def typical(self, answers: Sequence[Sequence[int]]) -> list[float]:
        """Return nothing: no order can be drawn for all."""
        return []

    def together(self, answers: Sequence[Sequence[int]], truth: Sequence[int]) -> str:
        """What a class predicted, at least one answer, against the truth: how many are right, and what most miss."""
        n, right = len(answers), sum(tuple(answer) == tuple(truth) for answer in answers)
        name = "orders_one" if right == 1 else "orders"
        said = filled(VERDICT[name], right=right, predictions=counted(n, "prediction"), n=len(truth))
        missed = [sum(answer[i] != truth[i] for answer in answers) for i in range(len(truth))]
        most = max(missed)
        if not most:
            return said
        worst = [f"curve {i}" for i, count in enumerate(missed, 1) if count == most]
        return filled(VERDICT["missed"], said=said, curves=listed(worst), most=most, n=n)

    def said(self, answer: Sequence[int]) -> str:
        """An answer in words."""
        return listed([f"{i}. {self.items[place]}" for i, place in enumerate(answer, 1)])

    def draw(self, chart: Chart, asked: AskedChart, text: str, truth: Sequence[int], shown: bool) -> None:
        """The numbers of the curves, and the names that a text gives them. The curves of the chart are the items."""
        names = text if len(text) == len(self.items) else OPEN * len(self.items)
        words = [self.items[self.letters.index(letter)] if letter != OPEN else "" for letter in names]
        figures.tags(chart, asked, truth, words, shown)


@dataclass(frozen=True)
class Marker:
    """Where on the horizontal axis something happens. An answer is a number; its text is that number: "1e9".

    Attributes:
        ask: the question, in a sentence.
        low, high: the ends of what may be answered.
        unit, unit_one: how an answer is said: "{} users"; and how 1 is, "" for no other way.
        log: whether the axis is logarithmic: then distance is counted in tenfolds, else as it is.
        steps: of a slider, by which the marker moves, on a log axis in each tenfold, else from end to end.
        ends: what the slider's ends mean.
        share: whether it is a share of one, said as a percentage.
        inverse: whether one over the answer is said, as the axis does: ε, where answers are 1/ε.
        waits: about where the marker waits until it is moved, None for the left end; never where it is measured.
        by: how the truth is known.
    """

    ask: str
    low: float
    high: float
    unit: str = SAID["unit"]
    log: bool = True
    steps: int = 10
    ends: tuple[str, str] = (SAID["fewer"], SAID["more"])
    share: bool = False
    inverse: bool = False
    waits: float | None = None
    by: str = SAID["measured"]
    unit_one: str = ""
    kind: ClassVar[str] = "marker"

    @property
    def field(self) -> Field:
        """What may be answered."""
        return Field(GUESS, "float", None, "where it happens", self.low, self.high, query=GUESS)

    @property
    def marks(self) -> tuple[float, ...]:
        """Where a slider stops, from left to right: what is said of them grows."""
        if self.log:
            n = round(self.steps * math.log10(self.high / self.low))
            exact = (self.low * 10 ** (i / self.steps) for i in range(n + 1))
        else:
            n = self.steps
            exact = (self.low + (self.high - self.low) * i / n for i in range(n + 1))
        found = [min(max(float(f"{x:.2g}"), self.low), self.high) for x in exact]
        return tuple(reversed(found) if self.inverse else found)

    @property
    def untouched(self) -> float:
        """The mark at which the marker waits."""
        return self.marks[0] if self.waits is None else self.nearest(self.waits)

    def nearest(self, x: float) -> float:
        """The mark that is nearest to a place on the axis."""
        if self.log:
            return min(self.marks, key=lambda mark: abs(math.log(mark / max(x, 1e-300))))
        return min(self.marks, key=lambda mark: abs(mark - x))

    def parse(self, text: str) -> float:
        """The answer that a text says. Raises SpecError."""
        try:
            return float(self.field.parse(text))
        except SpecError as error:
            ends = {"low": human(self.low), "high": human(self.high)}
            raise SpecError(GUESS, filled(SAID["refused_marker"], shown=shown(text), **ends)) from error

    def write(self, answer: float) -> str:
        """An answer as a short text."""
        return written(int(answer) if float(answer).is_integer() else float(answer))

    def distance(self, guess: float, truth: float) -> float:
        """In tenfolds on a log axis, else as it is."""
        return abs(math.log10(guess / truth)) if self.log else abs(guess - truth)

    def verdict(self, guess: float, truth: float) -> str:
        """How far off a guess is."""
        found = {"by": self.by, "truth": self.said(truth), "off": self._off(guess, truth)}
        return filled(VERDICT["marker"], said=self.said(guess), **found)

    @property
    def words(self) -> dict[str, str]:
        """How too much, too little and less of it are said."""
        kind = "share" if self.share else "budget" if self.unit.startswith("ε") else "count"
        found: dict[str, str] = VERDICT[kind]
        return found

    def _off(self, guess: float, truth: float) -> str:
        """Which way a guess is off, and by how many times on a log axis."""
        way = self.words["under" if (guess < truth) != self.inverse else "over"]
        if not self.log:
            hit = self.distance(guess, truth) <= (self.high - self.low) / self.steps
            return str(VERDICT["hit"]) if hit else way
        times = max(guess / truth, truth / guess)
        if times < NEAR:
            return filled(VERDICT["within"], factor=human(NEAR))
        return filled(VERDICT["times"], times=rough(times), way=way)

    def typical(self, answers: Sequence[float]) -> list[float]:
        """Return the median of at least one answer; two if two different ones stand in the middle."""
        ordered, n = sorted(answers, reverse=self.inverse), len(answers)
        return list(dict.fromkeys(ordered[(n - 1) // 2 : n // 2 + 1]))

    def together(self, answers: Sequence[float], truth: float) -> str:
        """What a class predicted, at least one answer, against the truth: by its median."""
        n, (middle, *other) = len(answers), self.typical(answers)
        found = {"by": self.by, "truth": self.said(truth), "said": self.said(middle)}
        if other:
            return filled(VERDICT["markers_two"], n=n, other=self.said(other[0]), **found)
        found["off"] = self._off(middle, truth)
        if n == 1:
            return filled(VERDICT["markers_one"], **found)
        return filled(VERDICT["markers"], n=n, less=self.words["less"], **found)

    def score(self, guess: float, truth: float) -> float:
        """1 where the verdict is that it was hit, PART where it is near: within a factor of PART_NEAR, or a share
        PART_WIDE of the axis."""
        off = self.distance(guess, truth)
        if self.log:
            hit, near = math.log10(NEAR), math.log10(PART_NEAR)
            return 1.0 if off < hit else PART if off <= near else 0.0
        wide = self.high - self.low
        return 1.0 if off <= wide / self.steps else PART if off <= PART_WIDE * wide else 0.0

    def said(self, answer: float) -> str:
        """An answer in words."""
        value = 1 / answer if self.inverse else answer
        number = percent(value) if self.share else rough(value)
        one = self.unit_one or (SAID["unit_one"] if self.unit == SAID["unit"] else "")
        return (one if one and number == "1" else self.unit).format(number)

    def draw(self, chart: Chart, asked: AskedChart, text: str, truth: float, shown: bool) -> None:
        """A line where the text says, and one where it was measured."""
        if asked.people:
            figures.circles_of_users(chart, asked, truth if shown else self.parse(text) if text else 0.0)
        if not shown:
            figures.places_to_press(chart, asked, self.marks, [self.said(mark) for mark in self.marks])
        if text:
            figures.marker(chart, asked, [self.parse(text)], "guess")
        if shown:
            figures.marker(chart, asked, [truth], "truth", self.by)


@dataclass(frozen=True)
class Slope:
    """How fast something grows, like a power of x, over a part of the axis. An answer is an exponent; a guess is one
    of `choices`, its text that number: "0.5".

    Attributes:
        ask: the question, in a sentence.
        choices: exponents, and how each is said.
        of: what is raised to the power, as a letter.
        start, end: the part of the axis.
    """

    ask: str
    choices: tuple[tuple[float, str], ...]
    start: float
    end: float
    of: str = "K"
    kind: ClassVar[str] = "slope"

    def parse(self, text: str) -> float:
        """The answer that a text says. Raises SpecError."""
        known = [written(power) for power, _ in self.choices]
        return float(Field(GUESS, "choice", None, "an exponent", choices=tuple(known)).parse(text))

    def write(self, answer: float) -> str:
        """An answer as a short text."""
        return written(float(answer))

    def distance(self, guess: float, truth: float) -> float:
        """Between the exponents."""
        return abs(guess - truth)

    def verdict(self, guess: float, truth: float) -> str:
        """How far off a guess is."""
        nearest = min(self.choices, key=lambda choice: abs(choice[0] - truth))
        found = {"said": self.said(guess), "power": to_the(self.of, truth)}
        if nearest[0] == guess:
            return filled(VERDICT["slope_right"], **found)
        return filled(VERDICT["slope"], nearest=nearest[1], **found)

    def score(self, guess: float, truth: float) -> float:
        """1 where no choice is nearer, else 0."""
        return float(self.distance(guess, truth) <= min(abs(power - truth) for power, _ in self.choices))

    def typical(self, answers: Sequence[float]) -> list[float]:
        """Return the most frequent of at least one answer, all that tie."""
        return multimode(sorted(answers))

    def together(self, answers: Sequence[float], truth: float) -> str:
        """Return how many of a class are right, at least one answer, and its most frequent answers: all that tie."""
        n, right = len(answers), sum(self.score(answer, truth) == 1 for answer in answers)
        nearest = min(self.choices, key=lambda choice: abs(choice[0] - truth))
        return filled(
            VERDICT["slopes_one" if right == 1 else "slopes"],
            right=right,
            predictions=counted(n, "prediction"),
            nearest=nearest[1],
            power=to_the(self.of, truth),
            frequent=listed([f"“{self.said(answer)}”" for answer in self.typical(answers)]),
        )

    def said(self, answer: float) -> str:
        """An answer in words."""
        return dict(self.choices).get(answer, to_the(self.of, answer))

    def origin(self, asked: AskedChart) -> tuple[float, float]:
        """Where the slopes start: on the curve that is asked about, the last of the chart."""
        curve = asked.curves[-1]
        return self.start, float(value_at(asked, curve, self.start))

    def draw(self, chart: Chart, asked: AskedChart, text: str, truth: float, shown: bool) -> None:
        """The slopes to choose from, and which was chosen."""
        start = self.origin(asked)
        figures.fan(chart, start, self.end, self.choices)
        if text:
            figures.slope(chart, start, self.end, [self.parse(text)], "guess")


Prediction = Order | Marker | Slope


def cloud(
    prediction: Prediction, chart: Chart, asked: AskedChart, answers: Sequence[Any], shown: bool = False
) -> None:
    """Many answers, each faint, so that they darken where they agree. Those to an order are counted instead.

    shown: with the typical ones, which would lead those who still predict.
    """
    drawn: list[tuple[Who, Sequence[Any]]] = [("other", answers)]
    if shown and answers:
        drawn.append(("class", prediction.typical(answers)))
    for who, of in drawn:
        if isinstance(prediction, Marker):
            figures.marker(chart, asked, of, who)
        elif isinstance(prediction, Slope):
            figures.slope(chart, prediction.origin(asked), prediction.end, of, who)
