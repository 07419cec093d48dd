"""A sentence that goes with a link, written by who shares a view and read above it; and text shown as it is written."""

from __future__ import annotations

from typing import Any

import pytest

from pages.shared.layout.terms import escape
from pages.shared.visitor.address import saying, sentence_of
from tests.pages.conftest import Visit, follow, press, widget, words
from tests.pages.test_short import LINKS, part
from tests.problems import first

SAID = "A message with this link:"
FIELD = "A sentence for those who open the link"


@pytest.mark.parametrize("page", first(LINKS, lambda page: page in ("explore", "home")))
def test_it_stands_above_the_view_until_it_is_hidden(visit: Visit, page: str) -> None:
    app = visit(page, **LINKS[page], say="Privacy costs nothing here.")
    assert f"**{SAID}** Privacy costs nothing here." in words(app)
    press(app, "hide_sentence")
    assert SAID not in words(app)
    assert "say" not in app.query_params
    assert SAID not in words(visit(page, **LINKS[page]))


def test_it_is_written_where_a_link_is_shared_and_the_short_one_carries_it(visit: Visit) -> None:
    app = visit("home", eps="0.1")
    widget(app, "text_input", FIELD).input("See how late  it learns.").run()
    assert app.query_params["say"] == "See how late it learns."
    press(app, "shorten")
    (code,) = app.session_state["session"].short.values()
    assert f"**{SAID}** See how late it learns." in words(visit("home", s=code))
    assert "say=" not in next(c.value for c in app.code if "iframe" in c.value)
    widget(app, "text_input", FIELD).input("").run()
    assert "say" not in app.query_params


def test_what_was_said_of_a_link_goes_with_the_next_one(visit: Visit) -> None:
    app = visit("home", eps="0.1", say="Old.")
    follow(app, {"eps": ["2"]})
    assert SAID not in words(app)
    assert part(app, "home").sentence == ""


def test_nothing_in_it_is_more_than_letters(visit: Visit) -> None:
    text = (
        "[press](http://evil.example) <b>me</b> <script>alert(1)</script> www.evil.example a@evil.example "
        "# :red[Stop] $x$ **b**\n\n> quoted ![](http://e.x/x.png)"
    )
    app = visit("home", eps="0.1", say=text)
    (said,) = [m.value for m in app.markdown if SAID in m.value]
    shown = said.removeprefix(f"**{SAID}** ")
    for sign in ("://", "www.", "@e", "\n"):
        assert sign not in shown
    for sign in "<>[]()*#:$!":
        assert shown.count(sign) == shown.count(f"\\{sign}")


@pytest.mark.parametrize(
    ("given", "kept", "told"),
    [
        ({}, "", 0),
        ({"say": [""]}, "", 0),
        ({"say": [" a\tb\u0000 "]}, "a b", 0),
        ({"say": ["x" * 161]}, "x" * 160, 1),
    ],
)
def test_it_is_read_on_one_line_and_cut_with_a_sentence(given: dict[str, Any], kept: str, told: int) -> None:
    problems: list[str] = []
    assert sentence_of(given, problems) == kept
    assert len(problems) == told
    assert saying(kept) == ([("say", kept)] if kept else [])


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Central ε = 0.5", "Central ε = 0.5"),  # a label, which a screen reader says too
        ("===", "\\==="),
        ("12. a name", "12\\. a name"),
        ("a *b* [c](d)", "a \\*b\\* \\[c\\]\\(d\\)"),
        ("1) one", "1\\) one"),
        ("www.x", "w\u2060ww.x"),
        ("a\n= b", "a = b"),
    ],
)
def test_only_what_markdown_would_read_is_escaped(text: str, safe: str) -> None:
    assert escape(text) == safe
