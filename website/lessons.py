"""The site's lessons: each question has a chart, a prediction to make, and an answer to open."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.figures.picture import Picture
from dprl.lessons import Choice, Lesson, Marker, Step
from dprl.messages import counted, filled, messages
from dprl.sitemap import PAGES
from pages.shared.controls.panel import environment_picture
from pages.shared.lessons import evidence, step_picture
from website.document import Block, Document, Guess, Plot, Verdict, paragraph

SAID = messages("lessons")
INTRO = "Read the question, make your prediction, and only then open the answer: you will remember it better."


def lesson(number: int, one: Lesson, following: tuple[str, Lesson] | None, listed: str) -> Document:
    """Build the page for a lesson, with links to the `following` lesson and to the list of lessons."""
    blocks: list[Block] = [f"<p>{escape(one.say)} {escape(INTRO)}</p>"]
    for at, step in enumerate(one.steps):
        blocks += question(one, at, step)
    recap = "".join(f"<li>{escape(said)}</li>" for said in one.recap)
    blocks.append(f"<details><summary>What to remember</summary><ul>{recap}</ul></details>")
    if following is not None:
        file, after = following
        name = f"Lesson {number + 1}: {after.title}"
        blocks.append(
            f'<h2>{escape(SAID["page"]["next"])}</h2><div class="ways">{card(file, name, after)}</div>'
        )
    blocks.append(f'<p><a href="{listed}">{escape(PAGES["lessons"].name)}</a></p>')
    return Document(f"Lesson {number}: {one.title}", needs(one), blocks)


def needs(one: Lesson) -> str:
    """Return a sentence about the lesson's length and prerequisites."""
    return filled(SAID["page"]["needs"], questions=counted(len(one.steps), "question"), needs=one.needs)


def card(file: str, name: str, one: Lesson) -> str:
    """Return the box that links to a lesson as HTML."""
    return (
        f'<section class="card"><h3><a href="{file}">{escape(name)}</a></h3>'
        f'<p>{escape(one.say)}</p><p class="note">{escape(needs(one))}</p></section>'
    )


def question(one: Lesson, at: int, step: Step) -> list[Block]:
    """Build the blocks of a question: its chart, its prediction, and its answer."""
    met = one.met(at)
    known = evidence()
    return [
        f"<h2>{at + 1}. {escape(step.title)}</h2>",
        *([] if met is None else _world(*met)),
        f"<p><strong>{escape(step.ask)}</strong> {escape(step.setup)}</p>",
        Plot(partial(chart, step, False), guessed=at),
        Guess(guess_of(step)),
        "<details><summary>Show the answer</summary>",
        Verdict(),
        f"{paragraph(step.found(known))}<p>{escape(step.why(known))}</p>",
        Plot(partial(chart, step, True), guessed=at),
        "</details>",
    ]


def list_of_lessons(lessons: Sequence[tuple[str, Lesson]]) -> Document:
    """Build the page that lists the lessons, each given with its file."""
    cards = "".join(
        card(file, f"Lesson {number}: {one.title}", one).replace("h3>", "h2>")  # directly below the title
        for number, (file, one) in enumerate(lessons)
    )
    page = PAGES["lessons"]
    return Document(page.heading, INTRO, [f'<div class="ways">{cards}</div>'])


def _world(key: str, params: Mapping[str, Any]) -> list[Block]:
    """Build the blocks that describe an environment, for the first question about it."""
    world = ENVIRONMENTS[key]
    asked = key, tuple(params.items())
    return [
        f"<p><strong>{escape(world.title)}.</strong> {escape(world.summary)}</p>",
        Plot(lambda place, dark: environment_picture(*asked, dark)),
    ]


def chart(step: Step, shown: bool, place: int, dark: bool) -> Picture:
    return step_picture(step, "", shown=shown, dark=dark)


def guess_of(step: Step) -> dict[str, Any]:
    """Return the controls for predicting an answer, and the verdict on each possible prediction, as data for JSON.

    A marker becomes a slider, with `stops` the positions of its marks on the chart; a choice becomes a menu; an order
    becomes a menu for each curve. A verdict describes the error of a guess and the usual reasoning behind it.
    """
    asked: Any = step.prediction
    if isinstance(asked, Marker):
        answers: dict[str, Any] = {str(i): mark for i, mark in enumerate(asked.marks)}
        controls: dict[str, Any] = {"menus": [], "words": [asked.said(mark) for mark in asked.marks]}
        stops, at = list(asked.marks), asked.marks.index(asked.untouched)
        controls |= {"ends": list(asked.ends), "stops": stops, "at": at}
    elif isinstance(asked, Choice):
        answers = {str(i): power for i, (power, _) in enumerate(asked.choices)}
        controls = {"menus": ["Your prediction"], "words": [said for _, said in asked.choices]}
    else:
        n = len(asked.items)
        answers = {",".join(map(str, order)): order for order in itertools.permutations(range(n))}
        menus = [f"Curve {number}" for number in range(1, n + 1)]
        controls = {"menus": menus, "words": list(asked.items)}
    known, texts = evidence(), {name: asked.write(answer) for name, answer in answers.items()}
    verdicts = {
        name: f"{step.off(text, known)} {step.reply(text, known)}".strip() for name, text in texts.items()
    }
    return controls | {"verdicts": verdicts}
