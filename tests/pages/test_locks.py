"""`lock=` in a link: what is shown and cannot be changed, and who says so; and a page within another one."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dprl.sitemap import PAGES
from tests.pages.conftest import Visit, charts, words
from tests.problems import first

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
    app.query_params.clear()
    app.query_params["c"] = [f"{CURVE}~priv.none"]
    app.run()
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
