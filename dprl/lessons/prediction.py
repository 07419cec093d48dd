"""A learner's guess before the answer is shown: an order of curves, a position on an axis, or one of a few answers.

In links and on phones, a guess is a short text, which each kind of prediction reads and writes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import multimode
from typing import Any

from dprl.fields import Field, SpecError, shown
from dprl.figures import guesses as figures
from dprl.figures.chart import Chart
from dprl.figures.guesses import Who
from dprl.figures.lessons import AskedChart, value_at
from dprl.links import written
from dprl.messages import counted, filled, messages
from dprl.words import human, listed, percent, rough, to_the

LETTERS = "abcdefghijklmnop"
OPEN = "-"  # stands for a curve without a name in an unfinished order
NEAR = 2.0  # a guess within this factor of the truth counts as a hit
PART = 0.5  # points for a guess nearby
PART_NEAR, PART_WIDE = 10.0, 0.2  # nearby: within a factor of ten on a log axis, or a fifth of a linear one
GUESS = "guess"
SAID = messages("lessons")["answer"]
VERDICT, CURVE = messages("lessons")["verdict"], messages("lessons")["chart"]["curve"]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


@dataclass(frozen=True)
class Order:
    """A matching of names to curves. An answer is a tuple with the index of each curve's name. Its text has one letter
    per curve, such as "bac"; "-" marks a curve without a name."""

    items: tuple[str, ...]  # the names to choose from, in the order in which they are offered
    keys: tuple[str, ...] = ()  # the keys of the items in a lesson's file

    @property
    def letters(self) -> str:
        """A letter for each item."""
        return LETTERS[: len(self.items)]

    def parse(self, text: str) -> tuple[int, ...]:
        """Parse an answer from a text. Raises SpecError if it is invalid."""
        if sorted(text) != list(self.letters):
            raise SpecError(GUESS, filled(SAID["refused_order"], shown=shown(text), letters=self.letters))
        return tuple(self.letters.index(letter) for letter in text)

    def write(self, answer: Sequence[int]) -> str:
        """Write an answer as a short text."""
        return "".join(self.letters[place] for place in answer)

    def put(self, text: str, item: int, curve: int | None = None) -> str:
        """Give a name to a curve, and return the new text. If the curve already has the name, remove it instead. By
        default, name the first unnamed curve."""
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

    def verdict(self, guess: Sequence[int], truth: Sequence[int]) -> str:
        """Describe how many names in a guess are correct."""
        hit, n = sum(a == b for a, b in zip(guess, truth, strict=True)), len(truth)
        return filled(VERDICT["all"], n=n) if hit == n else filled(VERDICT["order"], hit=hit, n=n)

    def score(self, guess: Sequence[int], truth: Sequence[int]) -> float:
        """Return the share of curves with the correct name."""
        return sum(a == b for a, b in zip(guess, truth, strict=True)) / len(truth)

    def errors(self, guess: Sequence[int], truth: Sequence[int]) -> list[str]:
        """Name the errors in a guess, beginning with the first pair of curves in the wrong order."""
        if tuple(guess) == tuple(truth):
            return ["right"]
        place = {item: i for i, item in enumerate(truth)}
        pairs = [pair for pair in itertools.combinations(guess, 2) if place[pair[0]] > place[pair[1]]]
        wrong = [f"{self.keys[a]} before {self.keys[b]}" for a, b in pairs]
        return [*wrong, "wrong"]

    def together(self, answers: Sequence[Sequence[int]], truth: Sequence[int]) -> str:
        """Describe how many of one or more predictions are correct, and name the most frequent mistake."""
        n, right = len(answers), sum(tuple(answer) == tuple(truth) for answer in answers)
        name = "orders_one" if 1 in (right, n) else "orders"
        said = filled(VERDICT[name], right=right, predictions=counted(n, "prediction"), n=len(truth))
        missed = [sum(answer[i] != truth[i] for answer in answers) for i in range(len(truth))]
        most = max(missed)
        if not most:
            return said
        worst = [filled(CURVE, number=i) for i, count in enumerate(missed, 1) if count == most]
        return filled(VERDICT["missed"], said=said, curves=listed(worst), most=most, n=n)

    def said(self, answer: Sequence[int]) -> str:
        """Write an answer in words."""
        return listed([f"{i}. {self.items[place]}" for i, place in enumerate(answer, 1)])

    def draw(self, chart: Chart, asked: AskedChart, text: str, truth: Sequence[int], shown: bool) -> None:
        """Label the chart's curves with numbers and with the names that an answer gives them."""
        names = text if len(text) == len(self.items) else OPEN * len(self.items)
        words = [self.items[self.letters.index(letter)] if letter != OPEN else "" for letter in names]
        figures.tags(chart, asked, truth, words, shown)


