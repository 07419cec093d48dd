"""Links on their pages: what is wrong with one is said; Back, short links, shared sentences, locks, and frames."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from dprl.runs.limits import Lease
from dprl.runs.store import Store
from dprl.sitemap import PAGES
from pages.shared.layout.terms import escape
from pages.shared.visitor import state
from pages.shared.visitor.address import saying, sentence_of
from tests.pages.conftest import Visit, charts, chip, follow, go, press, widget, words
from tests.pages.opened import opened
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


VERSION = "The link has version 9 and was read as version 1."
# Of a page: a link, what is said of it, and, but for Offline, a link that is read as the same.
WRONG = [
    ("explore", "c=eps.-1~K.1000&c=priv.none&c=K.2000", "Curve 1: epsilon: -1 is", "c=K.1000&c=priv.none&c=K.2000"),
    ("explore", "c=eps.nan~K.1000", "epsilon: nan is not allowed", "c=K.1000"),
    ("explore", "c=env.atlantis~eps.2", "environment: atlantis is not allowed", "c=eps.2"),
    ("explore", "c=envp.S.one~eps.2", "environment_params.S: one is not allowed", "c=eps.2"),
    ("explore", "c=envp.Z.5", "riverswim has no parameter Z", "c=eps.1"),
    ("explore", "c=alg.ucbvi~priv.local", "privacy: local cannot be combined with ucbvi", "c=alg.ucbvi"),
    ("explore", "c=sched.never", "schedule: never is not allowed", "c=eps.1"),
    ("explore", "c=sched.episodic", "too many for the episodic schedule", None),
    ("explore", "c=what.ever~eps.2", "what.ever is not part of a curve", "c=eps.2"),
    ("explore", "c=eps.2&tab=nothing", "tab: nothing is not allowed", "c=eps.2"),
    ("explore", "c=eps.2&x=diagonal&tab=policy", "x: diagonal is not allowed", "c=eps.2&tab=policy"),
    ("explore", "v=9&c=eps.2", VERSION, "c=eps.2"),
    ("explore", "c=" + "~".join(["eps.2"] * 3000), "longer than", "c=eps.1"),
    ("explore", "&".join(["c=eps.2"] * 20), "The link has 20 curves", "&".join(["c=eps.2"] * 8)),
    ("tradeoffs", "x=<img>", "x: <img> is not allowed", ""),
    ("tradeoffs", "share=lots", "share: lots is not allowed", ""),
    ("tradeoffs", "m=secret&m=local", "privacy: secret is not allowed", "m=local"),
    ("tradeoffs", "at=1,x", "epsilon: x is not allowed", ""),
    ("tradeoffs", "b=alg.ucbvi&m=central&m=none", "models: ucbvi does not support central", "b=alg.ucbvi&m=none"),
    ("attack", "first=9/9/9", "first: 9/9/9 is not allowed; give each step as state/action/reward", ""),
    ("attack", "step=four", "step: four is not allowed; give one of one, subtract, tree", ""),
    ("users", "K=0", "users: 0 is not allowed; give a whole number from 1 to 1e+15.", ""),
    ("users", "S=one", "S: one is not allowed; give a whole number from 2 to 10000.", ""),
    ("papers", "problem=taxi", "problem: taxi is not allowed; give one of clinic", ""),
    ("home", "eps=<b>", "epsilon: <b> is not allowed", "eps=1"),
    ("home", "eps=0.25", "The slider has no position for ε = 0.25, so this page shows ε = 0.3", "eps=0.3"),
    ("home", "eps=", "epsilon:", "eps=1"),
    ("lessons", "lesson=<b>", "lesson: <b> is not allowed; give one of ", ""),
    ("lessons", "lesson=trust&step=9", "step: 9 is not allowed; give a whole number from 1 to 5", "lesson=trust"),
    ("lessons", "lesson=trust&guess=aaaa", "guess: aaaa is not allowed", "lesson=trust"),
    ("papers", "item=<b>", "item: <b> is not allowed; press a row", ""),
    ("papers", "item=pac/one-draw&at=9", "give a whole number from 1 to 2", "item=pac/one-draw"),
    ("offline", "c=alg.dp-ucbvi", "Curve 1: algorithm: dp-ucbvi is not allowed", None),
    ("offline", "c=alg.dp-vapvi", "has no features, which dp-vapvi needs", ""),
    ("offline", "c=mu.mixture:9", "Curve 1: behaviour: mixture:9 is not allowed", None),
    ("offline", "c=n.5&tab=x", "tab: x is not allowed", "c=n.5"),
    ("offline", "&".join(["c=n.5"] * 9), "The link has 9 curves; the first 8 are shown.", "&".join(["c=n.5"] * 8)),
    ("offline", "c=K.5", "K.5 is not part of a curve", None),
]  # fmt: skip


@pytest.mark.parametrize(("page", "query", "said", "rest"), WRONG)
@pytest.mark.usefixtures("reading")
def test_what_is_wrong_is_said_in_a_sentence_and_the_rest_is_kept(
    page: str, query: str, said: str, rest: str | None
) -> None:
    found = opened(page, query)
    assert any(said in problem for problem in found.problems)
    assert all(problem.isprintable() and problem.endswith(".") for problem in found.problems)
    assert len(found.problems) == 1  # without a declaration nothing of it is there, which is said
    assert rest is None or found.query == opened(page, rest).query


@pytest.mark.parametrize(
    ("page", "query", "said"), [one[:3] for one in {one[0]: one for one in WRONG[::-1]}.values()]
)
def test_it_is_said_on_the_page(visit: Visit, page: str, query: str, said: str) -> None:
    app = visit(page, **parse_qs(query))
    assert page == "home" or "Not all of this link could be used" in words(app)
    assert said in words(app)
    assert not any(re.search(r"(?<!\\)<", warning.value) for warning in app.warning)  # escaped


@pytest.mark.parametrize("page", first(LINKS, ("explore", "tradeoffs", "home", "users").__contains__))
def test_coming_back_from_another_page_keeps_what_was_seen(visit: Visit, page: str) -> None:
    app = visit(page, **LINKS[page])
    seen = part(app, page).query
    go(app, "runs")
    go(app, page)
    assert part(app, page).query == seen
    address = {key: found if isinstance(found, list) else [found] for key, found in app.query_params.items()}
    assert page == "home" or address == parse_qs(seen)  # whose slider writes it, in the browser


def test_the_address_follows_the_comparison_and_the_tab_only(visit: Visit) -> None:
    app = visit("explore", c=["envp.H.5"])
    before = dict(app.query_params)
    next(s for s in app.sidebar.select_slider if "ε" in s.label).set_value(0.3).run()
    assert dict(app.query_params) == before
    app.button(key="run").click().run()
    assert len(app.query_params["c"]) == 2
    assert "tab" not in app.query_params  # Regret is what a link shows that says nothing else


def test_going_back_brings_the_earlier_comparison(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit("explore", c=["envp.H.5"])
    chip(app, "Add this run without privacy", 0).click().run()
    assert len(app.session_state["session"].explore.curves) == 2
    monkeypatch.setattr(state, "went_back", lambda: True)
    follow(app, {"c": ["envp.H.5"]})
    assert len(app.session_state["session"].explore.curves) == 1
    follow(app, {})
    assert len(app.session_state["session"].explore.curves) == 1  # an address without a link says nothing


def test_what_is_pressed_before_the_browser_knows_the_new_address_does_not_bring_back_the_old(
    visit: Visit,
) -> None:
    app = visit("explore", c=["envp.H.5"])
    chip(app, "Add this run without privacy", 0).click().run()
    app.query_params.clear()
    app.query_params["c"] = ["envp.H.5"]
    app.button(key="reset").click().run()
    assert len(app.session_state["session"].explore.curves) == 2


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
    for page, letters, said in (
        ("home", gone, "this version does not have"),
        ("home", "abc", "8 letters"),
        ("explore", "BCDFGHJK", "not a short link on this server"),
    ):
        (warning,) = visit(page, s=letters).warning
        assert said in warning.value


def test_where_it_cannot_be_made_the_reason_is_said(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dprl.runs.rooms.MOST_LETTERS", 10)
    app = visit("explore", **CURVES)
    press(app, "shorten")
    assert "copy the whole link" in app.toast[0].value
    assert app.session_state["session"].short == {}


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


CURVE = "envp.S.3~envp.H.3~K.1000~seeds.1"
WITH_SETTINGS = [path for path, page in PAGES.items() if page.settings]


def settings(app: AppTest) -> dict[str, bool]:
    """Whether each widget of the sidebar can be used."""
    kinds = ("selectbox", "select_slider", "text_input", "multiselect", "toggle", "text_area", "button")
    widgets = [widget for kind in kinds for widget in app.sidebar.get(kind)]
    return {f"{one.type} {getattr(one, 'label', '')}": not one.proto.disabled for one in widgets}


@pytest.mark.parametrize("page", first(WITH_SETTINGS, lambda page: page in ("explore", "offline")))
def test_all_settings_are_shown_and_locked_and_it_is_said(visit: Visit, page: str) -> None:
    free, locked = visit(page), visit(page, lock="all")
    assert settings(locked).keys() == settings(free).keys()
    assert [name for name, usable in settings(locked).items() if usable] == []
    assert any(settings(free).values())
    said = words(locked)
    assert "Whoever made this link has locked the settings. [Open it without the lock](?" in said
    assert "lock=" not in said
    assert "has locked" not in words(free)


@pytest.mark.parametrize(
    ("text", "usable", "fixed"),
    [
        ("epsilon,seeds", {"Episodes K"}, {"Privacy budget ε", "Privacy budget ε, exact value", "Seeds"}),
        ("all,-epsilon", {"Privacy budget ε", "Privacy budget ε, exact value"}, {"Episodes K", "Seeds"}),
        ("environment", {"Algorithm"}, {"Environment", "S", "H", "variant"}),
    ],
)
def test_some_settings_are_locked(visit: Visit, text: str, usable: set[str], fixed: set[str]) -> None:
    all_of_them = settings(visit("explore", c=[CURVE], lock=text))
    found = {name.partition(" ")[2]: free for name, free in all_of_them.items()}
    assert {found[label] for label in usable} == {True}
    assert {found[label] for label in fixed} == {False}


def test_a_lock_stays_in_the_address_and_goes_with_a_link_that_has_none(visit: Visit) -> None:
    app = visit("explore", c=[CURVE], lock="all,-epsilon")
    next(t for t in app.sidebar.text_input if t.label.endswith("exact value")).input("0.5").run()
    app.button(key="run").click().run()
    assert app.query_params["lock"] == "all,-epsilon"
    assert app.session_state["session"].explore.query.endswith("&lock=all,-epsilon")
    follow(app, {"c": [f"{CURVE}~priv.none"]})
    assert all(settings(app).values()) or "has locked" not in words(app)
    assert app.session_state["session"].locked == frozenset()


@pytest.mark.parametrize("text", ["colour", "all,-colour", "", "-", "a" * 401, "epsilon;seeds", "🙂"])
def test_what_cannot_be_locked_gets_one_sentence(visit: Visit, text: str) -> None:
    app = visit("explore", c=[CURVE], lock=text)
    (warning,) = app.warning
    assert warning.value.count("lock\\:") == 1


def test_a_locked_link_is_made_by_a_switch(visit: Visit) -> None:
    app = visit("explore", c=[CURVE])
    next(t for t in app.toggle if t.key == "locking").set_value(True).run()
    app.button(key="shorten").click().run()
    (code,) = app.session_state["session"].short.values()
    assert settings(app)["button Reset"]  # here nothing is locked
    other = visit("explore", s=code)
    assert "has locked the settings" in words(other)
    assert 'embed=true" width="100%"' in next(c.value for c in app.code if "iframe" in c.value)


@pytest.mark.parametrize("page", ["explore", "home", "offline", "tradeoffs"])
def test_within_another_page_the_first_chart_stands_with_its_sentence(
    visit: Visit, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamlit.runtime.context.ContextProxy.is_embedded", True)
    app = visit(page)
    assert app.session_state["session"].alone
    assert len([m for m in app.markdown if m.value.startswith("[Open the whole page](?")]) == 1
    assert charts(app)
