"""Predictions: by widgets, by pressing the chart, or by dragging a marker over it, which the browser moves
and sends once, where it was left. All hand on its text, perhaps not whole yet. And the buttons of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dprl.figures.guesses import HELD
from dprl.lessons import Choice, Marker, Order, Prediction
from dprl.messages import filled, messages
from pages.shared.controls.widgets import segments
from pages.shared.layout.browser import component
from pages.shared.visitor.callbacks import button, callback, keyed

Said = Callable[[str], None]
SAID = messages("lessons")["answer"]


def answer_field(prediction: Prediction, text: str, said: Said) -> None:
    """Draw the field of a prediction, for visitors who do not press the chart itself."""
    if isinstance(prediction, Order):

        def put(item: int) -> None:
            said(prediction.put(text, item))

        with st.container(horizontal=True, gap="small", key="items"):
            for item, words in enumerate(prediction.items):
                named = text.find(prediction.letters[item])
                button(
                    filled(SAID["named"], number=named + 1, name=words) if named >= 0 else words,
                    put,
                    item,
                    key=f"item_{item}",
                    type="primary" if named >= 0 else "secondary",
                )
        hint(SAID["order_hint"])
    elif isinstance(prediction, Marker):
        st.select_slider(
            SAID["label"],
            prediction.marks,
            prediction.nearest(float(text)) if text else prediction.untouched,
            format_func=prediction.said,
            **keyed("marker", lambda mark: said(prediction.write(mark))),
        )
        with st.container(horizontal=True, horizontal_alignment="distribute", key="ends_marker"):
            st.caption(prediction.ends[0], width="content")
            st.caption(prediction.ends[1], width="content")
        hint(SAID["marker_hint"])
    elif isinstance(prediction, Choice):
        choices = {prediction.write(value): words for value, words in prediction.choices}
        if prediction.of:
            segments(SAID["label"], "slope", choices, text or None, lambda chosen: said(chosen or ""))
            hint(SAID["slope_hint"])
            return
        st.radio(
            SAID["label"],
            list(choices),
            list(choices).index(text) if text in choices else None,
            format_func=lambda value: choices.get(value, ""),
            label_visibility="collapsed",
            **keyed("choice", lambda chosen: said(chosen if chosen in choices else "")),
        )


def hint(words: str) -> None:
    """Explain the way to predict."""
    with st.container(key="hint"):
        st.caption(words)


def chosen(prediction: Prediction, text: str, event: Any) -> str | None:
    """Return the prediction after a press on the chart; None if the press means nothing."""
    points = event["selection"]["points"]
    if not points:
        return None
    point = points[0]
    if isinstance(prediction, Marker):
        return prediction.write(prediction.nearest(float(point["x"])))
    custom = point.get("customdata")
    place = custom[0] if isinstance(custom, list) else custom
    if not isinstance(place, int) or (isinstance(prediction, Choice) and not prediction.of):
        return None
    if isinstance(prediction, Choice):
        return prediction.write(prediction.choices[place][0])
    free = [i for i, letter in enumerate(prediction.letters) if letter not in text]
    return prediction.put(text, free[0], place) if free else None


KEY = "drag"

_drag = component("drag")


def draggable(prediction: Prediction, text: str, chart: str, said: Said) -> None:
    """Have the marker of a chart dragged from its place, "" while it waits; nothing where the prediction is none. said:
    called with the text of where it was left."""
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


def press(
    label: str,
    icon: str,
    key: str,
    action: Callable[..., object],
    *arguments: Any,
    primary: bool = False,
    disabled: bool = False,
) -> None:
    """Draw a button; one that leads nowhere here is disabled, so that its neighbours stay where they are."""
    kind = "primary" if primary else "secondary"
    button(label, action, *arguments, icon=icon, key=key, type=kind, disabled=disabled)
