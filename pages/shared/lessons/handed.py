"""What a student hands in of a lesson, as it stands in a link: a prediction for each question, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from dprl import links
from dprl.fields import SpecError
from dprl.lessons import LESSONS
from dprl.messages import counted, filled, messages
from pages.shared.lessons.known import evidence

ANSWERS = "answers"  # in a link
BETWEEN = "~"


def joined(texts: Sequence[str]) -> str:
    """As a link has them."""
    return BETWEEN.join(texts)


def split_texts(key: str, text: str, problems: list[str]) -> tuple[str, ...]:
    """What `joined` was given of this lesson; what is no prediction is "", which is said."""
    steps = LESSONS[key].steps
    given = text[:1000].split(BETWEEN)
    if len(given) != len(steps):
        said = messages("lessons")["page"]["link_answers"]
        problems.append(filled(said, given=len(given), questions=counted(len(steps), "question")))
    found = []
    for step, one in zip(steps, [*given, *[""] * len(steps)], strict=False):
        try:
            if one:
                step.score(one, evidence())
        except SpecError as error:
            problems.append(str(error))
            one = ""
        found.append(one)
    return tuple(found)


def handed_query(key: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """The query of the link to what is handed in."""
    return [*links.link_heading(), ("lesson", key), (ANSWERS, joined(texts))]
