"""A class of phones in a browser, led through a lesson by the teacher's keys alone: no prediction that is sent is lost.

`make faults` has forty of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dprl.lessons import LESSONS
from pages.shared.lessons import evidence
from tests.browser.conftest import Visits
from tests.browser.phones import PATIENCE, PEOPLE, UNSENT, Phone, PhonesOfClass
from tests.browser.seen import fits
from tests.browser.server import App

LESSON = LESSONS["epsilon"]
FAR = 80  # presses of Tab to whatever is looked for, at most
TOGETHER = re.compile("^Your class: ")


@pytest.fixture
def group(browser: Browser, app: App) -> Iterator[PhonesOfClass]:
    """The phones of a class, of which none has joined yet."""
    phones = PhonesOfClass(browser, app)
    yield phones
    assert phones.end() == []


def to(page: Page, of: Locator) -> None:
    """Moves the focus to an element, by Tab alone."""
    of.wait_for()
    for _ in range(FAR):
        if of.evaluate("e => e === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {of}")


def press(page: Page, of: Locator, key: str = "Enter") -> None:
    """Presses what Tab leads to."""
    to(page, of)
    page.keyboard.press(key)


def told(of: Locator, said: str) -> None:
    """Waits until something says a sentence, whatever it looks like."""
    expect(of).to_have_text(said, timeout=PATIENCE)


def revealed(teacher: Page, group: PhonesOfClass, at: int) -> None:
    """Waits until all are told the answer; what each of them is told of the class counts every prediction."""
    made = group.made(at)
    said = f"Your class: {LESSON.steps[at].together(made, evidence())}"
    for page in (teacher, *(phone.page for phone in group.phones)):
        told(page.get_by_text(TOGETHER), said)
    assert Counter(group.counted(at)) == Counter(made)
    expect(teacher.get_by_text(f"{len(made)} of {PEOPLE} answered")).to_be_visible(timeout=PATIENCE)


def answer(group: PhonesOfClass, at: int, phones: Sequence[Phone]) -> None:
    """Phones are asked, predict and send it."""
    step = LESSON.steps[at]
    for phone in phones:
        phone.asks(step)
        phone.predict(at, step)
    for phone in phones:
        expect(phone.page.get_by_text(UNSENT)).to_be_visible(timeout=PATIENCE)
    for phone in phones:
        phone.send()


def look(moment: str, teacher: Page, group: PhonesOfClass) -> None:
    """Nothing keeps anybody from reading or using the teacher's page and three phones."""
    for page in (teacher, *(phone.page for phone in group.phones[3:6])):
        assert fits(page), moment


@pytest.mark.thorough
def test_a_class_of_phones_is_led_through_a_lesson_by_keys_and_every_prediction_counts(
    visit: Visits, group: PhonesOfClass
) -> None:
    """One phone is reloaded, one comes late, one predicts and leaves, and one sleeps over an answer."""
    teacher = visit("room", 1280)
    teacher.set_default_timeout(PATIENCE)
    press(teacher, teacher.get_by_role("button", name="Open a room"))
    expect(teacher.get_by_alt_text(re.compile("QR code"))).to_be_visible(timeout=PATIENCE)
    group.code = teacher.url.partition("room=")[2]
    for _ in range(PEOPLE - 1):
        expect(group.join().page.get_by_text("You have joined the room")).to_be_visible(timeout=PATIENCE)
    reloaded, sleeper, leaver = (group.phones[number] for number in (0, 6, 9))
    press(teacher, teacher.get_by_role("radio", name="About the class itself"), "ArrowRight")
    teacher.keyboard.press(" ")
    press(teacher, teacher.get_by_role("button", name="Ask this question"))
    expect(teacher.get_by_role("button", name="Reveal")).to_be_visible(timeout=PATIENCE)
    press(teacher, teacher.get_by_role("button", name="Lead the class from here"))

    answer(group, 0, group.phones)
    reloaded.page.reload()
    expect(teacher.get_by_text(f"{PEOPLE - 1} of {PEOPLE - 1} answered")).to_be_visible(timeout=PATIENCE)
    look("asked", teacher, group)
    late = group.join()
    answer(group, 0, [late])
    teacher.keyboard.press(" ")
    revealed(teacher, group, 0)
    look("revealed", teacher, group)

    teacher.keyboard.press("ArrowRight")
    answer(group, 1, group.phones)
    group.sleep(sleeper)
    heard = sleeper.heard
    teacher.keyboard.press("ArrowRight")
    revealed(teacher, group, 1)
    teacher.keyboard.press("PageDown")
    answer(group, 2, group.phones)
    assert sleeper.heard == heard
    group.wake(sleeper)
    answer(group, 2, [sleeper])
    group.leave(leaver)
    teacher.keyboard.press("Enter")
    revealed(teacher, group, 2)

    for at in range(3, len(LESSON.steps)):
        teacher.keyboard.press("ArrowRight")
        answer(group, at, group.phones)
        teacher.keyboard.press("ArrowRight")
        revealed(teacher, group, at)
    teacher.keyboard.press("ArrowRight")
    most = len(LESSON.steps)
    for phone in group.phones:
        points = sum(LESSON.steps[at].score(text, evidence()) for at, text in phone.made.items())
        scored = phone.page.get_by_text(re.compile("^You scored"))
        told(scored, f"You scored {round(points, 2):g} of {most}.")
    means = (
        fmean(step.score(text, evidence()) for text in group.made(at)) for at, step in enumerate(LESSON.steps)
    )
    expect(teacher.get_by_text(f"Your class scored {sum(means):.2g} out of {most} on average")).to_be_visible(
        timeout=PATIENCE
    )
    look("recap", teacher, group)

    teacher.keyboard.press("Escape")
    press(teacher, teacher.get_by_role("button", name="Delete the room"))
    press(teacher, teacher.get_by_role("button", name=f"Delete room {group.code}"))
    expect(teacher.get_by_text("The room and everything in it were deleted")).to_be_visible(timeout=PATIENCE)
    for phone in group.phones:
        expect(phone.page.get_by_text("This room has been deleted")).to_be_visible(timeout=PATIENCE)
