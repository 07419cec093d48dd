"""A marker that is dragged over its chart, by mouse or finger. The browser moves it; where it was left is sent once, at
the end."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dprl.figures.guesses import HELD
from dprl.lessons import Marker, Prediction
from pages.shared.layout.component import component
from pages.shared.visitor.callbacks import callback

KEY = "drag"

_drag = component("drag")


def draggable(prediction: Prediction, text: str, chart: str, said: Callable[[str], None]) -> None:
    """Make the marker of a chart draggable; do nothing if the prediction has none.

    Args:
        text: where it is, "" if it waits.
        chart: the key of the chart.
        said: called with the text of where it was left.
    """
    if not isinstance(prediction, Marker):
        return
    marks = prediction.marks

    def dropped() -> None:
        told = st.session_state.get(KEY)
        place = None if told is None else told.dropped
        if isinstance(place, int) and 0 <= place < len(marks):  # it comes from a browser
            said(prediction.write(marks[place]))

    with st.container(key="marker_drag"):
        _drag(
            data={
                "chart": f"st-key-{chart}",
                "held": HELD,
                "at": float(text) if text else prediction.untouched,
                "marks": marks,
                "words": [prediction.said(mark) for mark in marks],
            },
            key=KEY,
            height=1,
            on_dropped_change=callback(dropped),
        )
