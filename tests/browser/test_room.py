"""A room in two browsers: the teacher's and a student's phone."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visits
from tests.browser.seen import fits
from tests.browser.server import App


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
        with teacher.expect_download() as download:
            teacher.get_by_role("button", name="Results as CSV").click()
        (row,) = csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines())
        assert row["written down"] in said
        assert fits(student)
        assert fits(teacher)
    finally:
        phone.close()
