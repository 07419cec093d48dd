"""The chart of a step, with predictions on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from dprl import metrics
from dprl.figures import guesses
from dprl.figures import lessons as figures
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle, dashed, numbered
from dprl.figures.picture import Picture
from dprl.lessons import Marker, Order, Step, cloud
from dprl.lessons.charts import DrawnSeries
from dprl.simulation import OfflineSpec
from pages.shared.lessons.known import evidence
from pages.shared.names import style_of
from pages.shared.offline import names as offline


def chart(step: Step) -> figures.AskedChart:
    """Return the chart of a step's figure."""
    plot = step.plot(evidence())
    curves = []
    for one, kind in zip(plot.drawn, plot_styles(plot.drawn), strict=True):
        center, low, high = metrics.regret_band(one.series.rows)
        x, rows = np.asarray(one.series.x, float), one.series.rows
        curves.append(Series(one.series.label, kind, x, rows, center, low, high))
    frame = {each.name: getattr(plot, each.name) for each in fields(figures.Frame)}
    until = tuple(one.until for one in plot.drawn)
    return figures.AskedChart(**frame, curves=tuple(curves), until=until)


def plot_styles(drawn: Sequence[DrawnSeries]) -> list[CurveStyle]:
    """Return the sources of the curves' styles."""
    specs: list[Any] = [one.series.spec for one in drawn]
    if all(spec.kind == OfflineSpec.kind for spec in specs):
        found = [offline.kind(spec) for spec in specs]
    else:
        found = [style_of(spec) for spec in specs]
    return numbered(dashed(found))


def step_picture(
    step: Step,
    guess: str,
    *,
    shown: bool,
    others: Sequence[str] = (),
    asked: bool = False,
    large: bool = False,
    wide: bool = True,
    dark: bool,
) -> Picture:
    """Draw the chart of a step.

    Args:
        guess: the text of a prediction, perhaps not whole; "" for none.
        shown: with the answer.
        others: texts of the predictions of others, all whole.
        asked: whether who sees it is to predict: a marker waits to be dragged.
        large: for a projector, if there is room (wide).
    """
    drawn, prediction = chart(step), step.prediction
    names = shown or not isinstance(prediction, Order)
    made = figures.open_chart(drawn, shown=shown, names=names, large=large, wide=wide, dark=dark)
    cloud(prediction, made, drawn, [prediction.parse(text) for text in others], shown)
    if asked and not guess and isinstance(prediction, Marker):
        guesses.waiting(made, drawn, prediction.untouched)
    prediction.draw(made, drawn, guess, step.truth(evidence()), shown)
    return figures.asked_picture(made, drawn, shown=shown, names=names)
