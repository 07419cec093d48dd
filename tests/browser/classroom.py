"""A class in a room: sessions that join, predict, answer, and see what is revealed; nothing may be lost."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import json
import random
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from dprl.jobs.store import Store
from dprl.rooms.response import DRAWS, report
from dprl.rooms.steps import EPSILON, NO, YES
from dprl.words import plural
from pages.room.teacher import answers_csv
from tests.browser.sessions import Session, opened

QUESTION = "Did you sleep less than six hours?"


async def lesson(url: str, home: Path, people: int) -> dict[str, float]:
    """Plays it with so many students. home: DPRL_HOME of the dashboard. AssertionError where anything is lost.

    Returns:
        Seconds that each part took; `chart` and `cloud`: from the last tap to the teacher's chart with it in.
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

        await teacher.set("button_group", "Kind", string_array_value=["A step of a lesson"])
        await teacher.press("Let them predict")
        begin = await at_once(students, predict)
        sent = sum(sends(student) for student in students)
        await teacher.until(lambda: (cloud(teacher) == sent) and answered(sent, people) in teacher.text)
        took["cloud"] = time.perf_counter() - begin
        await teacher.press("Reveal")
        await teacher.until(lambda: (cloud(teacher) == people) and answered(people, people) in teacher.text)
        await asyncio.gather(*(s.until(partial(answered_by_lesson, s)) for s in students))

        await teacher.set("button_group", "Kind", string_array_value=["About themselves"])
        await teacher.set("text_input", "A question for yes or no", send=False, string_value=QUESTION)
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

    rows = list(csv.DictReader(io.StringIO(answers_csv(Store(home / "runs.sqlite"), code))))
    assert sorted(row["written down"] for row in rows if row["asked"] == QUESTION) == told
    assert sum(row["kind"] == "prediction" for row in rows) == len(told) == people
    return took


def answered(some: int, people: int) -> str:
    """What the teacher's page says when so many have answered."""
    return f"**{some}** of {people} answered"


def sends(student: Session) -> bool:
    """Whether a student presses the button; of the others, every third, the prediction counts at Reveal."""
    return int(student.device, 16) % 3 != 0


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
    """Moves the marker, and most send it; when."""
    _, slider = await student.find("slider", "Your prediction")
    await student.set("slider", "Your prediction", string_array_value=[rng.choice(list(slider.options))])
    await student.until(lambda: "Send my prediction" in student.buttons)
    sent = time.perf_counter()
    if sends(student):
        await student.press("Send my prediction")
        await student.says("Your prediction is in")
    return sent


async def tap(student: Session, rng: random.Random) -> float:
    """Reports what a coin leaves of an answer, and is told that it was written down; when it was tapped."""
    sent = time.perf_counter()
    left = report(rng.random() < 0.5, EPSILON.default, rng.randrange(DRAWS))
    await student.say("dprl_coin", report=YES if left else NO)
    await student.says("Written down: **")
    return sent
