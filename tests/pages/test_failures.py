"""What fails, on a page or in what its widgets call, never leaves it blank, whatever a browser sends and when."""

from __future__ import annotations

import ast
import re

import pytest

from dprl.runs.store import Store
from pages.shared.visitor.callbacks import FAILED, on_value
from tests.pages.conftest import ROOT, Visit, chip, press, sent, tabs, widget, words

SMALL = "envp.S.3~envp.H.3~K.1000~seeds.2"
SAFE = ("callback", "on_value")  # what makes a callback safe


def safe(value: ast.expr) -> bool:
    """Whether a callback is a word of Streamlit's own, one that does nothing, or one that catches its errors."""
    if isinstance(value, ast.IfExp):
        return safe(value.body) and safe(value.orelse)
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).lstrip("_") in SAFE
    if isinstance(value, ast.Lambda):
        return isinstance(value.body, ast.Constant)
    return isinstance(value, ast.Constant)


def test_callbacks_catch_their_errors_and_no_key_of_the_browsers_state_is_taken_for_granted() -> None:
    for file in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                called = re.fullmatch("on_(click|select|.*change)", keyword.arg or "")
                assert not called or safe(keyword.value), (file, keyword.lineno)
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Store):
                assert ast.unparse(node.value) != "st.session_state", (file, node.lineno)


def test_a_widget_that_is_gone_says_nothing() -> None:
    got: list[object] = []
    on_value("no widget has this key", got.append)()
    assert got == []


def test_a_press_that_fails_is_said_and_the_page_stays(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app = visit("explore", c=[SMALL])

    def crash(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("pages.shared.controls.launch.add", crash)
    widget(app, "text_input", "Privacy budget ε, exact value").input("0.7").run()
    press(app, "run")
    assert [t.value.replace("\\", "") for t in app.toast] == [FAILED]
    assert [t.value for t in app.title] == ["How fast does a private algorithm learn?"]
    assert len(app.session_state["session"].explore.curves) == 1
    assert "planted" in caplog.text
    assert "planted" not in words(app)


def test_a_tab_pressed_while_the_one_before_is_being_drawn_is_opened(visit: Visit) -> None:
    app = visit("explore", c=[SMALL])
    known = tabs(app)
    for late, tab in (("Counts", "counts"), ("Policy", "policy"), ("Regret", "regret")):
        sent(app, known, string_value=late)  # by the browser, which knows the first drawing only
        assert app.session_state["session"].explore.view.tab == tab


@pytest.mark.parametrize("place", [0, 1])
def test_a_second_press_on_what_the_first_removed_does_nothing(visit: Visit, place: int) -> None:
    """Nor does it meet the curve that has moved up."""
    app = visit("explore", c=[SMALL, "eps.3"])
    remove = chip(app, "Remove", place).proto.id
    for _ in range(2):
        sent(app, remove, trigger_value=True)
        assert list(app.toast) == []
    assert len(app.session_state["session"].explore.curves) == 1


def test_a_crash_is_one_sentence_without_a_traceback(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit("bare")

    def crash(*_: object) -> None:
        raise RuntimeError("planted secret")

    monkeypatch.setattr("pages.explore.tabs.regret_tab", crash)
    monkeypatch.setattr(Store, "status", crash)
    app.query_params["c"] = [SMALL]
    app.fails = True
    app.run()
    assert [e.value for e in app.exception] == []
    assert any("was written to the log" in e.value for e in app.error)
    assert "Back to Home" in [link.proto.label for link in app.get("page_link")]
    assert "planted" not in words(app)
