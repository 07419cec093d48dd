"""What is proved is printed so that it is proved, too: bounds from below rounded down; ε, δ, ρ and β rounded up."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from dprl import words
from dprl.privacy.guarantee import LadderStep, Reading, budget
from dprl.research.traces import proved_in_words
from dprl.sentences import attack, offline, price, promise, room, sheet, uploads, verdict
from dprl.simulation.loops.offline import noise_of_run
from dprl.simulation.offline_spec import OfflineSpec

RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
UNITS = {"million": 6, "billion": 9, "trillion": 12}
NUMBER = r"−?(?:[\d.,]*\d×)?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|−?\d[\d,]*(?:\.\d+)?(?: (?:million|billion|trillion))?"


def value(text: str) -> Decimal:
    """The number that a text says."""
    sign, text = (-1 if text[0] == "−" else 1), text.lstrip("−")
    if raised := re.fullmatch(r"(?:(.*)×)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text):
        return sign * Decimal(raised[1] or 1).scaleb(int(raised[2].translate(RAISED)))
    number, _, unit = text.replace(",", "").partition(" ")
    return sign * Decimal(number).scaleb(UNITS.get(unit, 0))


def said(text: str, before: str) -> Decimal:
    """The number that stands in a text after some words."""
    found = re.search(f"{before}({NUMBER})", text)
    assert found, text
    return value(found[1])


@pytest.mark.parametrize(("say", "up"), [(words.at_least, False), (words.at_most, True)])
def test_any_number_is_said_on_its_side(say: Callable[[float], str], up: bool) -> None:
    rng = np.random.default_rng(0)
    for i in range(4000):
        x = float(rng.choice([-1, 1]) * 10 ** rng.uniform(-12, 18))
        x = float(f"{x:.{i % 5 + 1}g}") if i % 3 else x
        told, exact = value(say(x)), Decimal(x)
        slack = words.SLACK * abs(exact) * (up and x > 0)
        assert (told >= exact - slack) if up else (told <= exact)
        grain = Decimal("1e-4") if 1e-4 <= abs(x) < 0.01 else Decimal("0.0101") * abs(exact)
        assert abs(told - exact) <= grain


def test_turning_points() -> None:
    assert [words.at_least(x) for x in (1.996, 2.0, 0.0, -1.996, 12_345, 999_600)] == [
        "1.99", "2", "0", "−2", "12,345", "999,000",
    ]  # fmt: skip
    assert [words.at_most(x) for x in (3.6624, 0.12345, 1 + 1e-12, 1e-6, 1.0001e-6)] == [
        "3.67", "0.124", "1", "10⁻⁶", "1.01×10⁻⁶",
    ]  # fmt: skip
    assert words.proves(0.99999, 1e-6) == "(1, 10⁻⁶)"
    assert (words.share_at_most(0.6233), words.share_at_most(0.5)) == ("62.4%", "50.0%")
    assert budget(0.1234561, 1.2341e-6) == "(0.123457, 1.24×10⁻⁶)"
    assert words.at_most(float("inf")) == words.at_least(float("nan")) == "unknown"


PRIVACY = {
    "epsilon": 3.6624, "delta": 1.2341e-6, "rho": 0.12345, "unit": "u", "adjacency": "a", "noise": "n", "covers": "c",
}  # fmt: skip


def test_sheets_cards_and_sentences_say_no_more_than_is_proved() -> None:
    """Each of these numbers was printed to the nearest of three digits before, which is on the wrong side."""
    bound, chance = 1.996, {"proved": True, "except with a chance of": 0.12345}
    held = {"held out": {"verdict": ""}, "other policy": {}, "bound": {"worth at least": bound}}
    reading = Reading("replace-one", 3.6624, 1e-6, promise.ACCOUNTANT)
    card = SimpleNamespace(proved_rho=0.1234561, proved_epsilon=3.6624)
    numbers: list[tuple[str, str, str]] = [
        (verdict.rows_of(held)[0][1], "at least ", "1.99"),
        (uploads.about_bound(1.0, bound, "x", 0, 0.1, "y"), "worth at least ", "1.99"),
        (offline.bounds_by_start(["s"], [bound]), r"\*\*s\*\* ", "1.99"),
        (sheet.guarantee(PRIVACY)[1], "ρ = ", "0.124"),
        (sheet.guarantee(PRIVACY)[1], r"or \(", "3.67"),
        (sheet.guarantee(PRIVACY)[1], r"3.67, ", "0.00000124"),
        (sheet.bound_and_chance(chance, False), "probability of ", "0.124"),
        (promise.about_promise(3.6624, 1e-6, [reading])[1], r"claimed:\*\* \(", "3.67"),
        (promise.concentrated_verdict(0.12345, 0.12345)[1], "ρ = ", "0.124"),
        (promise.readings([reading]), r"10⁻⁶ \| ", "3.67"),
        (promise.returning(10, 3.6624, 1e-6), r"\(", "3.67"),
        (attack.concentrated(0.12345), "ρ = ", "0.124"),
        (attack.advantage(0.62341), "at most ", "62.4"),
        (attack.about_epsilons([1e-6], [3.6624]), r"\(", "3.67"),
        (price.about_ladder([LadderStep("a", 2.0, 3.6624, 1e-6)], None), r"\(", "3.67"),
        (room.shuffled(5, 3.6624, 1e-6), r"\(", "3.67"),
        (proved_in_words(card), "rho ", "0.1235"),  # type: ignore[arg-type]
        (uploads.about_bound(1.0, 1.0, "x", 0, 0.1234561, "y"), "β = ", "0.123457"),
    ]
    for text, before, printed in numbers:
        assert said(text, before) == Decimal(printed), text


def test_a_card_rounds_up_whatever_is_asked() -> None:
    for rho in (0.123449, 0.3, 1.0, 2.0000001):
        card = noise_of_run(OfflineSpec(rho=rho, n=100))[0].guarantee
        assert said(repr(card), "proved rho ") >= Decimal(card.proved_rho or 0) * (1 - words.SLACK)
