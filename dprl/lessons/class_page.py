"""What a class said in a room, as a page to keep: each question, its answers, and what follows from them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from dprl.curves import Evidence
from dprl.fields import SpecError
from dprl.lessons import LESSONS
from dprl.lessons.handed import in_words
from dprl.lessons.lesson import Step
from dprl.messages import counted, filled, messages
from dprl.rooms.steps import DELTA, NO, YES, ClassStep, Clinic, Guess, Onward, Question, Recap, ShareEstimate
from dprl.sentences import clinic, room
from dprl.sheet import bullets, heading, html_table, paragraphs, printed
from dprl.words import human, percent

SAID = messages("lessons")["class"]


def page(
    code: str,
    people: int,
    steps: Sequence[ClassStep],
    estimate: Callable[[ClassStep], ShareEstimate | None],
    runs: Mapping[int, str],
    evidence: Evidence,
    version: str,
) -> str:
    """The page as HTML, which asks for nothing from elsewhere.

    Args:
        code, people, steps: of the room.
        estimate: what the reports on a question say.
        runs: how learning goes on, by the place of the step, as workers wrote it.
        evidence: of the lessons.
        version: of the program.
    """
    parts = [part for step in steps for part in _step(step, people, estimate(step), runs, evidence)]
    about = filled(SAID["about"], people=counted(people, "phone"))
    return printed(filled(SAID["title"], code=code), about, parts, filled(SAID["footer"], version=version))


def _step(
    step: ClassStep, people: int, estimate: ShareEstimate | None, runs: Mapping[int, str], evidence: Evidence
) -> Iterator[str]:
    """What stands of one step."""
    content, place = step.content, step.place + 1
    answers = filled(SAID["answers"], some=len(step.answers), people=people)
    if isinstance(content, Question):
        yield heading(filled(SAID["question"], place=place, asked=content.text))
        yield from paragraphs([answers])
        if estimate is not None:
            yield from paragraphs(_reports(step, content, estimate))
    elif isinstance(content, Guess) and content.lesson in LESSONS:
        asked = LESSONS[content.lesson].steps
        if content.step < len(asked):
            yield heading(filled(SAID["prediction"], place=place, asked=asked[content.step].prediction.ask))
            yield from paragraphs([answers])
            yield from _predicted(step, asked[content.step], evidence)
    elif isinstance(content, Clinic):
        yield heading(filled(SAID["clinic"], place=place))
        yield from paragraphs([answers])
    elif isinstance(content, Onward):
        yield from _onward(runs.get(content.place, ""))
    elif isinstance(content, Recap) and content.lesson in LESSONS:
        lesson = LESSONS[content.lesson]
        yield heading(filled(SAID["recap"], lesson=lesson.title))
        yield bullets(lesson.recap)


def _reports(step: ClassStep, content: Question, found: ShareEstimate) -> list[str]:
    counts = Counter(step.answers)
    said = filled(SAID["report"], epsilon=human(content.epsilon), yes=counts[YES], no=counts[NO])
    three = room.three(found.n, found.epsilon, found.shuffled, DELTA, found.far).split("\n\n")
    return [said, room.found(found.n, found.reported, found.yes), *three]


def _predicted(step: ClassStep, asked: Step, evidence: Evidence) -> Iterator[str]:
    """How often each answer was given, and, once it is revealed, what was measured."""
    texts = []
    for text in step.answers:
        try:
            asked.prediction.parse(text)
            texts.append(text)
        except SpecError:  # an order that was not finished
            continue
    if texts:
        counts = Counter(in_words(asked, text) for text in texts)
        yield html_table(
            [SAID["given"], SAID["often"]], [(text, str(often)) for text, often in counts.most_common()]
        )
    if step.state == "revealed":
        together = [asked.together(texts, evidence)] if texts else []
        found = filled(SAID["measured"], found=asked.found(evidence))
        yield from paragraphs([*together, found, filled(SAID["why"], why=asked.why)])


def _onward(text: str) -> Iterator[str]:
    """How learning goes on, once it is known."""
    if not text:
        return
    found = json.loads(text)
    lost, curves = found["lost"], found["curves"]
    yield heading(clinic.SAID["onward"])
    yield from paragraphs([clinic.after(found["n"], found["same"], lost["local"], lost["none"])])
    rows = [
        (clinic.SAID[f"{who}_name"], percent(curves[who][-1][1]))
        for who in ("local", "shuffle", "central", "none")
    ]
    yield html_table([SAID["curve"], SAID["lost"]], rows)
    yield from paragraphs(
        clinic.learns(clinic.SAID[f"{who}_who"], curves[who]) for who in ("local", "shuffle", "central")
    )
