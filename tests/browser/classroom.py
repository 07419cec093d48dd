"""A class in a room: sessions that join, predict, answer, and see what is revealed; nothing may be lost."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import json
import math
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from dprl.lessons import LESSONS, Choice, Prediction
from dprl.rooms.response import DRAWS, report
from dprl.rooms.steps import EPSILON, NO, YES, Guess, Recap
from dprl.runs.store import Store
from dprl.words import plural
from pages.room.lead import title, upcoming
from pages.room.teacher import answers_csv
from pages.shared.text import escape
from tests.browser.sessions import Session, opened
from tests.rooms.test_clinic import reports

QUESTION = "Did you sleep less than six hours?"
LED = next(iter(LESSONS))  # the lesson that a class begins with


async def lesson(url: str, home: Path, people: int) -> dict[str, float]:
    """Plays it with so many students. home: DPRL_HOME of the dashboard. AssertionError where anything is lost.

    Returns:
        Seconds that each part took; `next`: see `led`; `chart` and `cloud`: from the last tap to the teacher's chart
        with it in.
    """
    took: dict[str, float] = {}
    async with contextlib.AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(opened(url, "room", device="f" * 32))
        await teacher.press("Open a room")
        await teacher.says("joins with the code")
        code = teacher.query.partition("room=")[2]
        assert "key" not in teacher.query

        begin = time.perf_counter()
        students = await asyncio.gather(
            *(
                stack.enter_async_context(opened(url, "room", f"room={code}", f"{i:032x}"))
                for i in range(people)
            )
        )
        await everybody(students, "You are in")
        await teacher.says(f"**{people}** of at most")
        took["joined"] = time.perf_counter() - begin

        await teacher.set("button_group", "Kind", string_array_value=["A lesson's question"])
        await teacher.press("Ask this question")
        begin = await at_once(students, predict)
        await teacher.until(lambda: (cloud(teacher) == people) and answered(people, people) in teacher.text)
        took["cloud"] = time.perf_counter() - begin
        await teacher.press("Reveal")
        await asyncio.gather(*(s.until(partial(answered_by_lesson, s)) for s in students))

        await teacher.set("button_group", "Kind", string_array_value=["About themselves"])
        await teacher.set("text_input", "A yes-or-no question", send=False, string_value=QUESTION)
        await teacher.press("Ask the class")
        begin = await at_once(students, tap)
        await teacher.until(lambda: any(f"{plural(people, 'answer')}, each" in c for c in teacher.charts))
        took["chart"] = time.perf_counter() - begin
        begin = time.perf_counter()
        await teacher.press("Reveal")
        await everybody(students, "**Central, simulated.**")
        took["revealed"] = time.perf_counter() - begin
        assert (
            sum(s.looked for s in [teacher, *students]) == 0
        )  # forty that are drawn every second are too many
        told = sorted(s.text.partition("Written down: **")[2].partition("**")[0] for s in students)

        bits = await clinic(teacher, students, took)
        late = opened(url, "room", f"room={code}", f"{people:032x}")
        await led(teacher, students, partial(stack.enter_async_context, late), took)

    rows = list(csv.DictReader(io.StringIO(answers_csv(Store(home / "runs.sqlite"), code))))
    assert sorted(row["written down"] for row in rows if row["asked"] == QUESTION) == told
    assert len(told) == people
    assert sorted(row["written down"] for row in rows if row["kind"] == "clinic") == sorted(bits)
    predicted = Counter(row["step"] for row in rows if row["kind"] == "prediction")
    *before, last = predicted.values()
    assert before == [people] * (len(LESSONS[LED].steps) - 1)
    assert last == people + 1  # with who came late, and with who had left by then
    return took


async def clinic(teacher: Session, students: list[Session], took: dict[str, float]) -> list[str]:
    """All play the clinic, and see what the algorithm reads; what they reported. `read`: seconds from a press of Reveal
    until every phone has the chart."""
    await teacher.set("button_group", "Kind", string_array_value=["The clinic"])
    await teacher.press("Let them play")
    sent = reports(len(students), EPSILON.default)

    async def play(student: Session, own: str) -> None:
        await student.say("dprl_patient", report=own)
        await student.says("your randomised bits, and nothing else")

    await asyncio.gather(*(play(*one) for one in zip(students, sent, strict=True)))
    await teacher.until(lambda: answered(len(students), len(students)) in teacher.text)
    begin = time.perf_counter()
    await teacher.press("Reveal")
    await everybody(students, "the reports give")
    took["read"] = time.perf_counter() - begin
    return sent


async def led(
    teacher: Session,
    students: list[Session],
    late: Callable[[], Awaitable[Session]],
    took: dict[str, float],
) -> None:
    """The rest of the lesson, as the teacher leads it: what is next, the answer, and so on to the recap. Everybody
    predicts. During the last question one more joins, and one who has predicted leaves. `next`:
    seconds from a press of Next until 95% of the phones have what is asked."""
    lesson, waited = LESSONS[LED], []
    await teacher.set("button_group", "Kind", string_array_value=["A lesson's question"])
    press = partial(teacher.press, "Ask this question")
    for at in range(1, len(lesson.steps)):
        before = [heading(student) for student in students]
        begin = time.perf_counter()
        await press()
        waited += await asyncio.gather(*(turned(*one, begin) for one in zip(students, before, strict=True)))
        last = at == len(lesson.steps) - 1
        if last:
            students = [*students, await late()]
        await asyncio.gather(*(guess(s, lesson.steps[at].prediction, i) for i, s in enumerate(students)))
        if last:
            await students.pop(0).leave()
        if at == 1:
            await teacher.press("Lead from here")
            await teacher.until(lambda: "Leave" in teacher.buttons)
        await teacher.press("Reveal")
        await everybody(students, "Your class: ")
        coming = upcoming([Guess(LED, at)]) or Recap(LED)
        press = partial(teacher.press, escape(f"Next: {title(coming)}"))
    await press()
    await everybody(students, "You scored ")
    took["next"] = sorted(waited)[math.ceil(0.95 * len(waited)) - 1]


def heading(session: Session) -> str:
    """What is asked."""
    return next((line for line in session.text.splitlines() if line.startswith("## ")), "")


async def turned(student: Session, before: str, begin: float) -> float:
    """Seconds until a phone asks something else."""
    await student.until(lambda: heading(student) not in ("", before))
    return time.perf_counter() - begin


async def guess(student: Session, prediction: Prediction, number: int) -> None:
    """Predicts, and sends it."""
    if isinstance(prediction, Choice):
        _, words = prediction.choices[number % len(prediction.choices)]
        if prediction.of:
            await student.set("button_group", "Your prediction", string_array_value=[words])
        else:
            await student.set("radio", "Your prediction", string_value=words)
    else:
        await move(student, random.Random(number))
    await student.says("Your prediction is not sent yet.")
    await student.press("Send my prediction")
    await student.says("Your prediction is in")


def answered(some: int, people: int) -> str:
    """What the teacher's page says when so many have answered."""
    return f"**{some}** of {people} answered"


