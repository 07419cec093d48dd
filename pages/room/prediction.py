"""A lesson's step put to the class: predictions on phones, and all of them over the teacher's chart; and the end of a
lesson: the sentences to remember, and the scores of each student and the class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dprl.lessons import LESSONS, Choice, Lesson, Order
from dprl.lessons import Step as Asked
from dprl.messages import filled, messages
from dprl.rooms.steps import ClassStep, Content, Guess, Recap
from dprl.sentences import room as sentences
from pages.room.state import group, respond
from pages.shared import lessons as views
from pages.shared.layout.chart import draw, explain, kept
from pages.shared.layout.frame import wide
from pages.shared.layout.terms import escape, explained
from pages.shared.lessons import (
    answer_field,
    chosen,
    draggable,
    evidence,
    fault,
    own_score,
    recap_sentences,
    score_row,
    unknown,
    valid,
)
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.state import session


def step_of_lesson(content: Guess) -> Asked | None:
    """Return the step of the lesson; None if this server lacks the lesson or its runs."""
    lesson = LESSONS.get(content.lesson)
    if lesson is None or content.step >= len(lesson.steps) or unknown(lesson) or fault(lesson):
        return None
    return lesson.steps[content.step]


def valid_texts(step: Asked, texts: Sequence[str]) -> list[str]:
    """Return the texts that are valid predictions."""
    return [text for text in texts if valid(step, text)]


def prediction_in_words(content: Content, text: str) -> str:
    """Write a stored prediction in words."""
    found = step_of_lesson(content) if isinstance(content, Guess) else None
    if found is None or not valid_texts(found, [text]):
        return text
    prediction: Any = found.prediction  # parses and formats its own predictions
    return str(prediction.said(prediction.parse(text)))


def prediction_on_phone(step: ClassStep, content: Guess, written: str | None) -> None:
    """Draw the step on a student's phone."""
    found = step_of_lesson(content)
    if found is None:
        st.info(sentences.PHONE["unknown"], icon=":material/info:")
        return
    r = group()
    prediction, text = found.prediction, written or r.guesses.get(step.place, "")
    st.markdown(explained(f"## {escape(found.ask)}"), anchors=False)
    if found.setup and step.state != "revealed":
        st.markdown(explained(escape(found.setup)))
    if step.state == "revealed":
        if text and written is None:
            st.warning(sentences.PHONE["unsent"], icon=":material/unsubscribe:")
        mine = text if valid_texts(found, [text]) else ""
        predicted_chart(step, found, mine, shown=True)
        off = (
            f"**{escape(found.off(mine, evidence()))}** {escape(found.reply(mine, evidence()))} "
            if mine
            else ""
        )
        predictions_together(step, found)
        told(step, found, off)
        return
    making = step.state == "open" and written is None
    if making:
        answer_field(prediction, text, partial(predict, step.place))
        send_bar(step, bool(valid_texts(found, [text])), bool(text))
    key = predicted_chart(step, found, text, pressed=partial(pressed, step.place, found) if making else None)
    if making:
        draggable(prediction, text, key, partial(take_prediction, step.place))
        st.caption(explained(sentences.PHONE["guesses"]))
    elif written is not None:
        st.success(sentences.PHONE["sent"], icon=":material/done:")
    else:
        st.info(sentences.PHONE["paused_predictions"], icon=":material/pause:")


def send_bar(step: ClassStep, whole: bool, begun: bool) -> None:
    """Draw the button that sends a prediction, above the chart so that it never covers it."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="send_bar"):
        button(
            sentences.PHONE["send"],
            send,
            step.place,
            icon="send",
            key=f"send_{step.place}",
            type="primary",
            disabled=not whole,
        )
        if begun:
            st.caption(sentences.PHONE["waits"])


def on_screen(step: ClassStep, content: Guess, large: bool = False) -> None:
    """Draw the step on the teacher's screen: all predictions over the chart. large: for a projector, without tables."""
    found = step_of_lesson(content)
    if found is None:
        st.info(sentences.PHONE["unknown"], icon=":material/info:")
        return
    shown = step.state == "revealed"
    others = valid_texts(found, step.answers)
    if large and not shown and isinstance(found.prediction, Choice) and not found.prediction.of:
        answers = enumerate(found.prediction.choices, 1)
        st.markdown("\n".join(f"{n}. {explained(escape(words))}" for n, (_, words) in answers))
    predicted_chart(step, found, "", shown=shown, others=others, large=large)
    if shown:
        predictions_together(step, found)
    if large:
        if shown:
            st.markdown(explained(escape(found.found(evidence()))))
            st.markdown(explained(escape(found.why(evidence()))))
        return
    if isinstance(found.prediction, Order):
        orders = [found.prediction.parse(text) for text in others]
        st.markdown(names_given(found.prediction, orders, found.truth(evidence()) if shown else None))
    elif isinstance(found.prediction, Choice):
        st.markdown(shares(found.prediction, others))
    if shown:
        told(step, found, "")


