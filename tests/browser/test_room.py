"""A room in two browsers: the teacher's and a student's phone."""

from __future__ import annotations

import asyncio
import csv
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.classroom import lesson
from tests.browser.conftest import Visits
from tests.browser.seen import fits
from tests.browser.server import App
from tests.browser.test_lessons import draggable, marker


def test_a_teacher_asks_a_phone_answers_once_and_both_survive_a_reload(
    visit: Visits, browser: Browser, app: App
) -> None:
    teacher = visit("room", 1280)
    teacher.get_by_role("button", name="Open a room").click()
    expect(teacher.get_by_alt_text(re.compile("QR code"))).to_be_visible()
    assert "key" not in teacher.url
    code = teacher.url.partition("room=")[2]
    phone = browser.new_context(viewport={"width": 390, "height": 800})  # with a storage of its own
    try:
        student = phone.new_page()
        student.goto(f"{app.url}/room")
        student.get_by_label("Code of the room").fill(code.lower())
        student.get_by_role("button", name="Join", exact=True).click()
        expect(student.get_by_text("You are in")).to_be_visible()
        teacher.get_by_label("A yes-or-no question").fill("Did you sleep well?")
        teacher.get_by_role("button", name="Ask the class").click()
        student.get_by_role("button", name="No", exact=True).click()
        written = student.get_by_text(re.compile("^Written down"))
        expect(written).to_be_visible()
        said = written.inner_text()
        expect(teacher.get_by_text("1 of 1 answered", exact=True)).to_be_visible()
        expect(teacher.get_by_text("The class's estimate of itself")).to_be_visible()
        for page in (student, teacher):
            page.reload()
        expect(written).to_have_text(said)  # the same device, and its draw is kept
        expect(teacher.get_by_text("1 of 1 answered", exact=True)).to_be_visible()
        teacher.get_by_role("button", name="Reveal").click()
        expect(student.get_by_text("The class's estimate of itself")).to_be_visible()
        with teacher.expect_download() as download:
            teacher.get_by_role("button", name="Results as CSV").click()
        (row,) = csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines())
        assert row["written down"] in said
        assert fits(student)
        assert fits(teacher)
    finally:
        phone.close()


@pytest.mark.thorough
def test_a_phone_drags_its_marker_and_the_teachers_chart_has_none_to_drag(
    visit: Visits, browser: Browser, app: App
) -> None:
    teacher = visit("room")
    teacher.get_by_role("button", name="Open a room").click()
    expect(teacher.get_by_alt_text(re.compile("QR code"))).to_be_visible()
    code = teacher.url.partition("room=")[2]
    phone = browser.new_context(viewport={"width": 390, "height": 664}, reduced_motion="reduce")
    try:
        student = phone.new_page()
        student.goto(f"{app.url}/room")
        student.get_by_label("Code of the room").fill(code)
        student.get_by_role("button", name="Join", exact=True).click()
        expect(student.get_by_text("You are in")).to_be_visible()
        teacher.get_by_text("A lesson's question", exact=True).click()
        teacher.get_by_role("button", name="Ask this question").click()
        send = student.get_by_role("button", name="Send my prediction")
        expect(send).to_be_disabled()
        expect(send).to_be_in_viewport(ratio=1)  # before anything is scrolled
        box = draggable(student)
        student.mouse.move(box["x"] + 5, box["y"] + 0.4 * box["height"])
        student.mouse.down()
        student.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.4 * box["height"], steps=8)
        student.mouse.up()
        expect(send).to_be_enabled()
        expect(send).to_be_in_viewport(ratio=1)
        expect(student.get_by_text("Your prediction is not sent yet.")).to_be_visible()
        assert marker(student) == pytest.approx(0.5, abs=0.05)
        send.click()
        expect(student.get_by_text("Your prediction is in")).to_be_visible()
        expect(teacher.get_by_text("1 of 1 answered", exact=True)).to_be_visible()
        expect(teacher.locator(".legendtext", has_text="guesses of others")).to_be_visible()
        for page in (student, teacher):
            expect(page.locator(".dprl-told")).to_have_count(0)
        held = "!document.querySelector('.js-plotly-plot').data.some(({ meta }) => meta === 'held')"
        assert teacher.evaluate(held)
        delete = teacher.get_by_role("button", name="Delete the room")
        delete.scroll_into_view_if_needed()
        teacher.wait_for_timeout(1000)  # what opens slides, and a press on what slides may open and close
        delete.click()  # asks again
        expect(teacher.get_by_text("with 1 question and 1 answer")).to_be_visible()
        # by keyboard: the page may move under a mouse
        teacher.get_by_role("button", name=f"Delete room {code}").press("Enter")
        expect(teacher.get_by_text("The room was deleted")).to_be_visible()
        expect(student.get_by_text("This room has been deleted")).to_be_visible()
    finally:
        phone.close()


@pytest.mark.thorough
def test_of_a_class_nothing_is_lost(app: App) -> None:
    """A small class."""
    with ThreadPoolExecutor(1) as elsewhere:  # while Playwright runs, this thread has an event loop
        elsewhere.submit(asyncio.run, lesson(app.url, app.home, 5)).result()
