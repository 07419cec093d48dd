"""The Room page's part of a visitor's session, its links, and a step's results on phones and the teacher's screen.

room=BCDFGH             for students
room=BCDFGH & key=...   for the teacher; the key is at once removed from the address, so that no projector shows it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from dprl.fields import shown
from dprl.figures import lessons as figures
from dprl.figures.lessons import KnownShare
from dprl.figures.picture import PackedPicture, Picture
from dprl.lessons import LESSONS, Choice, Order
from dprl.lessons import Step as Asked
from dprl.links import last
from dprl.messages import counted, filled, messages
from dprl.rooms import clinic as played
from dprl.rooms.response import share_of_yes
from dprl.rooms.steps import (
    DELTA,
    ClassStep,
    Clinic,
    Content,
    Guess,
    Question,
    Recap,
    ShareEstimate,
    State,
    estimate_share,
)
from dprl.runs.rooms import CODE_LENGTH, read_code
from dprl.sentences import room as sentences
from dprl.words import human
from pages.shared.layout.chart import draw, explain, kept, show
from pages.shared.layout.frame import wide
from pages.shared.layout.terms import escape, explained
from pages.shared.lessons import (
    evidence,
    fault,
    recap_sentences,
    score_card,
    step_chart,
    step_picture,
    unknown,
    valid,
)
from pages.shared.results.data import store
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState


@dataclass
class Class(PageState):
    """The room that a visitor is in."""

    code: str = ""  # "" outside any room
    key: str = ""  # the teacher's key, "" for students
    device: str = ""  # the browser's random name in the room, "" until it is known
    told: str = ""  # message about the last attempt
    drawn: tuple[int, State] | None = None  # the step that was drawn last, and its state
    guesses: dict[int, str] = field(default_factory=dict)  # unsent predictions, by step
    puts: str = "question"  # the kind of step in the teacher's form
    asked: int = 0  # number of steps put to the class from here, part of the form's keys
    leading: bool = False  # whether the projector view is open
    looked: int | None = None  # index of the earlier step shown on the projector, None for the last
    led: tuple[int, State | None] = (-1, None)  # the last step's index and state, as last projected
    since: float = 0.0  # when they were first projected, see time.monotonic

    @property
    def begun(self) -> bool:
        return bool(self.code)

    @property
    def link(self) -> list[tuple[str, str]]:
        """Return the query parameters of the students' link."""
        return [("room", self.code)] if self.code else []

    def follow(self, given: Query, problems: list[str]) -> None:
        """Enter the room named in a link, as its teacher if the link contains the key."""
        text = last(given, "room") or ""
        code, key = read_code(text), last(given, "key") or ""
        problems += [wrong(text)] if text and not code else []
        if code != self.code:
            self.forget()
        self.code, self.key = code, key or (self.key if code == self.code else "")

    def forget(self) -> None:
        self.device, self.told, self.drawn, self.guesses = "", "", None, {}
        self.leading, self.looked = False, None


def wrong(text: str) -> str:
    """Explain why a text is not a valid room code."""
    said, letters = messages("room")["entrance"], CODE_LENGTH
    if not text.strip():
        return filled(said["enter"], letters=letters)
    return filled(said["wrong"], shown=shown(text), letters=letters)


group = Class.mine


def enter(code: str, key: str = "") -> None:
    group().forget()
    group().put(code=code, key=key)


def leave(told: str = "") -> None:
    enter("")
    group().told = told


def teaches() -> bool:
    """Return whether this visitor is the teacher of the room."""
    r = group()
    return bool(r.key) and store().rooms.teaches(r.code, r.key)


def step_of_lesson(content: Guess) -> Asked | None:
    """Return the step of the lesson, or None if this server lacks the lesson or its runs."""
    lesson = LESSONS.get(content.lesson)
    if lesson is None or content.step >= len(lesson.steps) or unknown(lesson) or fault(lesson):
        return None
    return lesson.steps[content.step]


def valid_texts(step: Asked, texts: Sequence[str]) -> list[str]:
    return [text for text in texts if valid(step, text)]


