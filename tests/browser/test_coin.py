"""The coin on a phone: how it falls, and that nothing but its report leaves the phone."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import pytest
from playwright.sync_api import Browser, BrowserContext, Request, WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from dprl.rooms.response import DRAWS, flip, opposites
from dprl.rooms.steps import NO, YES, Content, Question
from dprl.runs.limits import Lease
from dprl.runs.store import Store
from tests.browser.seen import fits
from tests.browser.server import App
from tests.problems import first

# What a page's scripts are made of, and random numbers: counted, or as the test says. deaf: nothing is sent.
HOOKS = """
window.made = []; window.draws = 0; window.falls = null; window.deaf = false;
const make = URL.createObjectURL, random = crypto.getRandomValues.bind(crypto), send = WebSocket.prototype.send;
URL.createObjectURL = (blob) => { const url = make.call(URL, blob); window.made.push(url); return url; };
crypto.getRandomValues = (array) => {
  if (array instanceof Uint32Array && array.length === 2) window.draws += 1;
  return window.falls === null ? random(array) : array.fill(window.falls);
};
WebSocket.prototype.send = function (data) { return window.deaf ? undefined : send.call(this, data); };
"""
OPPOSITE, KEPT = 0, 2**32 - 1  # of random numbers that are all the same: the lowest outcome, and the highest
# The page's own module: the one that its component has been made of.
OWN = """
const own = async () => {
  for (const url of window.made) { const one = await import(url).catch(() => ({})); if (one.draw) return one; }
};
"""


# A browser that lets a page store nothing, as some do in a private window: at once, or from the tap on.
DENIED = """
const deny = (name) => { throw new DOMException("denied", "SecurityError"); };
Storage.prototype.getItem = Storage.prototype.setItem = Storage.prototype.removeItem = deny;
"""
FULL = """
const set = Storage.prototype.setItem;
Storage.prototype.setItem = function (name, text) {
  if (text.includes("report")) throw new DOMException("full", "QuotaExceededError");
  return set.call(this, name, text);
};
"""


class Phone:
    """A browser with its own storage in a room, and all it sends. first: the button it waits for; hooks: a script."""

    first, hooks = "Yes", ""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.frames: list[bytes] = []
        self.requests: list[Request] = []
        context.add_init_script(self.hooks + HOOKS)
        self.page = context.new_page()
        self.page.on("websocket", self._listen)
        self.page.on("request", lambda request: self.requests.append(request))
        self.page.goto(url)
        expect(self.button(self.first)).to_be_visible()
        # A server learns from its first visitor which pages there are. Here that is a phone, as this file comes first.
        assert self.page.get_by_text("Page not found").count() == 0

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda data: self.frames.append(data if isinstance(data, bytes) else b""))

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def tap(self, answer: str, falls: int | None = None) -> None:
        """Taps an answer. falls: what all random numbers are then."""
        self.page.evaluate("falls => { window.falls = falls; }", falls)
        self.button(answer).click()

    @property
    def kept(self) -> str:
        return str(self.page.evaluate("JSON.stringify(localStorage)"))

    def written(self, report: str) -> None:
        """Waits until the phone says that this stands written."""
        expect(self.page.get_by_text(f"recorded {report}, which")).to_be_visible()


Room = tuple[Store, str, str]
Join = Callable[[], Phone]
P = TypeVar("P", bound=Phone)


def room_of(app: App, content: Content) -> Room:
    """A room of the running app with this step: the store, the code, and the teacher's key."""
    store = Store(app.home / "runs.sqlite")
    code, key = store.rooms.open(Lease("test of phones"))
    store.rooms.put_step(code, key, content)
    return store, code, key


@contextmanager
def phones(kind: type[P], browser: Browser, app: App, room: Room) -> Iterator[Callable[[], P]]:
    """A function that adds one more phone to the room."""
    with ExitStack() as contexts:

        def join() -> P:
            how = browser.new_context(viewport={"width": 390, "height": 800}, reduced_motion="reduce")
            return kind(contexts.enter_context(how), f"{app.url}/room?room={room[1]}")

        yield join


@pytest.fixture
def room(app: App) -> Room:
    return room_of(app, Question("Did you sleep well?", 1.0))


@pytest.fixture
def join(browser: Browser, app: App, room: Room) -> Iterator[Join]:
    with phones(Phone, browser, app, room) as join:
        yield join


def values(frames: list[bytes], device: str) -> set[str]:
    """All that widgets were said to be, in any of the frames; of whom it was is left out."""
    found = set()
    for frame in frames:
        states = BackMsg.FromString(frame).rerun_script.widget_states.widgets
        found |= {str(state).replace(device, "DEVICE") for state in states}
    return found


def device(phone: Phone, code: str) -> str:
    """What the browser calls itself."""
    return str(json.loads(json.loads(phone.kept)[f"dprl-room-{code}"])["device"])


