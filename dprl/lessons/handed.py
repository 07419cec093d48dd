"""What a student hands in of a lesson, as a page to keep: predictions, what was measured, and points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dprl.curves import Evidence
from dprl.fields import SpecError
from dprl.lessons.lesson import Lesson, Step
from dprl.messages import filled, messages
from dprl.sheet import bullets, heading, html_table, paragraphs, printed

SAID = messages("lessons")["handed"]
SCORE = messages("lessons")["score"]


def rows(lesson: Lesson, texts: Sequence[str], evidence: Evidence) -> list[tuple[str, str, str, float]]:
    """For each question its title, what was predicted, how far off that is, and its points. texts: "" for nothing."""
    return [
        (
            step.title,
            in_words(step, text) if text else SAID["nothing"],
            step.off(text, evidence) if text else SCORE["without"],
            step.score(text, evidence) if text else 0.0,
        )
        for step, text in zip(lesson.steps, texts, strict=True)
    ]


def in_words(step: Step, text: str) -> str:
    """A prediction as one says it; the beginning of one as it is written."""
    prediction: Any = step.prediction  # which takes what it has read itself
    try:
        return str(prediction.said(prediction.parse(text)))
    except SpecError:
        return text


def page(lesson: Lesson, texts: Sequence[str], evidence: Evidence, version: str, link: str) -> str:
    """The page as HTML, which asks for nothing from elsewhere. link: to the same on the dashboard."""
    found = rows(lesson, texts, evidence)
    points = sum(points for *_, points in found)
    columns = [SAID["question"], SAID["predicted"], SAID["compared"], SAID["points"]]
    cells = [
        (f"{n}. {title}", predicted, off, f"{round(points, 2):g}")
        for n, (title, predicted, off, points) in enumerate(found, 1)
    ]
    own = filled(SCORE["own"], points=f"{round(points, 2):g}", most=len(found))
    parts = [
        *paragraphs([f"**{own}** {SCORE['rule']}"]),
        html_table(columns, cells),
        *(
            part
            for step in lesson.steps
            for part in (
                heading(step.title),
                *paragraphs([step.prediction.ask, step.found(evidence), step.why]),
            )
        ),
        heading(SCORE["title"]),
        bullets(lesson.recap),
        *paragraphs([SAID["honest"]]),
    ]
    title = filled(SAID["title"], lesson=lesson.title)
    return printed(title, SAID["about"], parts, filled(SAID["footer"], version=version, link=link))
