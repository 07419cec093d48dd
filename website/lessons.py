"""Lessons: each question with its chart, a place to predict, and the answer behind a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.figures.picture import Picture
from dprl.lessons import Lesson, Step
from dprl.sitemap import PAGES
from pages.shared.controls.panel import environment_picture
from pages.shared.lessons.known import evidence
from pages.shared.lessons.views import step_picture
from website.document import Block, Document, Guess, Plot, Verdict, paragraph
from website.guesses import guess_of

INTRO = "Read the question, say what you predict, and only then open the answer: you will remember it better."


def lesson(number: int, one: Lesson) -> Document:
    """The page of a lesson; the first has number 0."""
    blocks: list[Block] = [f"<p>{escape(one.say)} {escape(INTRO)}</p>"]
    for at, step in enumerate(one.steps):
        blocks += question(one, at, step)
    recap = "".join(f"<li>{escape(said)}</li>" for said in one.recap)
    blocks.append(f"<details><summary>What to remember</summary><ul>{recap}</ul></details>")
    return Document(f"Lesson {number}: {one.title}", f"Needs: {one.needs}", blocks)


def question(one: Lesson, at: int, step: Step) -> list[Block]:
    """A question, its chart, and its answer."""
    met = one.met(at)
    known = evidence()
    return [
        f"<h2>{at + 1}. {escape(step.title)}</h2>",
        *([] if met is None else _world(*met)),
        f"<p><strong>{escape(step.prediction.ask)}</strong></p>",
        Plot(partial(chart, step, False), guessed=at),
        Guess(guess_of(step)),
        "<details><summary>Show the answer</summary>",
        Verdict(),
        f"{paragraph(step.found(known))}<p>{escape(step.why)}</p>",
        Plot(partial(chart, step, True), guessed=at),
        "</details>",
    ]


def list_of_lessons(lessons: Sequence[tuple[str, Lesson]]) -> Document:
    """The page that lists them. lessons: of each its file."""
    cards = "".join(
        f'<section class="card"><h2><a href="{file}">Lesson {number}: {escape(one.title)}</a></h2>'
        f'<p>{escape(one.say)}</p><p class="note">{escape(one.needs)}</p></section>'
        for number, (file, one) in enumerate(lessons)
    )
    page = PAGES["lessons"]
    return Document(page.heading, INTRO, [f'<div class="ways">{cards}</div>'])


def _world(key: str, params: Mapping[str, Any]) -> list[Block]:
    """The environment that a question is the first to be about."""
    world = ENVIRONMENTS[key]
    asked = key, tuple(params.items())
    return [
        f"<p><strong>{escape(world.title)}.</strong> {escape(world.summary)}</p>",
        Plot(lambda place, dark: environment_picture(*asked, dark)),
    ]


def chart(step: Step, shown: bool, place: int, dark: bool) -> Picture:
    """What a question is about, with its answer or without."""
    return step_picture(step, "", shown=shown, dark=dark)