@pytest.mark.thorough
def test_the_pages_own_coin_falls_as_epsilon_says(join: Join) -> None:
    """100,000 tosses at three epsilons, within seven standard deviations; each of 53 bits; the ends and the edge."""
    page, n = join().page, 100_000
    for epsilon in (0.25, 1.0, 3.0):
        turned = page.evaluate(
            f"""async ([n, opposites]) => {{ {OWN}
              const coin = await own(); let turned = 0;
              for (let i = 0; i < n; i++) {{
                const answer = i % 2 ? "yes" : "no";
                turned += coin.reported(answer, coin.draw(), opposites) !== answer;
              }}
              return turned;
            }}""",
            [n, opposites(epsilon)],
        )
        wrong = flip(epsilon)
        assert abs(turned - n * wrong) < 7 * math.sqrt(n * wrong * (1 - wrong)), epsilon
    ones = page.evaluate(
        f"""async (n) => {{ {OWN}
          const coin = await own(), ones = Array(53).fill(0);
          for (let i = 0; i < n; i++) {{
            const drawn = BigInt(coin.draw());
            for (let bit = 0; bit < 53; bit++) ones[bit] += Number(drawn >> BigInt(bit) & 1n);
          }}
          return ones;
        }}""",
        10_000,
    )
    assert len(ones) == 53
    assert max(abs(count - 5_000) for count in ones) < 7 * 50  # less than once in 10^9 tests of 53 bits
    lowest, highest = (
        page.evaluate(
            f"async (falls) => {{ {OWN} const coin = await own(); window.falls = falls; return coin.draw(); }}",
            falls,
        )
        for falls in (0, 2**32 - 1)
    )
    assert (lowest, highest) == (0, DRAWS - 1)
    edge = opposites(1.0)
    tossed = page.evaluate(
        f"""async (edge) => {{ {OWN} const coin = await own();
          return ["yes", "no"].flatMap((answer) =>
            [0, edge - 1, edge, 2 ** 53 - 1].map((drawn) => coin.reported(answer, drawn, edge)));
        }}""",
        edge,
    )
    assert tossed == [NO, NO, YES, YES, YES, YES, NO, NO]


@pytest.mark.thorough
def test_what_is_sent_says_the_report_and_nothing_of_the_answer(join: Join, room: Room) -> None:
    """Of two phones one tapped yes and the other no, and both coins left no. What they send is the same."""
    store, code, key = room
    phones = {YES: join(), NO: join()}
    for answer, phone in phones.items():
        phone.frames.clear()
        phone.requests.clear()
        phone.tap(answer.capitalize(), OPPOSITE if answer == YES else KEPT)
        phone.written(NO)
    store.rooms.turn_step(code, key, 0, "revealed")
    for answer, phone in phones.items():
        told = rf"^You tapped {answer.capitalize()}\. Your phone drew the number {int(answer != YES)}\.0000, and "
        told += r"reports the opposite of your answer if this number is below 0\.2689\. So your report is No"
        expect(phone.page.get_by_text(re.compile(told))).to_be_visible()
        expect(phone.page.get_by_text("Estimate of the class's answers")).to_be_visible()
    sent = {answer: values(phone.frames, device(phone, code)) for answer, phone in phones.items()}
    assert sent[YES] == sent[NO]
    assert len([one for one in sent[YES] if re.search(r"report\W+no\b", one)]) == 1
    tapped = phones[YES]
    assert fits(tapped.page)
    everything = [*tapped.frames, *(f"{r.url} {r.post_data}".encode() for r in tapped.requests)]
    assert everything
    assert not [one for one in everything if b"yes" in one.lower()]
    assert "yes" not in tapped.kept.lower()
    assert store.rooms.steps(code)[0].answers == (NO, NO)


@pytest.mark.thorough
@pytest.mark.parametrize("way", first(["reload", "press"]))
def test_a_report_that_was_lost_on_its_way_is_sent_again_and_not_drawn_again(
    join: Join, room: Room, way: str
) -> None:
    store, code, _ = room
    phone = join()
    phone.page.evaluate("window.deaf = true")
    phone.tap("No", OPPOSITE)
    expect(phone.page.get_by_text(re.compile("So your report is Yes"))).to_be_visible()
    expect(phone.button("No")).to_be_hidden()
    assert store.rooms.steps(code)[0].answers == ()
    if way == "reload":
        phone.page.reload()
        phone.written(YES)
        expect(phone.page.get_by_text("and forgotten your answer")).to_be_visible()
        assert phone.page.evaluate("window.draws") == 0
    else:
        # at once: a page that hears again sends by itself when it is drawn next, and hides the button
        hears = "button => { window.deaf = false; window.falls = 2 ** 32 - 1; button.click(); }"
        phone.button("Send again").evaluate(hears)
        phone.written(YES)
        assert phone.page.evaluate("window.draws") == 1
    expect(phone.button("Send again")).to_be_hidden()
    phone.page.reload()
    phone.written(YES)
    assert store.rooms.steps(code)[0].answers == (YES,)


@pytest.mark.thorough
@pytest.mark.parametrize("script", [FULL, DENIED])
def test_a_phone_that_could_not_keep_its_report_sends_none(join: Join, room: Room, script: str) -> None:
    """After a reload it would draw again and spend twice, so it says why it does not answer, before and after one."""
    store, code, _ = room
    phone = join()
    phone.page.context.add_init_script(script)
    for _ in range(2):
        phone.page.reload()
        if script == FULL:
            phone.tap("No", OPPOSITE)
        expect(phone.page.get_by_text("does not let the page store anything")).to_be_visible()
        expect(phone.button("No")).to_be_hidden()
    assert store.rooms.steps(code)[0].answers == ()
