"""A phone that plays the clinic: its bits fall as epsilon says, and nothing of what happened to it leaves it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect
from scipy.stats import beta

from dprl.rooms import clinic
from dprl.rooms.response import flip
from dprl.rooms.steps import Clinic
from tests.browser.seen import fits
from tests.browser.server import App
from tests.browser.test_coin import OWN, Phone, Room, device, phones, room_of, values

# Numbers that are drawn next, each whole and below 2^53, before the browser's own go on.
SCRIPTED = """
window.next = [];
const fresh = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => {
  if (!(array instanceof Uint32Array && array.length === 2 && window.next.length)) return fresh(array);
  const drawn = window.next.shift();
  [array[0], array[1]] = [Math.floor(drawn / 2 ** 32) * 2048, drawn % 2 ** 32];
  return array;
};
"""
HIGH = 2**53 - 1
STATES = clinic.world().state_labels


class Patient(Phone):
    first, hooks = "Become a patient", SCRIPTED

    def play(self, states: list[str], part: float, bits: str) -> None:
        """Passes through these states and answers about the last step. part: the outcome that draws the part."""
        law = clinic.on_phone(1.0)
        drawn = [0]
        for step, (state, to) in enumerate(itertools.pairwise(states)):
            sums = law["moves"][step][STATES.index(state)]
            drawn += [HIGH, sums[STATES.index(to)] - 1]  # no reward
        hot = STATES.index(states[-2])
        flips = [0 if bit != str(int(i == hot)) else HIGH for i, bit in enumerate(bits)]
        drawn += [3, int(part * 2**53), *flips]
        self.page.evaluate("drawn => { window.next = drawn; }", drawn)
        self.button(self.first).click()
        for step, state in enumerate(states[:-1]):
            expect(self.page.get_by_text(f"Your state is {state}.")).to_be_visible()
            self.page.get_by_role("button", name=f"Step {step + 1}").click()


Join = Callable[[], Patient]


@pytest.fixture
def room(app: App) -> Room:
    return room_of(app, Clinic(1.0))


@pytest.fixture
def join(browser: Browser, app: App, room: Room) -> Iterator[Join]:
    with phones(Patient, browser, app, room) as join:
        yield join


def sent(phone: Patient) -> list[bytes]:
    return [*phone.frames, *(f"{r.url} {r.post_data}".encode() for r in phone.requests)]


def test_a_phone_plays_and_only_its_randomised_bits_leave(join: Join, room: Room) -> None:
    """Every frame of the websocket is recorded: none has a state, a reward or an advice, and one has the report."""
    store, code, _ = room
    phone = join()
    phone.frames.clear()
    phone.requests.clear()
    phone.play(["moderate", "mild", "mild", "recovered", "recovered"], 0.7, "010010")
    expect(phone.page.get_by_text("The room stores your randomised bits")).to_be_visible()
    expect(phone.page.get_by_text("The true answer stays on your phone: recovered")).to_be_visible()
    assert store.rooms.steps(code)[0].answers == ("3-n010010",)
    everything = sent(phone)
    assert [one for one in everything if b"3-n010010" in one]
    hidden = ("recover", "relaps", "moderate", "mild", "reward", "drug", "000010")
    assert not [word for word in hidden for one in everything if word.encode() in one.lower()]
    assert not [word for word in hidden if word in phone.kept]
    assert fits(phone.page)


@pytest.mark.thorough
def test_two_patients_whose_bits_are_the_same_send_the_same(join: Join, room: Room) -> None:
    store, code, _ = room
    ways = (["moderate"] * 5, ["moderate", "relapsed", "relapsed", "relapsed", "relapsed"])
    found = []
    for way in ways:
        phone = join()
        phone.frames.clear()
        phone.play(way, 0.7, "011000")
        expect(phone.page.get_by_text("The room stores your randomised bits")).to_be_visible()
        found.append(values(phone.frames, device(phone, code)))
    assert found[0] == found[1]
    assert store.rooms.steps(code)[0].answers == ("3-n011000",) * 2


@pytest.mark.thorough
def test_a_report_that_was_lost_is_sent_again_and_not_drawn_again(join: Join, room: Room) -> None:
    store, code, _ = room
    phone = join()
    phone.page.evaluate("window.deaf = true")
    phone.play(["moderate"] * 5, 0.7, "111000")
    expect(phone.button("Send again")).to_be_visible()
    assert store.rooms.steps(code)[0].answers == ()
    phone.page.reload()
    expect(phone.page.get_by_text("and forgotten your history")).to_be_visible()
    expect(phone.page.get_by_text("The room stores your randomised bits")).to_be_visible()
    assert phone.page.evaluate("window.draws") == 0
    assert store.rooms.steps(code)[0].answers == ("3-n111000",)


REPORTS = f"""async ([n, law, way]) => {{ {OWN}
  const patient = await own();
  return Array.from({{ length: n }}, () => patient.report(way, law).text);
}}"""


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_the_best_attacker_on_what_is_sent_measures_at_most_epsilon(join: Join, epsilon: float) -> None:
    """15,000 reports of each of two patients who were in other states all the time, by the page's own script."""
    page, law, n = join().page, dict(clinic.on_phone(epsilon)), 15_000
    asked = clinic.asking_at(epsilon)
    moderate, relapsed = (
        page.evaluate(REPORTS, [n, law, [{"state": s, "paid": False, "next": s}] * 4]) for s in (2, 5)
    )
    turned = flip(asked.bit)

    def ones(texts: list[str], place: int) -> tuple[int, int]:
        bits = [
            one.bits[place]
            for text in texts
            for one in clinic.parse_report(text, epsilon) or ()
            if one.part == 1
        ]
        return sum(bits), len(bits)

    for place, chance in ((0, turned), (2, 1 - turned), (5, turned)):
        count, of = ones(moderate, place)
        assert abs(count - of * chance) < 7 * math.sqrt(of * turned * (1 - turned))

    def score(text: str) -> float:
        """ln of the chance with the first patient over that with the second."""
        found = 0.0
        for one in clinic.parse_report(text, epsilon) or ():
            if one.part < 2:  # neither had a reward
                hot = [s * len(STATES) + s if one.part == 0 else s for s in (2, 5)]
                found += asked.bit * (one.bits[hot[0]] - one.bits[hot[1]])
        return found

    best = max(score(text) for text in moderate)
    hits, alarms = (sum(score(text) > best - 1e-9 for text in texts) for texts in (moderate, relapsed))
    low, high = beta.ppf(2e-10, hits, n - hits + 1), beta.isf(2e-10, alarms + 1, n - alarms)
    assert math.log(low / high) <= epsilon
    assert math.log(hits / alarms) > 0.6 * epsilon
