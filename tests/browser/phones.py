"""A class of phones in a browser, each a page with a storage of its own, and what each of them has predicted."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Page, WebSocket, expect

from dprl.lessons import Choice, Marker
from dprl.lessons.lesson import Step
from dprl.runs.store import Store
from tests.browser.conftest import Visits, shared
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
PATIENCE = (
    300_000  # ms: on a busy machine twenty pages that share a process draw their first chart for minutes
)
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
        """Presses the button."""
        self.page.get_by_role("button", name="Send my prediction").press("Enter")
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
        """One more phone."""
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
        """A tab is closed."""
        phone.page.close()
        self.phones.remove(phone)
        self.away.append(phone)

    def made(self, at: int) -> list[str]:
        """All that was predicted, also by those who are away."""
        return [one.made[at] for one in (*self.phones, *self.away) if at in one.made]

    def counted(self, at: int) -> list[str]:
        """What stands written of a question, and counts."""
        return list(self.store.rooms.steps(self.code)[at].answers)

    def end(self) -> list[str]:
        """Closes all; what went wrong on any page."""
        problems = [problem for half in self._halves for problem in half.end()]
        for half in self._halves:
            half.windows.close()
        return [problem for problem in problems if not any(words in problem for words in CUT)]
