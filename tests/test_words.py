"""Numbers and tables as people read them: each function at its turning points, and what is proved on its side."""

from __future__ import annotations

import ast
import io
import math
import re
from collections.abc import Callable
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dprl import tables, words
from dprl.privacy.guarantee import LadderStep, Reading, budget
from dprl.research.traces import proved_in_words
from dprl.sentences import attack, offline, price, promise, room, sheet, uploads, verdict
from dprl.simulation.loops.offline import noise_of_run
from dprl.simulation.offline_spec import OfflineSpec
from tests.test_layers import FILES, ROOT

ODDS = {1e-6: "a million", 1e-10: "10 billion", 2.5e-5: "40,000", 1e-15: "10¹⁵", 0.1: "10"}
SAID: dict[Callable[[Any], str], list[tuple[Any, str]]] = {
    words.human: [
        (0, "0"),
        (0.0571, "0.0571"),
        (3.39726, "3.4"),
        (999, "999"),
        (12_345, "12,345"),
        (12_345.6, "12,300"),
        (1_200_000, "1.2 million"),
        (999_950, "1 million"),
        (1e9, "1 billion"),
        (-2.5e12, "−2.5 trillion"),
        (1e15, "10¹⁵"),
        (1.5e16, "1.5×10¹⁶"),
        (9.999e15, "10¹⁶"),
        (0.00002, "2×10⁻⁵"),
        (float("nan"), "unknown"),
    ],
    words.percent: [
        (0, "0%"),
        (0.018, "1.8%"),
        (-0.5, "−50%"),
        (0.9996, "99.9%"),
        (1, "100%"),
        (1e-6, "less than 0.01%"),
        (2.5, "250%"),
    ],
    words.power: [
        (0, "0"),
        (100, "100"),
        (-(10**6), "−10⁶"),
        (10**15, "10¹⁵"),
        (30_000, "3×10⁴"),
        (0.001, "10⁻³"),
    ],
    words.brief: [
        (0, "0"),
        (949, "949"),
        (-5200, "−5.2k"),
        (999_700, "1M"),
        (3.44e9, "3.4B"),
        (340e9, "340B"),
        (1e15, "10¹⁵"),
    ],
    words.count: [
        (50_000, "50,000"),
        (2.5, "2.5"),
        (250_000, "250,000"),
        (1e9, "1 billion"),
        (3.2e7, "32 million"),
        (9.999e8, "1 billion"),
        (-2.5e6, "−2.5 million"),
    ],
    words.exponent: [(0.5, "0.50"), (-0.004, "0.00"), (-1.018, "−1.02"), (1, "1.00")],
    words.duration: [
        (None, "an unknown time"),
        (0.2, "less than a second"),
        (89, "about 89 s"),
        (600, "about 10 min"),
        (9000, "about 2.5 h"),
    ],
    words.size: [(512, "512 bytes"), (1536, "1.54 kB"), (2e7, "20 MB"), (3.4e9, "3.4 GB")],
    words.rough: [(12_345, "12,000"), (4_712_345, "4.7 million")],
    words.after: [(1, "after 1 episode"), (1_200_000, "after 1.2 million episodes")],
    words.ordinal: [(int(n[:-2]), n) for n in ("1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "102nd")],
    words.raised: [(-6, "⁻⁶"), (15, "¹⁵"), (-0.5, "^−0.5")],
    words.listed: [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
    words.odds: [(chance, f"one in {of}") for chance, of in ODDS.items()],
    words.quoted: [("a*b [c](d) $e$ :red[f]", r"**a\*b \[c\](d) \$e\$ \:red\[f\]**")],
}


@pytest.mark.parametrize(
    ("say", "value", "text"), [(say, *row) for say, rows in SAID.items() for row in rows]
)
def test_a_number_is_written_as_people_write_it(say: Callable[[Any], str], value: Any, text: str) -> None:
    assert say(value) == text


def test_a_measured_power_is_raised_and_has_the_interval_of_its_exponent() -> None:
    assert words.to_the("K", 0.004) == "K^0.00"
    assert words.to_the("n", -1.018) == "n^−1.02"
    assert words.to_the("K", 0.5, 0.483, 0.521) == "K^0.50 (exponent 0.48 to 0.52)"
    assert words.to_the("K", 0.5, 0.483, math.nan) == "K^0.50"


def test_one_is_not_many() -> None:
    assert words.plural(1, "seed") == "1 seed"
    assert words.plural(1200, "seed") == "1,200 seeds"
    assert words.plural(2, "policy", "policies") == "2 policies"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (None, 4, "–"),
        (math.inf, 4, "–"),
        (0.0, 4, "0"),
        (1234.56, 4, "1,235"),
        (123_456.7, 4, "123,457"),
        (2.5e-7, 4, "2.5×10⁻⁷"),
        (9.9999e6, 4, "1×10⁷"),
        (3.2e7, 2, "3×10⁷"),
        (9.9e6, 2, "1×10⁷"),
        (-0.25, 3, "−0.25"),
    ],
)
def test_quantities_in_tables(value: float | None, digits: int, text: str) -> None:
    assert words.significant(value, digits) == text


def test_an_interval_is_said_where_there_is_one_and_a_promise_is_a_pair() -> None:
    assert words.exponents(-0.5, -0.6, -0.4) == "−0.50 (−0.60 to −0.40)"
    assert words.exponents(0.5, math.nan, math.nan) == "0.50"
    assert words.interval("2,000 users", 1200, 3400) == "2,000 users (1,200 to 3,400)"
    assert words.interval("2,000 users", 1, math.inf) == "2,000 users"
    assert words.promise(1, 1e-6) == "(1, 10⁻⁶)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5"), (20, "20"), (250_000, "250000"), (1e9, "1e9"), (2.5e7, "2.5e7"), (1e-6, "1e-06")],
)
def test_what_is_typed_is_read_back(value: float, text: str) -> None:
    assert words.typed(value) == text
    assert float(text) == value