def predicted_chart(
    step: ClassStep,
    found: Asked,
    text: str,
    *,
    shown: bool = False,
    others: Sequence[str] = (),
    pressed: Any = None,
    large: bool = False,
) -> str:
    """Draw the chart of a step, and return its key. pressed: called after a click, if a prediction can be made. large:
    whether it is for a projector, on which the chart fills the rest of the page."""
    content, room = step.content, wide()
    making = pressed is not None
    drawn = kept(
        ("room", content, text, shown, tuple(others), making, large, room),
        lambda night: views.step_picture(
            found,
            text,
            shown=shown,
            others=others,
            asked=making,
            large=large,
            wide=room,
            dark=night,
        ),
    )
    key = f"room_{step.place}_{large}"
    draw(drawn, key, pressed, "stretch" if large else "content")
    return key


def predictions_together(step: ClassStep, found: Asked) -> None:
    """Describe the class's predictions next to the measurement."""
    if texts := valid_texts(found, step.answers):
        with st.container(key="together"):
            st.markdown(filled(sentences.PHONE["together"], said=escape(found.together(texts, evidence()))))


def told(step: ClassStep, found: Asked, off: str) -> None:
    """Draw the measured result and its explanation."""
    explain(
        off + found.found(evidence()),
        lambda: views.step_picture(found, "", shown=True, dark=False).table,
        f"room_{step.place}",
    )
    st.markdown(explained(f":material/lightbulb: {escape(found.why(evidence()))}"))


def names_given(prediction: Order, orders: Sequence[Sequence[int]], truth: Sequence[int] | None) -> str:
    """Write a table of the names given to each curve. truth: the correct ones, None until they are shown."""
    items = [escape(item) for item in prediction.items]
    curve = messages("lessons")["chart"]["curve"]
    rows = []
    for place in range(len(items)):
        counts = Counter(order[place] for order in orders)
        right = None if truth is None else truth[place]
        rows.append(
            [filled(curve, number=place + 1)]
            + [
                f"**{counts[i]}** :material/check:" if i == right else str(counts[i])
                for i in range(len(items))
            ]
        )
    return markdown_table([sentences.TEACHER["named"], *items], rows)


def shares(prediction: Choice, texts: Sequence[str]) -> str:
    """Write a table with the number of votes for each answer."""
    counts = Counter(prediction.parse(text) for text in texts)
    return markdown_table(
        [escape(words) for _, words in prediction.choices],
        [[str(counts[power]) for power, _ in prediction.choices]],
    )


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a small table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def predict(place: int, text: str) -> None:
    """Store a prediction in this session until it is sent."""
    group().guesses[place] = text


def send(place: int) -> None:
    """Send the current prediction, which may have moved since the button was drawn."""
    respond(place, group().guesses.get(place, ""))


def pressed(place: int, found: Asked, event: Any) -> None:
    """Apply a click on the chart."""
    text = chosen(found.prediction, group().guesses.get(place, ""), event)
    if text is not None:
        take_prediction(place, text)


def take_prediction(place: int, text: str) -> None:
    """Store a prediction made on the chart."""
    predict(place, text)
    session().version += 1  # so that the widget next to the chart shows it


LEAD = messages("room")["lead"]


def steps_put(lesson: str, steps: Sequence[ClassStep]) -> dict[int, ClassStep]:
    """Return the steps of a lesson that were put to the class, by place; only the last of a repeated step."""
    return {
        step.content.step: step
        for step in steps
        if isinstance(step.content, Guess) and step.content.lesson == lesson
    }


def recap_on_screen(content: Recap, steps: Sequence[ClassStep], level: str = "##") -> None:
    """Draw the recap on the teacher's screen. level: the Markdown of its heading."""
    lesson = LESSONS.get(content.lesson)
    if lesson is None:
        return
    st.markdown(f"{level} {escape(filled(LEAD['recap'], lesson=lesson.title))}", anchors=False)
    recap_sentences(lesson)
    put = steps_put(content.lesson, steps)
    means = [class_score(lesson, at, step) for at, step in put.items() if at < len(lesson.steps)]
    if means:
        said = filled(LEAD["class"], points=f"{sum(means):.2g}", most=len(means))
        with st.container(key="together"):
            st.markdown(said)


def class_score(lesson: Lesson, at: int, step: ClassStep) -> float:
    """Return the average score of a step's predictions, from 0 to 1; 0 if there are none."""
    asked = lesson.steps[at]
    texts = valid_texts(asked, step.answers)
    return sum(asked.score(text, evidence()) for text in texts) / max(len(texts), 1)


def recap_on_phone(content: Recap, steps: Sequence[ClassStep], written: Mapping[int, str]) -> None:
    """Draw a student's recap: the sentences to remember, the points, and the result of each prediction."""
    lesson = LESSONS.get(content.lesson)
    if lesson is None:
        return
    st.markdown(f"## {escape(filled(LEAD['recap'], lesson=lesson.title))}", anchors=False)
    recap_sentences(lesson)
    points, rows = [], []
    for at, step in sorted(steps_put(content.lesson, steps).items()):
        if at >= len(lesson.steps):
            continue
        asked = lesson.steps[at]
        mine = valid_texts(asked, [written.get(step.place, "")])
        points.append(asked.score(mine[0], evidence()) if mine else 0.0)
        rows.append(score_row(len(points), asked, mine[0] if mine else "", points[-1]))
    if points:
        with st.container(border=True, key="score"):
            st.markdown(f"### {own_score(points)}", anchors=False)
            st.markdown("\n".join(rows))