def prediction_in_words(content: Content, text: str) -> str:
    """Write a stored prediction in words."""
    found = step_of_lesson(content) if isinstance(content, Guess) else None
    if found is None or not valid_texts(found, [text]):
        return text
    prediction: Any = found.prediction  # parses and formats its own predictions
    return str(prediction.said(prediction.parse(text)))


def predictions_together(step: ClassStep, found: Asked) -> None:
    """Show a sentence that compares the class's predictions with the measured result."""
    if texts := valid_texts(found, step.answers):
        with st.container(key="together"):
            st.markdown(filled(sentences.PHONE["together"], said=escape(found.together(texts, evidence()))))


def told(step: ClassStep, found: Asked, off: str = "") -> None:
    """Draw the measured result and its explanation, after a sentence about the student's error, if there is one."""
    said = off + found.found(evidence())
    explain(said, lambda: step_picture(found, "", shown=True, dark=False).table, f"room_{step.place}")
    st.markdown(explained(f":material/lightbulb: {escape(found.why(evidence()))}"))


def show_large(picture: PackedPicture, key: str, large: bool) -> None:
    """Show a figure with its sentence. If `large`, it fills the rest of a projector's screen."""
    if large:
        draw(picture, f"{key}_large", height="stretch")
        st.markdown(explained(escape(picture.see)))
    else:
        show(picture, key)


PHONES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
DEFAULT_PHONES = 500


def show_results(step: ClassStep, large: bool = False) -> None:
    """Draw the estimates under three privacy models with their guarantees, on one screen if `large`."""
    code, said, phones = group().code, sentences.RESULT, 0
    found = estimate_share(code, step)
    if found is None:
        st.info(said["no_answers" if step.state != "revealed" else "nobody"], icon=":material/info:")
        return
    if step.state == "revealed":
        name = f"were_{step.place}"
        phones = st.select_slider(said["were"], PHONES, DEFAULT_PHONES, key=name, format_func=human)
    key = ("room", code, step.place, found.n, found.reported, phones)
    picture = kept(key, lambda night: shares_picture(found, night, phones))
    show_large(picture, f"room_{step.place}", large)
    with st.container(key="three"):
        three = sentences.three(found.n, found.epsilon, found.shuffled, DELTA, found.far)
        for column, one in zip(st.columns(3), three, strict=True):
            column.markdown(explained(one))


def shares_picture(found: ShareEstimate, night: bool, phones: int = 0) -> Picture:
    """Draw the share of yes answers under three privacy models, and the interval for a class of `phones` phones."""
    words, n, (value, low, high) = sentences.RESULT, found.n, found.yes
    # noise may push a share outside the possible range
    least, said, most = (min(max(found.said + off, 0), n) for off in (-found.far, 0, found.far))
    rows = [
        KnownShare("local", words["row_local"], found.epsilon, value, low, high),
        KnownShare("shuffle", words["row_shuffle"], found.shuffled, value, low, high),
        KnownShare("central", words["row_central"], found.epsilon, said / n, least / n, most / n),
    ]
    see = sentences.found(n, found.reported, found.yes)
    if phones:
        more = share_of_yes(phones * found.reported / n, phones, found.epsilon)
        title = filled(words["were_row"], n=human(phones))
        rows.insert(1, KnownShare("local", title, found.epsilon, *more))
        see += f" {sentences.if_more(found.yes, phones, more)}"
    subtitle = filled(words["subtitle"], answers=counted(n, "answer"), epsilon=f"{found.epsilon:g}")
    return figures.shares_of_yes(words, rows, subtitle=subtitle, see=see, dark=night)


CLINIC, LEAD = sentences.CLINIC, messages("room")["lead"]