# What is proved is printed so that it is proved, too: bounds from below rounded down; ε, δ, ρ and β rounded up.

RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
UNITS = {"million": 6, "billion": 9, "trillion": 12}
NUMBER = r"−?(?:[\d.,]*\d×)?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|−?\d[\d,]*(?:\.\d+)?(?: (?:million|billion|trillion))?"


def value(text: str) -> Decimal:
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


# What leaves the program as a table is no formula, and its numbers are numbers.

FORMULAS = [
    *(f"{before}=1+1" for before in ("", "\t", "\r", "\n", "  ")),
    *("=cmd|' /C calc'!A0", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1:A2)", "＝1+1", "=a,b", '="quoted"'),
]
HARMLESS = ["start", "+", "-", "@", "-1.5", "+2", "-1e-07", "−3", "to 0: =A1", "'=A1", "", "a=b"]


def read(table: pd.DataFrame) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(tables.csv(table)), keep_default_na=False)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_would_be_a_formula_stays_text_and_can_be_read_back(text: str) -> None:
    table = pd.DataFrame({"state": ["start", text], "regret": [1.0, -2.0], text: ["a", "b"]})
    found = read(table)
    told = "'" + text.replace("\r", "\n")
    assert found["state"].tolist() == ["start", told]
    assert found.columns.tolist() == ["state", "regret", told]
    assert table["state"].tolist() == ["start", text]  # the table itself is as it was


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_is_as_it_was(text: str) -> None:
    table = pd.DataFrame({"state": ["start", text]})
    assert read(table)["state"].tolist() == ["start", text]


def test_no_text_begins_a_row_of_its_own() -> None:
    assert read(pd.DataFrame({"state": ["a\r=1+1", "b\r\n=1"]}))["state"].tolist() == ["a\n=1+1", "b\n=1"]


def test_numbers_stay_numbers() -> None:
    table = pd.DataFrame(
        {
            "state": ["=A1", "b", "c"],
            "integer": [-1, 0, 10**15],
            "real": [-1.5, np.inf, -1e-300],
            "mixed": np.array([-1, -2.5, "=A1"], object),
            "missing": [-1.0, np.nan, None],
            "truth": [True, False, True],
        }
    )
    found = pd.read_csv(io.StringIO(tables.csv(table)))
    same = ["integer", "real", "missing", "truth"]
    pd.testing.assert_frame_equal(found[same], table[same])
    assert found["mixed"].tolist() == ["-1", "-2.5", "'=A1"]


def test_nothing_else_in_the_program_writes_csv() -> None:
    # the second makes of a table that it is given, in memory, the file that it would be
    writers = [ROOT / "dprl/tables.py", ROOT / "dprl/simulation/uploads/spec.py"]
    for file in {*FILES} - {*writers}:
        source = file.read_text("utf-8")
        named = ast.walk(ast.parse(source)) if "to_csv" in source else ()
        assert "to_csv" not in {node.attr for node in named if isinstance(node, ast.Attribute)}, file
