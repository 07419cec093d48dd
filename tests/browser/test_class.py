"""A class from its first step to what its teacher takes along: the clinic twice, results kept."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dprl.rooms.clinic import world
from tests.browser.conftest import Visits
from tests.browser.seen import fits
from tests.browser.server import App
from tests.browser.test_downloads import saved


@pytest.fixture
def device(browser: Browser) -> Iterator[BrowserContext]:
    """A phone, with a storage of its own."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    yield context
    context.close()


def play(phone: Page) -> None:
    """A patient from the beginning to the report."""
    phone.get_by_role("button", name="Become a patient").click()
    for step in range(1, world().H + 1):
        phone.get_by_role("button", name=f"Step {step}").click()
    expect(phone.get_by_text("Written down: your randomised bits")).to_be_visible()


def put_clinic(teacher: Page) -> None:
    """The clinic is put to the class, once the form for it has come."""
    teacher.get_by_text("The clinic", exact=True).click()
    teacher.get_by_role("button", name="Let them play").click()


def begun(visit: Visits, app: App, device: BrowserContext, total: str) -> tuple[Page, Page]:
    """A teacher who has opened a room in which a phone may spend so much, and a phone that has joined it."""
    teacher = visit("room", 1280)
    slider = teacher.get_by_role("slider", name="Total ε")
    while slider.get_attribute("aria-valuetext") != total:
        slider.press("ArrowLeft")
    teacher.get_by_role("button", name="Open a room").click()
    expect(teacher.get_by_alt_text(re.compile("QR code"))).to_be_visible()
    phone = device.new_page()
    phone.goto(f"{app.url}/room?room={teacher.url.partition('room=')[2]}")
    expect(phone.get_by_text("You are in")).to_be_visible()
    return teacher, phone


@pytest.mark.thorough
def test_a_class_plays_the_clinic_twice_and_a_phone_spends_no_more_than_its_total(
    visit: Visits, app: App, device: BrowserContext
) -> None:
    teacher, phone = begun(visit, app, device, "2")
    for played in (1, 2):
        put_clinic(teacher)
        play(phone)
        spent = "1 question" if played == 1 else "2 questions"
        expect(phone.get_by_text(f"You have answered {spent}.")).to_contain_text(f"ε = {played} for all")
        expect(teacher.get_by_text("1 of 1 answered", exact=True)).to_be_visible()
        teacher.get_by_role("button", name="Reveal").click()
        for page in (phone, teacher):
            expect(page.get_by_text("the reports give")).to_be_visible()
        assert fits(phone)
        assert fits(teacher)
    expect(teacher.get_by_text("Questions have taken all of ε = 2")).to_be_visible()
    expect(teacher.get_by_role("button", name="Let them play")).to_have_count(0)
    _, content = saved(teacher, teacher.get_by_role("button", name="Results as CSV"))
    rows = list(csv.DictReader(content.decode().splitlines()))
    assert [(row["step"], row["kind"], row["epsilon"]) for row in rows] == [
        (step, "clinic", "1.0") for step in ("1", "2")
    ]
