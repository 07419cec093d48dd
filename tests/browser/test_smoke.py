"""Each page opens and answers its main control with a chart; in the thorough tests its link opens the same chart.

Room has two browsers, the teacher's and a phone's; for *Your data*, see test_upload.py, and for Explore, test_pages.py.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visits
from tests.browser.seen import CHART, COMPUTED, copied, finished, fits
from tests.browser.server import App

SMALL = "envp.S.3~envp.H.3"
TRADEOFFS = f"v=1&b={SMALL}~K.20000~seeds.2&m=none&m=central&x=epsilon&at=1,10&show=price"
ATTACK = "v=1&b=env.random~envp.S.2~envp.A.2~envp.H.2~K.1000~priv.local"
# For each page: a link to something small, the role of its main control, and its name.
MAIN = {
    "": ("", "slider", "Privacy budget"),
    "tradeoffs": (TRADEOFFS, "button", "Run"),
    "users": ("", "textbox", "Budget ε"),
    "offline": ("", "tab", "Policy"),
    "lessons": ("lesson=trust&step=2", "button", "I don't know"),
    "papers": ("", "button", "Theorem 5.2"),
    "attack": (ATTACK, "radio", "One reward differs"),
    "runs": ("", "link", "Home"),
}


@pytest.mark.parametrize("opened", [False, pytest.param(True, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("path", MAIN)
def test_a_page_answers_with_a_chart_that_its_link_opens(visit: Visits, path: str, opened: bool) -> None:
    query, role, name = MAIN[path]
    page = visit(f"{path}?{query}" if query else path)
    control = page.get_by_role(role, name=re.compile(name)).first  # type: ignore[arg-type]
    if role == "slider":
        control.press("ArrowRight")
    elif role == "textbox":
        control.fill("2")
        control.press("Enter")
    elif role == "radio":  # covered by its label
        page.get_by_test_id("stMain").get_by_text(name, exact=True).first.click()
    else:
        control.click()
    finished(page)
    expect(page.locator(CHART).first).to_be_visible(timeout=COMPUTED)
    if opened:
        other = finished(visit(copied(page)))
        shown = page.locator(f"{CHART} .gtitle").all_text_contents()
        expect(other.locator(f"{CHART} .gtitle")).to_have_text(shown)


ABOVE = """([inside, bar]) => inside.getBoundingClientRect().bottom
  <= document.querySelector(bar).getBoundingClientRect().top"""


@pytest.fixture
def student(browser: Browser) -> Iterator[Page]:
    """A phone with a storage of its own, on no page yet."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    yield context.new_page()
    context.close()


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
    expect(teacher.get_by_test_id("stHeader")).to_be_hidden()
    teacher.get_by_role("button", name="Leave this view").click()
    expect(teacher.get_by_test_id("stHeader")).to_be_visible()
