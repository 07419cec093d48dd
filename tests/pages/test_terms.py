"""What a page names is explained where it stands first, and no part of it twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dprl.claims import CLAIMS
from dprl.lessons import LESSONS
from dprl.sitemap import PAGES
from pages.linear import view as linear
from pages.offline import view as offline
from pages.shared.layout import terms
from tests.pages.conftest import Visit, widget
from tests.problems import first

FOLDED = ("expander", "popover", "dialog")
SAYS = ("markdown", "caption", "info", "warning", "success", "error", "metric", "header")


def visible(node: Any, folded: bool = False) -> Iterator[Any]:
    """The elements of a page that say something and are not folded away."""
    for child in getattr(node, "children", {}).values():
        hidden = folded or child.type in FOLDED
        if hasattr(child, "children"):
            yield from visible(child, hidden)
        elif not hidden:
            yield child


def texts(app: AppTest) -> list[str]:
    """What is said, without what has a help beside it."""
    found = []
    for element in visible(app.main):
        if element.type == "html":
            found.append(re.sub(r"<(?!a href|/a)[^>]*>", " ", element.proto.body))
        elif element.type == "metric" and not element.help:
            found.append(f"{element.label} {element.value}")
        elif element.type in SAYS and element.type != "metric" and not getattr(element.proto, "help", ""):
            found.append(str(element.value))
    return found


def missing(page: str, said: list[str]) -> set[str]:
    """Which terms of these texts have no meaning anywhere among them."""
    pattern, names = terms._pattern(page)
    plain = "\n".join(said)
    named = {names[m.lastindex - 1] for m in pattern.finditer(plain) if m.lastindex is not None}
    known = terms.glossary(page)
    return {name for name in named if known[name] not in plain and escape(known[name]) not in plain}


POWER = re.compile("10(?:[⁶⁷⁸⁹]|¹[⁰¹²³⁴])(?![⁰¹²³⁴⁵⁶⁷⁸⁹])")  # which is said "1 million" and so on
CARET = re.compile(r"\^−?\d+(?![\d.])|\be\^")  # of a whole power, which is written raised: 10⁶, or exp(ε)
STATES: list[tuple[str, dict[str, Any]]] = [
    *((path, {}) for path in PAGES),
    *(("linear", {"tab": tab}) for tab in linear.TABS[1:]),
    *(("offline", {"tab": tab}) for tab in offline.TABS[1:]),
    *(("free", {"show": show}) for show in ("regret", "theory", "calculator")),
    *(("attack", {"show": show}) for show in ("collusion", "promise")),
    *(("tradeoffs", {"show": show}) for show in ("users", "table")),
    *(("lessons", {"lesson": key, "step": "2", "shown": "yes"}) for key in LESSONS),
    ("lessons", {"lesson": "price", "present": "on", "shown": "yes"}),
    *(("claims", {"claim": key}) for key in CLAIMS),
    *(
        ("explore", {"c": ["envp.S.3~envp.H.3~K.1000~seeds.1"], "tab": tab})
        for tab in ("counts", "guarantee", "data")
    ),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("path", "query"), first(STATES, lambda state: state[0]), ids=str)
def test_every_term_of_a_page_is_explained_once_and_numbers_are_said_in_words(
    visit: Visit, path: str, query: dict[str, Any]
) -> None:
    app = visit(path or "home", **query)
    said = texts(app)
    assert said
    assert not [text for text in said if text.startswith("Not all of this link")]  # the state is one
    assert missing(path, said) == set(), said
    linked = re.findall(rf'{terms.TERM} "([^"]*)"', "\n".join(said))
    assert len(linked) == len(set(linked))
    assert [text for text in said if POWER.search(text) or CARET.search(text)] == []


@pytest.mark.parametrize("page", ["explore", "offline", "linear"])
def test_every_word_of_the_glossary_is_bold_and_none_of_its_signs_is_read_as_markdown(
    visit: Visit, page: str
) -> None:
    app = visit(page)
    folded = widget(app, "expander", "Words used here")
    lines = folded.markdown[0].value.splitlines()
    assert len(lines) >= 10
    assert [line for line in lines if not re.match(r"- \*\*(?:[^*\\]|\\.)+:\*\* [^*]+$", line)] == []
    assert [line for line in lines if CARET.search(line)] == []
