"""A room in two browsers, the teacher's and a phone's; and a class led from a projector by clicks."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from dprl.lessons import LESSONS
from tests.browser.conftest import Visits
from tests.browser.seen import box_of, fits
from tests.browser.server import App

ABOVE = """([inside, bar]) => inside.getBoundingClientRect().bottom
  <= document.querySelector(bar).getBoundingClientRect().top"""

STEPS = LESSONS["epsilon"].steps  # of the lesson that a class begins with


@pytest.fixture
def teacher(visit: Visits) -> Page:
    """The page of a teacher who has opened a room, with the first step of the first lesson put and led."""
    page = visit("room", 1280)
    page.get_by_role("button", name="Open a room").click()
    page.get_by_text("A lesson question", exact=True).click()
    page.get_by_role("button", name="Ask this question").click()
    page.get_by_role("button", name="Reveal").wait_for()
    page.get_by_role("button", name="Lead the class from here").click()
    asks(page, 0)
    return page


@pytest.fixture
def student(browser: Browser) -> Iterator[Page]:
    """A phone with a storage of its own, on no page yet."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def asks(page: Page, at: int) -> None:
    """Waits until a page asks a step, once: for a moment the page before may still be there, which asks it, too."""
    question = page.get_by_role("heading", name=STEPS[at].ask, exact=True)
    expect(question.filter(visible=True)).to_have_count(1)


def revealed(page: Page) -> Any:
    """The sentence about the class, which comes with the answer."""
    return page.get_by_text(re.compile("^Your class: "))


@pytest.mark.thorough
def test_a_lesson_is_led_by_clicks_at_the_sizes_of_projectors(teacher: Page, student: Page, app: App) -> None:
    """The chart has half of the height, with the answer, too; and the bar stays in reach."""
    student.goto(f"{app.url}/room?room={teacher.url.partition('room=')[2]}")
    asks(student, 0)
    student.get_by_role("slider", name="Your prediction").press("ArrowRight")
    send = student.get_by_role("button", name="Send my prediction")
    expect(send).to_be_in_viewport(ratio=1)
    bar, chart = box_of(send), box_of(student.get_by_test_id("stPlotlyChart").last)
    assert bar["y"] + bar["height"] <= chart["y"]  # it covers nothing
    send.click()
    expect(teacher.get_by_text("1 of 1 answered")).to_be_visible()
    teacher.get_by_role("button", name="Reveal").click()
    expect(revealed(teacher)).to_be_visible()
    for width, height in ((1024, 768), (1920, 1080), (3840, 2160)):
        teacher.set_viewport_size({"width": width, "height": height})
        drawn = teacher.get_by_test_id("stPlotlyChart").last
        expect(teacher.get_by_role("button", name=re.compile("^Next: "))).to_be_in_viewport(ratio=1)
        assert box_of(drawn)["height"] >= height / 2
    teacher.get_by_role("button", name=re.compile("^Next: ")).dblclick()  # in haste: the step is put once
    asks(student, 1)
    teacher.wait_for_timeout(1500)  # for what must not happen
    expect(revealed(teacher)).to_have_count(0)
    expect(teacher.get_by_role("button", name="Reveal")).to_be_visible()
    teacher.get_by_role("button", name="Back").click()
    asks(teacher, 0)
    teacher.get_by_role("button", name="Next", exact=True).click()
    asks(teacher, 1)
    teacher.get_by_role("button", name="Leave").click()
    expect(teacher.get_by_text("Next activity for the class")).to_be_visible()
    teacher.get_by_role("button", name="Lead the class from here").click()
    expect(teacher.get_by_role("button", name="Leave")).to_be_visible()
    asks(teacher, 1)


def test_a_teacher_asks_a_phone_answers_once_both_survive_a_reload_and_it_is_led_on_one_screen(
    visit: Visits, student: Page, app: App
) -> None:
    """Led, all three guarantees stand above the bar; the room's buttons are in sight on the teacher's own page."""
    teacher = visit("room", 1280)
    teacher.set_viewport_size({"width": 1280, "height": 800})
    teacher.get_by_role("button", name="Open a room").click()
    expect(teacher.get_by_alt_text(re.compile("QR code"))).to_be_visible()
    assert "key" not in teacher.url
    code = teacher.url.partition("room=")[2]
    student.goto(f"{app.url}/room")
    student.get_by_label("Room code").fill(code.lower())
    student.get_by_role("button", name="Join", exact=True).click()
    expect(student.get_by_text("You have joined the room")).to_be_visible()
    teacher.get_by_label("A yes-or-no question").fill("Did you sleep well?")
    teacher.get_by_role("button", name="Ask the class").click()
    student.get_by_role("button", name="No", exact=True).click()
    written = student.get_by_text(re.compile("^The room has recorded"))
    expect(written).to_be_visible()
    said = written.inner_text()
    expect(teacher.get_by_text("1 of 1 answered", exact=True)).to_be_visible()
    expect(teacher.get_by_text("Estimate of the class's answers")).to_be_visible()
    for page in (student, teacher):
        page.reload()
    expect(written).to_have_text(said)  # the same device, and its draw is kept
    expect(teacher.get_by_text("1 of 1 answered", exact=True)).to_be_visible()
    teacher.get_by_role("button", name="Reveal").click()
    expect(student.get_by_text("Estimate of the class's answers")).to_be_visible()
    for name in ("Results as CSV", "Close the room", "Delete the room"):
        expect(teacher.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    with teacher.expect_download() as download:
        teacher.get_by_role("button", name="Results as CSV").click()
    (row,) = csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines())
    assert row["written down"] in said
    assert fits(student)
    assert fits(teacher)
    teacher.get_by_role("button", name="Lead the class from here").click()
    central = teacher.locator(".st-key-present").get_by_text("Central, simulated.").locator("..")
    expect(central).to_be_in_viewport(ratio=1)
    # The chart comes before the bar has its place at the foot of the screen.
    teacher.wait_for_function(ABOVE, arg=[central.element_handle(), ".st-key-present_bar"])
    assert fits(teacher)
