"""Hostile links on the page itself: each is answered by a page, with a sentence where something was wrong."""

from __future__ import annotations

import pytest

from pages.shared.visitor import address
from tests.pages.conftest import Visit, chip


def test_a_wrong_value_is_said_and_the_rest_is_shown(visit: Visit) -> None:
    app = visit("explore", v="1", c=["eps.-1~envp.H.5", "priv.none"], tab="policy", x="diagonal")
    (warning,) = app.warning
    said = warning.value.replace("\\", "")
    assert "epsilon: -1 is not allowed" in said
    assert "x: diagonal is not allowed" in said
    session = app.session_state["session"]
    assert [c.spec.environment_params["H"] for c in session.explore.curves] == [5, 5]
    assert session.explore.view.tab == "policy"


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
    chip(app, "Add the same seeds without privacy", 0).click().run()
    assert len(app.session_state["session"].explore.curves) == 2
    monkeypatch.setattr(address, "went_back", lambda: True)
    app.query_params.clear()
    app.query_params["c"] = ["envp.H.5"]
    app.run()
    assert len(app.session_state["session"].explore.curves) == 1
    app.query_params.clear()
    app.run()
    assert len(app.session_state["session"].explore.curves) == 1  # an address without a link says nothing


def test_what_is_pressed_before_the_browser_knows_the_new_address_does_not_bring_back_the_old(
    visit: Visit,
) -> None:
    app = visit("explore", c=["envp.H.5"])
    chip(app, "Add the same seeds without privacy", 0).click().run()
    app.query_params.clear()
    app.query_params["c"] = ["envp.H.5"]
    app.button(key="reset").click().run()
    assert len(app.session_state["session"].explore.curves) == 2
