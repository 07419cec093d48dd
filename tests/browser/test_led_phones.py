"""A class of phones in a browser, led through a lesson by the teacher's keys alone: no prediction that is sent is lost.

`make faults` has forty of them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

from dprl.lessons import LESSONS, Choice, Marker
from dprl.lessons.lesson import Step
from dprl.runs.store import Store
from pages.shared.lessons import evidence
from tests.browser.conftest import Visits, shared
from tests.browser.seen import box_of, fits
from tests.browser.server import App

# A storage for each page, as phones have; and its sockets, which a phone that falls asleep loses.
OWN = """
Object.defineProperty(window, "localStorage", { get: () => sessionStorage });
window.sockets = [];
window.WebSocket = class extends WebSocket {
  constructor(...given) { super(...given); window.sockets.push(this); }
};
"""
OFFLINE = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
# What the browser and Streamlit say in the console of a phone that is cut off.
CUT = ("ERR_INTERNET_DISCONNECTED", "reaching server endpoint", "server is not responding")
# `make faults` has forty, for minutes; all that may happen to a phone happens to one of twelve, too.
PEOPLE = 40 if "FAULTS" in os.environ else 12
PATIENCE = 300_000  # ms: on a busy machine, twenty pages need minutes for their first chart
WIDTH, HEIGHT, SCHEMES = 390, 844, ("light", "dark")
WAYS = 3  # how many marks the marker is moved by, at most
UNSENT = "Your prediction is not sent yet."


@dataclass
class Phone:
    """A page of a phone. made: what it has predicted, by the number of the question."""

    number: int
    page: Page
    made: dict[int, str] = field(default_factory=dict)
    heard: int = 0  # messages of its websocket

    def listen(self, socket: WebSocket) -> None:
        """Counts what comes to it by a websocket."""

        def came(data: str | bytes) -> None:
            self.heard += 1

        socket.on("framereceived", came)

    def asks(self, step: Step) -> None:
        """Waits until it asks a step, once: for a moment the page before may still be there."""
        question = self.page.get_by_role("heading", name=step.ask, exact=True)
        expect(question.filter(visible=True)).to_have_count(1, timeout=PATIENCE)

    def predict(self, at: int, step: Step) -> None:
        """Moves the marker, or chooses. What it says then is what it has made."""
        prediction = step.prediction
        if isinstance(prediction, Choice):
            power, words = prediction.choices[self.number % len(prediction.choices)]
            self.page.get_by_role("radio", name=words, exact=True).press(" ")
            self.made[at] = prediction.write(power)
            return
        assert isinstance(prediction, Marker)
        slider = self.page.get_by_role("slider", name="Your prediction")
        way = "ArrowRight" if prediction.untouched == prediction.marks[0] else "ArrowLeft"
        for _ in range(1 + self.number % WAYS):
            slider.press(way)
        said = slider.get_attribute("aria-valuetext")
        (mark,) = (mark for mark in prediction.marks if prediction.said(mark) == said)
        self.made[at] = prediction.write(mark)

    def send(self) -> None:
        button = self.page.get_by_role("button", name="Send my prediction")
        expect(button).to_be_in_viewport(ratio=1)
        bar, chart = box_of(button), box_of(self.page.get_by_test_id("stPlotlyChart").last)
        assert bar["y"] + bar["height"] <= chart["y"]  # it covers nothing
        button.press("Enter")
        expect(self.page.get_by_text("Your prediction has been sent")).to_be_visible(timeout=PATIENCE)


class PhonesOfClass:
    """The phones of a class, and those away. Half are by night; each half shares a process of the browser."""

    def __init__(self, browser: Browser, app: App) -> None:
        self._url = app.url
        self.store = Store(app.home / "runs.sqlite")
        self.code = ""
        self.phones: list[Phone] = []
        self.away: list[Phone] = []
        self._halves = [Visits(shared(browser, OWN), app) for _ in SCHEMES]

    def join(self) -> Phone:
        number = len(self.phones) + len(self.away)
        half = number % len(SCHEMES)
        page = self._halves[half].window(WIDTH, SCHEMES[half])
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        phone = Phone(number, page)
        page.on("websocket", phone.listen)
        page.goto(f"{self._url}/room?room={self.code}")
        self.phones.append(phone)
        return phone

    def sleep(self, phone: Phone) -> None:
        """One of them is cut off, and nothing runs in it any more."""
        self.phones.remove(phone)
        self.away.append(phone)
        session = phone.page.context.new_cdp_session(phone.page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {"offline": True, **OFFLINE})
        phone.page.evaluate("window.sockets.forEach((socket) => socket.close())")
        session.send("Page.setWebLifecycleState", {"state": "frozen"})
        self._asleep = session

    def wake(self, phone: Phone) -> None:
        """It is taken in hand again."""
        self._asleep.send("Page.setWebLifecycleState", {"state": "active"})
        self._asleep.send("Network.emulateNetworkConditions", {"offline": False, **OFFLINE})
        self._asleep.detach()
        self.away.remove(phone)
        self.phones.append(phone)

    def leave(self, phone: Phone) -> None:
        phone.page.close()
        self.phones.remove(phone)
        self.away.append(phone)

    def made(self, at: int) -> list[str]:
        """All that was predicted, also by those who are away."""
        return [one.made[at] for one in (*self.phones, *self.away) if at in one.made]

    def counted(self, at: int) -> list[str]:
        return list(self.store.rooms.steps(self.code)[at].answers)

    def end(self) -> list[str]:
        problems = [problem for half in self._halves for problem in half.end()]
        for half in self._halves:
            half.windows.close()
        return [problem for problem in problems if not any(words in problem for words in CUT)]


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
    for width, height in ((1024, 768), (1920, 1080), (3840, 2160)):  # of projectors
        teacher.set_viewport_size({"width": width, "height": height})
        expect(teacher.get_by_role("button", name=re.compile("^Next: "))).to_be_in_viewport(ratio=1)
        assert box_of(teacher.get_by_test_id("stPlotlyChart").last)["height"] >= height / 2
    teacher.set_viewport_size({"width": 1280, "height": 900})

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

    following = teacher.get_by_role("button", name=re.compile("^Next: "))
    for width, height in ((1024, 768), (3840, 2160), (1920, 1080)):  # of projectors
        teacher.set_viewport_size({"width": width, "height": height})
        expect(following).to_be_in_viewport(ratio=1, timeout=PATIENCE)
        assert box_of(teacher.get_by_test_id("stPlotlyChart").last)["height"] >= height / 2
    for at in range(3, len(LESSON.steps)):
        following.dblclick()  # in haste: the step is put once, and not revealed
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
