"""What Explore opens on: a question with its answer, from runs that come with the program, and others to ask."""

from __future__ import annotations

from functools import cache, partial
from html import escape as html

import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.figures import regret, thumbnail
from dprl.figures.lines import Series
from dprl.figures.picture import Picture, Sketch
from dprl.figures.regret import Measure
from dprl.sentences import price as sentences
from pages.explore.comparison import offer_undo
from pages.shared.examples import BASE, EXAMPLES, HOME_EPISODES, ExploreExample, trust
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark, wide
from pages.shared.layout.terms import explained
from pages.shared.names import kinds, titles
from pages.shared.online.regret import curve_of
from pages.shared.results import answers
from pages.shared.results.bundled import bundled
from pages.shared.results.trusted import known
from pages.shared.text import escape
from pages.shared.visitor import links
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.state import Session, ask, session, write_address

EPSILON = 1.0
QUESTION = trust(EPSILON, HOME_EPISODES)


def opening() -> None:
    """The question, its answer, and where to go from there."""
    night, room = dark(), wide()
    offer_undo()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="opening_head"):
        st.header(QUESTION.title, anchor=False, width="content")
        button(QUESTION, "Open these curves", wide=False)
    shown, chosen = ENVIRONMENTS[BASE.environment].title, ENVIRONMENTS[session().draft.environment].title
    st.markdown(
        explained(
            f"**{shown}:** {QUESTION.say} Open these curves to look closer. Or choose your own settings and "
            "press **Run**. Each run adds a curve, up to eight."
        )
    )
    if chosen != shown:
        st.info(
            f"The chart below is of {shown}. Press **Run** to see {escape(chosen)}.", icon=":material/info:"
        )
    with st.container(key="opening_of_another" if chosen != shown else "opening_of_this"):
        show(kept(("opening", night, room), partial(question_picture, night, room)), "opening")
    st.markdown("## Other questions", anchors=False)
    others = [example for example in EXAMPLES if example is not QUESTION]
    for column, example in zip(st.columns(len(others), border=True), others, strict=True):
        with column:
            drawing = small(EXAMPLES.index(example), night)
            st.html(f'<img class="dprl-thumbnail" src="{drawing.uri}" alt="{html(drawing.alt)}">')
            st.markdown(explained(f"**{example.title}**  \n{example.say}"))
            button(example, "Open curves")


def button(example: ExploreExample, label: str, wide: bool = True) -> None:
    """Makes an example the comparison."""
    st.button(
        label,
        key=f"example_{example.title}",
        on_click=callback(show_example),
        args=(session(), example),
        width="stretch" if wide else "content",
    )


def question_picture(night: bool, room: bool) -> Picture:
    """The chart of the question."""
    return regret.comparison(
        example_series(QUESTION, "share"),  # V* of its environment comes with the program
        view="share",
        statistic="mean",
        see=f"{sentences.about_trust(known(EPSILON), EPSILON)} {sentences.RISES}",
        log_x=True,
        log_y=False,
        show_seeds=False,
        dark=night,
        wide=room,
    )


@cache
def small(place: int, night: bool) -> Sketch:
    """The curves of one of the examples, without words."""
    example = EXAMPLES[place]
    return thumbnail.thumbnail(example_series(example), f"{example.title}: curves of regret.", dark=night)


def example_series(example: ExploreExample, measure: Measure = "per-episode") -> list[Series]:
    """The curves of an example, from the runs that come with the program."""
    finished = bundled("home") | bundled("examples")
    return [
        curve_of(
            curve,
            kind,
            title,
            None,
            measure,
            "mean",
            finished.__getitem__,
            v_star=answers.v_star(curve.spec),
        )
        for curve, kind, title in zip(
            example.curves, kinds(example.curves), titles(example.curves), strict=True
        )
    ]


def show_example(s: Session, example: ExploreExample) -> None:
    """Makes an example the comparison and starts its runs."""
    e = s.explore
    e.curves, e.view, e.removed, s.paused = list(example.curves), example.view, None, False
    s.draft = draft_of(e.curves[links.most_private(e.curves)].spec)
    s.version += 1
    ask([curve.spec for curve in e.curves], s.visitor)
    write_address(e)