@dataclass(frozen=True)
class Marker:
    """A position on the horizontal axis. An answer is a number, and its text is that number, such as "1e9"."""

    # low, high: the ends of the allowed answers
    low: float
    high: float
    # unit, unit_one: the words for an answer, such as "{} users", and for the answer 1 if they differ
    unit: str = SAID["unit"]
    log: bool = True  # whether the axis is logarithmic; distances are then counted in factors of ten
    steps: int = 10  # of the slider: per factor of ten on a log axis, otherwise in total
    ends: tuple[str, str] = (SAID["fewer"], SAID["more"])  # the meanings of the slider's ends
    share: bool = False  # whether answers are shares, shown as percentages
    inverse: bool = False  # whether words show 1/answer, as the axis does, such as ε for an answer in 1/ε
    waits: float | None = None  # the marker's approximate position until it is moved; None for the left end
    by: str = SAID["measured"]  # how the truth is known, such as "measured"
    unit_one: str = ""

    @property
    def marks(self) -> tuple[float, ...]:
        """The stops of the slider, from left to right."""
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
        """The mark at which the marker stands until it is moved."""
        return self.marks[0] if self.waits is None else self.nearest(self.waits)

    def nearest(self, x: float) -> float:
        """Return the mark nearest to a position on the axis."""
        place = max(x, 1e-300) if self.log else x
        return min(self.marks, key=lambda mark: self.distance(mark, place))

    def parse(self, text: str) -> float:
        """Parse an answer from a text. Raises SpecError if it is invalid."""
        try:
            return float(Field(GUESS, "float", None, "where it happens", self.low, self.high).parse(text))
        except SpecError as error:
            ends = {"low": human(self.low), "high": human(self.high)}
            raise SpecError(GUESS, filled(SAID["refused_marker"], shown=shown(text), **ends)) from error

    def write(self, answer: float) -> str:
        """Write an answer as a short text."""
        return written(int(answer) if float(answer).is_integer() else float(answer))

    def distance(self, guess: float, truth: float) -> float:
        """Return the distance between a guess and the truth, in factors of ten on a log axis."""
        return abs(math.log10(guess / truth)) if self.log else abs(guess - truth)

    def verdict(self, guess: float, truth: float) -> str:
        """Describe how far a guess is off."""
        found = {"by": _capital(self.by), "truth": self.said(truth), "off": self._off(guess, truth)}
        return filled(VERDICT["marker"], said=self.said(guess), **found)

    @property
    def words(self) -> dict[str, str]:
        """The words for "too much", "too little" and "less"."""
        kind = "share" if self.share else "budget" if self.unit.startswith("ε") else "count"
        return dict(VERDICT[kind])

    def _off(self, guess: float, truth: float) -> str:
        """State whether a guess is too low or too high and, on a log axis, give the factor."""
        way = self.words["under" if (guess < truth) != self.inverse else "over"]
        if not self.log:
            hit = self.distance(guess, truth) <= (self.high - self.low) / self.steps
            return str(VERDICT["hit"]) if hit else way
        times = max(guess / truth, truth / guess)
        if times < NEAR:
            return filled(VERDICT["within"], factor=human(NEAR))
        return filled(VERDICT["times"], times=rough(times), way=way)

    def errors(self, guess: float, truth: float) -> list[str]:
        """Name the error in a guess: `low`, `high`, or `right` if there is none."""
        if self.score(guess, truth) == 1:
            return ["right"]
        return ["low" if (guess < truth) != self.inverse else "high"]

    def typical(self, answers: Sequence[float]) -> list[float]:
        """Return the median of one or more answers, or both middle answers if they differ."""
        ordered, n = sorted(answers, reverse=self.inverse), len(answers)
        return list(dict.fromkeys(ordered[(n - 1) // 2 : n // 2 + 1]))

    def together(self, answers: Sequence[float], truth: float) -> str:
        """Compare the median of one or more predictions with the truth, in a sentence."""
        n, (middle, *other) = len(answers), self.typical(answers)
        found = {"by": _capital(self.by), "truth": self.said(truth), "said": self.said(middle)}
        if other:
            return filled(VERDICT["markers_two"], n=n, other=self.said(other[0]), **found)
        found["off"] = self._off(middle, truth)
        if n == 1:
            return filled(VERDICT["markers_one"], **found)
        return filled(VERDICT["markers"], n=n, less=self.words["less"], **found)

    def score(self, guess: float, truth: float) -> float:
        """Return 1 for a hit, PART for a near miss, and 0 otherwise."""
        off = self.distance(guess, truth)
        if self.log:
            hit, near = math.log10(NEAR), math.log10(PART_NEAR)
            return 1.0 if off < hit else PART if off <= near else 0.0
        wide = self.high - self.low
        return 1.0 if off <= wide / self.steps else PART if off <= PART_WIDE * wide else 0.0

    def said(self, answer: float) -> str:
        """Write an answer in words."""
        value = 1 / answer if self.inverse else answer
        number = percent(value) if self.share else rough(value)
        one = self.unit_one or (SAID["unit_one"] if self.unit == SAID["unit"] else "")
        return (one if one and number == "1" else self.unit).format(number)

    def draw(self, chart: Chart, asked: AskedChart, text: str, truth: float, shown: bool) -> None:
        """Draw a line at the guess, if there is one, and at the measured value, if `shown`."""
        if asked.people:
            figures.circles_of_users(chart, asked, truth if shown else self.parse(text) if text else 0.0)
        if not shown:
            figures.places_to_press(chart, asked, self.marks, [self.said(mark) for mark in self.marks])
        if text:
            figures.marker(chart, asked, [self.parse(text)], "guess")
        if shown:
            figures.marker(chart, asked, [truth], "truth", self.by)


@dataclass(frozen=True)
class Choice:
    """One of a few answers. An answer is a number, and its text is that number, such as "0.5"."""

    # each choice's number (an index from 0, or an exponent for the ways in which a curve may continue) and words
    choices: tuple[tuple[float, str], ...]
    of: str = ""  # the letter that is raised to the exponent; "" for plain answers
    # start, end: the part of the axis over which the curve continues
    start: float = 0.0
    end: float = 0.0

    def parse(self, text: str) -> float:
        """Parse an answer from a text. Raises SpecError if it is invalid."""
        known = [written(value) for value, _ in self.choices]
        return float(Field(GUESS, "choice", None, "an answer", choices=tuple(known)).parse(text))

    def write(self, answer: float) -> str:
        """Write an answer as a short text."""
        return written(float(answer))

    def nearest(self, truth: float) -> tuple[float, str]:
        """Return the choice nearest to the truth."""
        return min(self.choices, key=lambda choice: abs(choice[0] - truth))

    def verdict(self, guess: float, truth: float) -> str:
        """State whether a guess is right, and give the measured value."""
        value, words = self.nearest(truth)
        right, measured = value == guess, {"power": to_the(self.of, truth)} if self.of else {}
        name = ("slope" if self.of else "choice") + ("_right" if right else "")
        return filled(
            VERDICT[name], said=self.said(guess), **({} if right else {"nearest": words}), **measured
        )

    def score(self, guess: float, truth: float) -> float:
        """Return 1 if the guess is the choice nearest to the truth, and 0 otherwise."""
        return float(self.nearest(truth)[0] == guess)

    def errors(self, guess: float, truth: float) -> list[str]:
        """Return the index of the guess among the choices, as text. This index names the error."""
        return [str([value for value, _ in self.choices].index(guess))]

    def typical(self, answers: Sequence[float]) -> list[float]:
        """Return the most frequent of one or more answers, including all that are tied."""
        return multimode(sorted(answers))

    def together(self, answers: Sequence[float], truth: float) -> str:
        """Describe how many of one or more answers are right, and name the most frequent ones."""
        n, right = len(answers), sum(self.score(answer, truth) == 1 for answer in answers)
        name = ("slopes" if self.of else "choices") + ("_one" if 1 in (right, n) else "")
        most = (self.said(answer).rstrip(".") for answer in self.typical(answers))
        return filled(
            VERDICT[name],
            right=right,
            predictions=counted(n, "prediction"),
            nearest=self.nearest(truth)[1].rstrip("."),
            frequent=listed([filled(VERDICT["quoted"], said=one) for one in most]),
            **({"power": to_the(self.of, truth)} if self.of else {}),
        )

    def said(self, answer: float) -> str:
        """Write an answer in words."""
        return dict(self.choices).get(answer) or to_the(self.of, answer)

    def origin(self, asked: AskedChart) -> tuple[float, float]:
        """Return the point on the last curve from which the possible continuations start."""
        return self.start, float(value_at(asked, asked.curves[-1], self.start))

    def draw(self, chart: Chart, asked: AskedChart, text: str, truth: float, shown: bool) -> None:
        """Draw the possible continuations of the curve, and mark the chosen one. Draw nothing for plain answers."""
        if not self.of:
            return
        start = self.origin(asked)
        figures.fan(chart, start, self.end, self.choices)
        if text:
            figures.slope(chart, start, self.end, [self.parse(text)], "guess")


Prediction = Order | Marker | Choice


def cloud(
    prediction: Prediction, chart: Chart, asked: AskedChart, answers: Sequence[Any], shown: bool = False
) -> None:
    """Draw many answers faintly, so that equal ones look darker. If `shown`, add the typical one. Ignore orders."""
    if isinstance(prediction, Order):
        return
    drawn: dict[Who, Sequence[Any]] = {"other": answers}
    if shown and answers:
        drawn["class"] = prediction.typical(answers)
    for who, of in drawn.items():
        if isinstance(prediction, Marker):
            figures.marker(chart, asked, of, who)
        elif prediction.of:
            figures.slope(chart, prediction.origin(asked), prediction.end, of, who)
