"""Numbers as people read them: each function at its turning points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from dprl import words

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
        (0.5, "50%"),
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