def class_results(step: ClassStep, content: Clinic, large: bool = False) -> None:
    """Draw the counts that the algorithm estimates from the clinic's reports so far."""
    if not step.answers:
        st.info(CLINIC["none_yet"], icon=":material/info:")
        return
    epsilon, mdp, n = content.epsilon, played.world(), len(step.answers)

    def visits(night: bool) -> Picture:
        said, law = played.visits_read(step.answers, epsilon).tolist(), played.visits_expected(n).tolist()
        spread, most = played.spread_of_visits(n, epsilon), int(np.argmax(law))
        see = sentences.visits(n, mdp.H, mdp.state_labels[most], law[most], said[most], spread)
        rows = mdp.state_labels, said, law, spread, n * mdp.H, epsilon
        return figures.visits_by_state(CLINIC, *rows, see=see, dark=night, large=large, wide=space)

    space = wide() or not large
    picture = kept(("clinic", group().code, step.place, step.answers, large, space), visits)
    show_large(picture, f"clinic_{step.place}", large)


def on_screen(step: ClassStep, content: Guess, large: bool = False) -> None:
    """Draw a lesson's step and all predictions on the teacher's screen or, if `large`, on a projector."""
    found = step_of_lesson(content)
    if found is None:
        st.info(sentences.PHONE["unknown"], icon=":material/info:")
        return
    shown = step.state == "revealed"
    others = valid_texts(found, step.answers)
    if large and not shown and isinstance(found.prediction, Choice) and not found.prediction.of:
        answers = enumerate(found.prediction.choices, 1)
        st.markdown("\n".join(f"{n}. {explained(escape(words))}" for n, (_, words) in answers))
    step_chart(content, f"room_{step.place}_{large}", found, "", shown=shown, others=others, large=large)
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
        counts = Counter(found.prediction.parse(text) for text in others)
        heads = [escape(words) for _, words in found.prediction.choices]
        st.markdown(markdown_table(heads, [[str(counts[power]) for power, _ in found.prediction.choices]]))
    if shown:
        told(step, found)


def names_given(prediction: Order, orders: Sequence[Sequence[int]], truth: Sequence[int] | None) -> str:
    """Write a table of how often each curve was given each name. If `truth` is known, mark the correct names."""
    items = [escape(item) for item in prediction.items]
    curve = messages("lessons")["chart"]["curve"]
    rows = []
    for place in range(len(items)):
        counts = Counter(order[place] for order in orders)
        row = [str(counts[i]) for i in range(len(items))]
        if truth is not None:
            row[truth[place]] = f"**{row[truth[place]]}** :material/check:"
        rows.append([filled(curve, number=place + 1), *row])
    return markdown_table([sentences.TEACHER["named"], *items], rows)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def recap(
    content: Recap, steps: Sequence[ClassStep], level: str = "##", written: Mapping[int, str] | None = None
) -> None:
    """Draw the sentences to remember from a lesson, and the class's points. On a phone, `written` has its predictions,
    and the points are for these. `level` is the Markdown prefix of the heading."""
    lesson = LESSONS.get(content.lesson)
    if lesson is None:
        return
    st.markdown(f"{level} {escape(filled(LEAD['recap'], lesson=lesson.title))}", anchors=False)
    recap_sentences(lesson)
    put = {step.content: step for step in steps}  # if a question was put twice, the last time counts
    known = [(asked, put.get(Guess(lesson.key, at))) for at, asked in enumerate(lesson.steps)]
    pairs = [(asked, step) for asked, step in known if step is not None]
    if written is not None and pairs:
        texts = ["".join(valid_texts(asked, [written.get(step.place, "")])) for asked, step in pairs]
        score_card([asked for asked, _ in pairs], texts)
    elif pairs:
        points = 0.0
        for asked, step in pairs:
            scores = [asked.score(text, evidence()) for text in valid_texts(asked, step.answers)]
            points += sum(scores) / max(len(scores), 1)
        with st.container(key="together"):
            st.markdown(filled(LEAD["class"], points=f"{points:.2g}", most=len(pairs)))


def results(step: ClassStep, steps: Sequence[ClassStep], large: bool = False) -> None:
    """Draw the class's results for a step, enlarged for a projector if `large`."""
    content = step.content
    if isinstance(content, Question):
        show_results(step, large)
    elif isinstance(content, Clinic):
        class_results(step, content, large)
    elif isinstance(content, Recap):
        recap(content, steps, "#" if large else "##")
    else:
        on_screen(step, content, large)
