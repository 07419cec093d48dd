"""What visitors read is short, and has one name for each thing; openings come to the point.

That no string has a forbidden name or a sentence of more than 25 words is held wherever a test runs a page, by
`strings.read`.
"""

from __future__ import annotations

import re
import statistics
from typing import Any

import pytest

from dprl.sitemap import PAGES
from tests.pages import strings
from tests.pages.conftest import Visit
from tests.pages.test_terms import STATES

WHOLE = re.compile(r"[.?!:][\"”)]?$")  # how a sentence ends; a label has no such end


def said_in(visit: Visit, path: str) -> tuple[set[str], list[int]]:
    """All strings of a page in the states that it is looked at in, and the words before the first chart of each."""
    apps = [visit(path or "home", **query) for page, query in STATES if page == path]
    return {said.text for app in apps for said in strings.strings(app)}, [strings.opening(apps[0])]


@pytest.mark.thorough
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_short_and_opens_shortly(visit: Visit, path: str) -> None:
    texts, openings = said_in(visit, path)
    assert max(openings) <= strings.OPENING
    assert strings.undefined(texts) == set()
    lengths = [strings.length(s) for text in texts for s in strings.sentences(text) if WHOLE.search(s)]
    assert statistics.median(lengths) <= 14
    assert sum(length > strings.LONG for length in lengths) <= 0.05 * len(lengths)


def test_a_form_begins_after_a_few_words(visit: Visit) -> None:
    assert 0 < strings.opening(visit("offline", tab="upload"), "text_input") <= strings.OPENING


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("At K = 10 a user has ε = 1, in about 3 s.", set()),
        ("The rate ζ is small.", {"ζ"}),
        ("Regret grows with x = 0.5.", {"x"}),
        ('[Regret](#term "a meaning") grew like Kˣ, x = 0.5.', set()),
        ("A t test at q = 0.1 of V\\*, and `z`.", {"q"}),
    ],
)
def test_a_symbol_that_nothing_defines_is_found(text: str, found: set[str]) -> None:
    assert strings.undefined([text]) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("**The learner** learns.", ["learner: say Algorithm: The learner learns."]),
        ("word " * 26 + "end.", ["27 words: " + "word " * 26 + "end."]),
        ('[Regret](#term "a meaning \\(of it\\) that is long.") grows. And so on.', []),
        ("- one item\n- another item\n\n| a cell | a cell |", []),
        ("Not read: x is not allowed; give one of " + "mistakes, " * 30, []),
    ],
)
def test_what_is_against_the_rules_is_found(text: str, found: list[str]) -> None:
    assert list(strings.wrong(text)) == found


def test_strings_of_every_kind_are_collected(visit: Visit) -> None:
    kinds = {said.kind for said in strings.strings(visit("explore"))}
    assert {"title", "markdown", "caption", "button label", "selectbox option", "selectbox help"} <= kinds
    assert {"expander label", "chart title", "chart xaxis", "chart legend", "chart alt", "html alt"} <= kinds


def test_words_before_the_first_chart_are_counted(visit: Visit) -> None:
    app: Any = visit("users")
    prose = [said for said in strings.strings(app) if said.kind == "title"]
    assert strings.opening(app) > sum(strings.length(said.text) for said in prose) > 0