def cloud(teacher: Session) -> int:
    """How many predictions lie over the teacher's chart: a marker is three points and a gap."""
    traces = [trace for chart in teacher.charts for trace in json.loads(chart)["data"]]
    return sum(len(trace["y"]) // 4 for trace in traces if trace.get("name") == "guesses of others")


def answered_by_lesson(session: Session) -> bool:
    """Whether the truth, proved in Lesson 0, is on its chart."""
    return any('"proved"' in chart for chart in session.charts)


async def everybody(students: list[Session], text: str) -> None:
    """All of them are told this."""
    await asyncio.gather(*(student.says(text) for student in students))


async def at_once(
    students: list[Session], act: Callable[[Session, random.Random], Awaitable[float]]
) -> float:
    """Everybody acts within a second; when the last one did."""

    async def one(student: Session, rng: random.Random) -> float:
        await student.until(lambda: student.text)
        await asyncio.sleep(rng.random())
        return await act(student, rng)

    return max(await asyncio.gather(*(one(s, random.Random(i)) for i, s in enumerate(students))))


async def predict(student: Session, rng: random.Random) -> float:
    """Moves the marker, and sends it; when."""
    await move(student, rng)
    await student.until(lambda: "Send my prediction" in student.buttons)
    sent = time.perf_counter()
    await student.press("Send my prediction")
    await student.says("Your prediction is in")
    return sent


async def move(student: Session, rng: random.Random) -> None:
    """Moves the marker to where it was not."""
    _, slider = await student.find("slider", "Your prediction")
    others = [text for place, text in enumerate(slider.options) if place != slider.default[0]]
    await student.set("slider", "Your prediction", string_array_value=[rng.choice(others)])


async def tap(student: Session, rng: random.Random) -> float:
    """Reports what a coin leaves of an answer, and is told that it was written down; when it was tapped."""
    sent = time.perf_counter()
    left = report(rng.random() < 0.5, EPSILON.default, rng.randrange(DRAWS))
    await student.say("dprl_coin", report=YES if left else NO)
    await student.says("Written down: **")
    return sent
