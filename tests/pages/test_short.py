"""Short links on the pages: made by a press, opened like the whole ones, and one sentence where they lead nowhere."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dprl.runs.limits import Lease
from dprl.runs.store import Store
from tests.pages.conftest import Visit, press, words
from tests.problems import first

CURVES = {"c": ["envp.S.3~envp.H.3~K.1000~seeds.1~eps.7"], "tab": "guarantee"}
# Of every page with a link of its own, one that is not as the page opens, and a word that it then shows.
LINKS: dict[str, dict[str, Any]] = {
    "attack": {"step": "tree"},
    "papers": {"item": "pac/lemma-8"},
    "explore": CURVES,
    "home": {"eps": "0.1"},
    "lessons": {"lesson": "trust"},
    "offline": {"tab": "guarantee"},
    "users": {"K": "1e8", "S": "6", "eps": "0.5"},
    "tradeoffs": {"show": "regret", "x": "H"},
}


def part(app: AppTest, page: str) -> Any:
    """What the page keeps of the visitor."""
    parts = app.session_state["session"].parts
    return parts.get(page) or next(
        kept for kind, kept in parts.items() if page == "explore" or f"pages.{page}." in f"{kind.__module__}."
    )


@pytest.mark.parametrize("page", first(LINKS, lambda page: "~" in str(LINKS[page])))
def test_a_short_link_opens_what_the_whole_one_opens(visit: Visit, store: Store, page: str) -> None:
    app = visit(page, **LINKS[page])
    press(app, "shorten")
    whole = part(app, page).query
    (code,) = app.session_state["session"].short.values()
    assert store.links.lengthen(code) == ("" if page == "home" else page, whole)
    other = visit(page, s=code.lower())
    assert part(other, page).query == whole
    assert list(app.warning) == list(other.warning) == []
    assert dict(other.query_params) == {"s": code.lower()}  # Back leads out, and a reload shows the same
    assert "QR code of the short link" in "".join(e.proto.body for e in app.get("html"))


@pytest.mark.parametrize(
    ("page", "text", "said"),
    [("home", "abc", "8 letters"), ("explore", "BCDFGHJK", "not a short link on this server")],
)
def test_letters_that_lead_nowhere_get_one_sentence(visit: Visit, page: str, text: str, said: str) -> None:
    app = visit(page, s=text)
    (warning,) = app.warning
    assert said in warning.value


def test_a_short_link_leads_to_its_page_from_any_other_and_nonsense_gets_a_sentence(
    visit: Visit, store: Store
) -> None:
    one, wrong, gone = (
        store.links.shorten(page, query, Lease("tab"))
        for page, query in (
            ("explore", "c=envp.S.3~envp.H.3~K.1000~seeds.1&tab=data&h=2"),
            ("explore", "c=eps.-1&tab=nowhere"),
            ("of-a-later-version", ""),
        )
    )
    session = visit(s=one).session_state["session"]
    assert (session.page, len(session.explore.curves), session.explore.view.tab) == ("explore", 1, "data")
    app = visit("explore", s=one, tab="policy")  # what stands beside the letters counts
    view = app.session_state["session"].explore.view
    assert (view.tab, view.h) == ("policy", 2)
    assert list(app.warning) == []
    said = words(visit("explore", s=wrong))
    assert "epsilon: -1 is not allowed" in said
    assert "tab: nowhere is not allowed" in said
    (warning,) = visit(s=gone).warning
    assert "this version does not have" in warning.value


def test_where_it_cannot_be_made_the_reason_is_said(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dprl.runs.rooms.MOST_LETTERS", 10)
    app = visit("explore", **CURVES)
    press(app, "shorten")
    assert "copy the whole link" in app.toast[0].value
    assert app.session_state["session"].short == {}
