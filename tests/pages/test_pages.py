"""What visitors see, on every page, tab and state; and what fails there, which never leaves a page blank."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dprl.links import MAX_CURVES
from dprl.runs.database import StoreError
from dprl.runs.results import HELD
from dprl.runs.store import Store
from dprl.simulation import RunSpec
from pages.shared.examples import EXAMPLES, HOME_EPISODES, ExploreExample, trust
from pages.shared.names import titles
from pages.shared.visitor import links
from pages.shared.visitor.callbacks import FAILED, on_value
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.links import Curve
from tests.pages.conftest import (
    ROOT,
    Visit,
    Work,
    charts,
    chip,
    go,
    marked,
    press,
    sent,
    tabs,
    traces,
    widget,
    words,
)
from tests.runs import slots
from tests.runs.disk import Disk

SMALL = "envp.S.3~envp.H.3~K.1000~seeds.2"
PRIVATE = f"{SMALL}~eps.100"
SPEC = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=2, epsilon=100.0)
BUDGET = "Privacy budget ε, exact value"


def specs_of(app: AppTest) -> list[RunSpec]:
    """Those that are compared."""
    return [curve.spec for curve in app.session_state["session"].explore.curves]


def test_explore_opens_on_a_question_with_its_answer_and_computes_nothing(visit: Visit, store: Store) -> None:
    app = visit("explore")
    assert len(charts(app)) == 1
    assert "a trusted shuffler, and no trusted party" in words(app)
    assert not app.query_params
    assert store.activity().runs_waiting == 0
    assert specs_of(app) == [c.spec for c in trust(1.0, HOME_EPISODES).curves]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_an_example_is_drawn_at_once(visit: Visit, store: Store, example: ExploreExample) -> None:
    app = visit("explore")
    press(app, f"example_{example.title}")
    assert specs_of(app) == [c.spec for c in example.curves]
    assert len(charts(app)) == 1
    assert store.activity().runs_waiting == 0


def test_the_draft_of_the_settings_is_drawn_replaced_and_kept(visit: Visit, work: Work, store: Store) -> None:
    app = visit("explore")
    e = app.session_state["session"].explore
    widget(app, "text_input", BUDGET).input("0.25").run()
    (first,) = e.drafts
    assert first.epsilon == 0.25
    assert store.status(first).state == "queued"
    widget(app, "text_input", BUDGET).input("0.15").run()
    assert e.drafts[0].epsilon == 0.15
    assert store.status(first).state != "queued"  # nobody waits for it any more
    assert app.button(key="run").label == "Keep"
    assert work() == e.drafts[0].seeds
    app.run()
    drafts = [t for t in traces(app) if t["name"].startswith("Draft: Central ε = 0.15")]
    assert "4px,4px" in {t.get("line", {}).get("dash") for t in drafts}
    assert not app.query_params  # a draft is not in the address, but in what is copied for others
    (link,) = (
        p.json for p in (e.proto for e in app.get("bidi_component")) if p.component_name.endswith("copy_link")
    )
    assert (link.count("c="), link.count("eps.0.15")) == (5, 1)
    assert ("i", "4") in e.shared  # others have its settings in their controls
    assert "i" not in dict(replace(e, view=replace(e.view, tab="policy")).shared)  # its curve in detail stays
    (kept,) = e.drafts
    press(app, "keep4")
    assert e.curves[-1].spec == kept
    assert not e.drafts
    assert len(app.query_params["c"]) == 5
    assert "This run is in the comparison." in words(app)
    press(app, "run")
    assert [t.value for t in app.toast] == ["This run is already in the comparison."]


def test_the_first_draft_in_an_environment_is_drawn_with_the_same_run_without_privacy(visit: Visit) -> None:
    app = visit("explore")
    e = app.session_state["session"].explore
    widget(app, "text_input", "Privacy budget ε, exact value").input("0.3")
    widget(app, "selectbox", "Environment").select("chain").run()
    private, baseline = e.drafts
    assert (private.environment, private.privacy, private.epsilon) == ("chain", "central", 0.3)
    assert baseline == private.baseline()
    assert "the same run without privacy" in words(app)
    press(app, "keep5")
    assert e.curves[-1].spec == baseline
    assert [spec.privacy for spec in e.drafts] == ["central"]
    press(app, "run")
    assert [curve.spec.environment for curve in e.curves[4:]] == ["chain", "chain"]
    assert not e.drafts


def test_a_draft_that_takes_long_says_its_time_and_waits_for_run(visit: Visit, store: Store) -> None:
    app = visit("explore")
    widget(app, "text_input", "Seeds").input("100").run()
    assert app.session_state["session"].explore.drafts == []
    assert store.activity().runs_waiting == 0
    assert app.button(key="run").label == "Run"
    assert "once started" in words(app)


def test_cancelled_failed_and_lost_runs_have_their_own_words(visit: Visit, store: Store) -> None:
    app = visit("explore", c=[PRIVATE, "eps.50"])

    def states() -> list[str]:
        return [store.status(spec).state for spec in specs_of(app)]

    press(app, "cancel")
    assert states() == ["cancelled"] * 2
    assert "2 runs of 2 not computed: 4 seeds" in words(app)
    press(app, "begin")
    assert states() == ["queued"] * 2
    assert slots.work(store, slots.failing("It broke <b>badly</b>.")) == 4
    app.run()
    said = marked(app)
    assert "2 runs failed" in said
    assert "<b>badly" not in said  # escaped
    assert "It broke" in said
    assert app.button(key="retry").label == "Try again"
    press(app, "retry")
    assert states() == ["queued"] * 2


def test_a_store_that_was_set_aside_is_said(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "notice", "The store was damaged and was set aside as x.sqlite.")
    assert "set aside as x" in words(visit())


def test_names_are_shown_as_written_and_never_interpreted(finished: Visit, visit: Visit) -> None:
    name = "<img src=x onerror=alert(1)> **b** [l](javascript:x) :smile: $x$ www.evil.com"
    app = finished("explore", c=[f"{PRIVATE}~name.{name}"], each="on")
    assert app.session_state["session"].explore.curves[0].name == links.clean_name(name)
    for said in marked(app).split("\n"):
        bare = re.sub(r"\\[<\[*$]", "", said)
        assert not [word for word in ("<img", "[l]", "**b**", "www.evil") if word in bare]
    assert "<img" not in json.dumps(traces(app))
    for tab in ("counts", "policy", "guarantee", "data"):
        visit("explore", c=[f"{PRIVATE}~name.{name}"], tab=tab)


def test_a_menu_is_not_told_what_it_offered_under_another_name(visit: Visit) -> None:
    """A browser says again what stood in a menu, in the words of before."""
    app = visit("explore", c=[PRIVATE, "eps.50"], tab="data")
    (menu,) = (box for box in app.main.selectbox if box.label == "Curve")
    before, other = menu.proto.options
    next(field for field in app.text_input if field.label == "Name").set_value("mine").run()
    sent(app, menu.proto.id, string_value=before)
    assert [toast.value for toast in app.toast] == []
    assert [box.options for box in app.selectbox if box.label == "Curve"] == [["mine", other]]


def test_runs_lists_only_ones_own(finished: Visit, visit: Visit) -> None:
    finished("explore", c=[PRIVATE])
    app = visit("runs")
    assert "You have no runs yet" in words(app)
    app = visit("explore", c=[PRIVATE, "eps.50"])
    go(app, "runs")
    for said in ("ε = 100", "ε = 50", "Waiting: next", "Finished: 2 seeds"):
        assert said in words(app)
    press(app, "cancel_0")
    assert "Cancelled" in words(app)
    press(app, "clear")
    assert "You have no runs yet" in words(app)


def test_comparisons_are_told_apart_and_counted(visit: Visit) -> None:
    app = visit("explore", c=[PRIVATE] + [f"eps.{i}~col.{i}" for i in range(1, MAX_CURVES)])
    labels = {popover.proto.popover.label for popover in app.get("popover")}
    assert len([label for label in labels if "ε" in label]) == MAX_CURVES
    assert app.button(key="run").disabled
    assert f"A comparison has at most {MAX_CURVES} curves" in words(app)


def test_a_run_is_shown_beside_the_present_comparison(visit: Visit) -> None:
    app = visit("explore", c=[PRIVATE])
    chip(app, "Remove", 0).click().run()
    app.button(key="reset").click().run()
    app.button(key="run").click().run()
    go(app, "runs")
    [b for b in app.button if str(b.key).startswith("show_")][-1].click().run()
    assert specs_of(app) == [RunSpec(), RunSpec().baseline(), SPEC]
    assert app.session_state["session"].draft == draft_of(SPEC)  # the settings follow what is shown


def test_a_store_that_cannot_answer_is_a_sentence(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit("explore", c=[PRIVATE])

    def busy(*_: object, **__: object) -> None:
        raise StoreError("The store cannot be used now.")

    monkeypatch.setattr(Store, "ask", busy)
    monkeypatch.setattr(Store, "cancel", busy)
    widget(app, "text_input", "Privacy budget ε, exact value").input("3").run()
    press(app, "run")
    assert [t.value.replace("\\", "") for t in app.toast] == ["The store cannot be used now."]
    press(app, "cancel")
    assert len(app.session_state["session"].explore.curves) == 1


def test_a_full_disk_is_said_and_results_are_shown_all_the_same(
    disk: Disk, visit: Visit, store: Store, work: Work
) -> None:
    app = visit("explore", c=[PRIVATE])
    disk.full = True
    work()
    store.results.write()
    app.run()
    assert [w.value.replace("\\", "") for w in app.warning] == [
        HELD.format("The store of runs cannot be used now (its disk is full).")
    ]
    assert store.status(SPEC).state == "done"
    assert len(charts(app)) == 1
    disk.full = False
    store.results.write()
    app.run()
    assert list(app.warning) == []


def test_a_title_says_the_difference_not_what_follows_from_it() -> None:
    old = SPEC.replace(bonus="paper")
    specs = [old, SPEC, old.replace(algorithm_params={"cap": "H-h"})]
    found = titles([Curve(spec) for spec in specs])
    assert found == [
        "Central ε = 100, cap H, bonus paper",
        "Central ε = 100, bonus anytime",
        "Central ε = 100, cap H-h, bonus paper",
    ]


def test_a_browser_that_says_again_what_was_never_switched_pauses_nothing(visit: Visit, work: Work) -> None:
    app = visit("explore", c=[SMALL])
    toggle = widget(app, "toggle", "Pause live updates")
    work()
    app.run()
    assert not any(t.label == "Pause live updates" for t in app.toggle)
    app.query_params["c"] = [f"{SMALL}~eps.3"]
    sent(app, toggle.proto.id, bool_value=False)
    assert not app.session_state["session"].paused


def test_an_example_and_later_runs_do_not_inherit_a_pause(visit: Visit, work: Work) -> None:
    app = visit("explore", c=[SMALL])
    widget(app, "toggle", "Pause live updates").set_value(True).run()
    assert app.session_state["session"].paused
    work()
    app.run()
    assert not app.session_state["session"].paused
    chip(app, "Remove", 0).click().run()
    app.session_state["session"].paused = True
    press(app, f"example_{EXAMPLES[0].title}")
    assert not app.session_state["session"].paused


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
