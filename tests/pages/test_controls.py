"""The settings describe a run, and each bad value gets one clear sentence."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dprl.privacy import MECHANISMS
from dprl.simulation import RunSpec
from pages.shared.controls.launch import described
from pages.shared.names import titles
from pages.shared.visitor.draft import draft_of, spec_from
from pages.shared.visitor.links import Curve, View, encode
from tests.pages.conftest import Visit, chip, grouped, keyed, path, press, sent, widget, words
from tests.problems import STAGED, first


def spec(app: AppTest) -> Any:
    """The run that the settings describe, if they describe one."""
    return described(lambda: spec_from(app.session_state["session"].draft))[0]


@pytest.mark.parametrize("algorithm", first(sorted({algorithm for algorithm, _ in STAGED})))
def test_a_learner_that_lists_policies_offers_a_small_environment(visit: Visit, algorithm: str) -> None:
    app = visit("bare")
    widget(app, "selectbox", "Algorithm").select(algorithm).run()
    press(app, "small")
    found = spec(app)
    assert (found.environment, found.algorithm, found.schedule) == ("random", algorithm, "own")
    assert not [w for w in app.sidebar.selectbox if w.label == "Policy updates"]
    widget(app, "selectbox", "Algorithm").select("dp-ucbvi").run()
    assert spec(app).schedule == RunSpec().schedule


def test_what_proves_pure_epsilon_needs_no_delta_and_leaves_the_way_back(visit: Visit) -> None:
    app = visit("bare")
    widget(app, "selectbox", "Privacy model").select("local").run()
    assert spec(app) == RunSpec(privacy="local")
    assert "so no δ is needed" in words(app)
    widget(app, "selectbox", "Mechanism").select("gaussian").run()
    assert spec(app) == RunSpec(privacy="local", mechanism="gaussian", reports="played")
    widget(app, "selectbox", "Mechanism").select("unary").run()
    assert spec(app) == RunSpec(privacy="local")


def test_delta_zero_leaves_what_proves_something_and_says_so(visit: Visit) -> None:
    app = visit("bare")
    assert widget(app, "text_input", "Privacy budget δ").value == "1e-06"  # the default is seen
    widget(app, "text_input", "Privacy budget δ").input("0").run()
    found = spec(app)
    assert (found.mechanism, found.delta) == ("laplace-tree", 0.0)
    assert widget(app, "selectbox", "Mechanism").options == [MECHANISMS["laplace-tree"].title]
    assert "At δ = 0, you can choose only Laplace tree." in words(app)
    widget(app, "text_input", "Privacy budget δ").input("").run()
    assert spec(app) == RunSpec()


def test_delta_can_be_tied_to_the_users_and_then_follows_them(visit: Visit) -> None:
    app = visit("bare")
    app.button(key="tie").click().run()
    assert widget(app, "text_input", "Privacy budget δ").value == "1/(10K)"
    assert spec(app) == RunSpec(delta=1e-10)
    widget(app, "text_input", "Episodes K, exact value").input("1e7").run()
    assert spec(app) == RunSpec(delta=1e-8, episodes=10**7)
    widget(app, "text_input", "Privacy budget δ").input("1e-6").run()
    assert spec(app) == RunSpec(episodes=10**7)


def test_how_many_episodes_one_user_has_is_set_and_a_link_carries_it(visit: Visit) -> None:
    field = "Most episodes of one user"
    app = visit("bare")
    widget(app, "text_input", field).input("3").run()
    several = RunSpec(contribution=3)
    assert spec(app) == several
    press(app, "run")
    assert app.query_params["c"] == ["m.3", "priv.none~m.1"]
    assert "up to 3 episodes a user" in titles(app.session_state["session"].explore.curves)[0]
    again = visit("explore", **grouped(encode([Curve(several)], View())))
    assert [one.spec for one in again.session_state["session"].explore.curves] == [several]
    assert spec(again) == several
    widget(again, "selectbox", "Privacy model").select("none").run()
    assert not [one for one in again.text_input if one.label == field]
    assert spec(again) == RunSpec(privacy="none")


@pytest.mark.parametrize(
    ("page", "label", "given", "sentence"),
    [
        ("tradeoffs", "Values", "1, x", "epsilon: x is not allowed"),
        ("tradeoffs", "Values", "", "values: 0 values were given"),
        ("offline", "Values of ρ", "0.1, x", "rho: x is not allowed"),
        ("offline", "Values of ρ", "", "values: 0 values were given"),
        ("offline", "Values of ρ", "1,2,3,4,5,6,7,8", "values: these values make 9 curves"),
        ("bare", "Privacy budget ε, exact value", "", "epsilon: an empty value is not allowed"),
        ("bare", "Episodes K, exact value", "1e99", "episodes: 1e99 is not allowed"),
        ("bare", "S", "two", "S: two is not allowed"),
        ("bare", "Seeds", "10001", "seeds: 10001 is not allowed"),
        ("bare", "Root seed", "<script>", "root_seed:"),
        ("bare", "Most episodes of one user", "0", "contribution: 0 is not allowed"),
        ("bare", "Failure probability β", "7", "beta: 7 is not allowed"),
        ("bare", "Growth η of a block", "9", "schedule: 9 is not allowed"),
    ],
)
def test_a_bad_value_gets_one_sentence_and_can_be_mended(
    visit: Visit, page: str, label: str, given: str, sentence: str
) -> None:
    app = visit(page)
    before = widget(app, "text_input", label).value
    widget(app, "text_input", label).input(given).run()
    assert sentence in words(app)
    assert app.button(key="run").disabled
    widget(app, "text_input", label).input(before).run()
    assert not app.button(key="run").disabled
    assert sentence not in words(app)
    assert page != "bare" or spec(app) == RunSpec()


def test_run_takes_what_was_typed_last_though_both_come_at_once(visit: Visit) -> None:
    """A press on Run is what makes a browser send what stands in the field that it leaves."""
    app = visit("bare")
    keyed(app, "text_input", "epsilon:exact").input("0.4")
    press(app, "run")
    (private, _) = app.session_state["session"].explore.curves
    assert private.spec.epsilon == 0.4
    keyed(app, "text_input", "epsilon:exact").input("-1").run()
    assert app.button(key="run").disabled
    assert app.session_state["session"].explore.drafts == []
    assert "Correct the value marked in red first." in words(app)


def test_a_press_on_run_is_forgotten_where_another_page_comes_before_it_is_read(visit: Visit) -> None:
    app = visit("bare")
    app.session_state["session"].pressed = "explore"
    for page in ("offline", "explore"):
        app.switch_page(path(page)).run()
    assert app.session_state["session"].explore.curves == []


def test_a_browser_that_still_shows_a_replaced_slider_cannot_send_its_value(visit: Visit) -> None:
    app = visit("bare")
    before = keyed(app, "select_slider", "epsilon:slider").value
    late = keyed(app, "select_slider", "epsilon:slider")._widget_state
    keyed(app, "text_input", "epsilon:exact").input("0.4").run()
    sent(app, late.id, string_array_value=late.string_array_value)
    assert keyed(app, "text_input", "epsilon:exact").value == "0.4"
    assert keyed(app, "select_slider", "epsilon:slider").value == 0.5
    assert spec(app) == RunSpec(epsilon=0.4)
    keyed(app, "select_slider", "epsilon:slider").set_value(before).run()
    assert spec(app) == RunSpec(epsilon=before)
    keyed(app, "select_slider", "epsilon:slider").set_value(0.7).run()
    assert spec(app) == RunSpec(epsilon=0.7)
    assert keyed(app, "text_input", "epsilon:exact").value == "0.7"


def test_five_controls_come_first_and_the_rest_is_folded(visit: Visit) -> None:
    app = visit("bare")
    kinds = ("selectbox", "select_slider", "text_input")
    folded = {id(w) for fold in app.sidebar.expander for kind in kinds for w in fold.get(kind)}
    seen = [getattr(w, "label", "") for kind in kinds for w in app.sidebar.get(kind) if id(w) not in folded]
    exact = ["Privacy budget ε, exact value", "Episodes K, exact value"]
    assert seen == ["Environment", "Algorithm", "Privacy model", "Privacy budget ε", "Episodes K", *exact]
    assert len(folded) > 10


@pytest.mark.parametrize(
    ("page", "label", "typed"),
    [("explore", "S", "4"), ("offline", "Values of ρ", "0.3, 3"), ("tradeoffs", "Values", "0.3, 3")],
)
def test_a_reset_is_undone_until_something_else_is_done(
    visit: Visit, page: str, label: str, typed: str
) -> None:
    app = visit(page)
    at_first = widget(app, "text_input", label).value
    widget(app, "text_input", label).input(typed).run()
    press(app, "reset")
    assert widget(app, "text_input", label).value == at_first
    press(app, "undo_reset")
    assert widget(app, "text_input", label).value == typed
    press(app, "reset")
    widget(app, "text_input", label).input(typed).run()
    assert app.button(key="reset")


def test_what_was_typed_for_an_environment_is_still_there_when_one_comes_back(visit: Visit) -> None:
    app = visit("bare")
    widget(app, "text_input", "H").input("7").run()
    widget(app, "selectbox", "Environment").select("random").run()
    assert widget(app, "text_input", "H").value == "10"
    widget(app, "selectbox", "Environment").select("riverswim").run()
    assert widget(app, "text_input", "H").value == "7"


def test_chips_hide_rename_duplicate_remove(visit: Visit) -> None:
    app = visit("explore", c=["eps.0.5~envp.H.5", "priv.none"])
    session = app.session_state["session"]
    chip(app, "Hide", 0).click().run()
    assert session.explore.curves[0].hidden
    assert "hide.yes" in app.query_params["c"][0]
    chip(app, "Show", 0).click().run()
    next(t for t in app.main.text_input if t.label == "Name").input("mine *x*").run()
    assert session.explore.curves[0].name == "mine *x*"
    assert "name.mine *x*" in app.query_params["c"][0]
    press(app, "reset")
    chip(app, "Copy settings", 0).click().run()
    assert spec(app) == session.explore.curves[0].spec
    chip(app, "Remove", 0).click().run()
    assert [c.spec.privacy for c in session.explore.curves] == ["none"]
    chip(app, "Remove", 0).click().run()
    assert session.explore.curves == []
    assert not app.query_params


def test_a_curve_that_was_removed_comes_back_to_its_place(visit: Visit) -> None:
    app = visit("explore", c=["eps.0.5~envp.H.5", "priv.none", "eps.3"], i="2")
    before = list(app.session_state["session"].explore.curves)
    chip(app, "Remove", 1).click().run()
    widget(app, "button", "Restore the removed curve").click().run()
    assert app.session_state["session"].explore.curves == before
    assert app.session_state["session"].explore.view.curve == 2
    assert len(app.query_params["c"]) == 3
    assert [b for b in app.button if b.label == "Restore the removed curve"] == []
    for _ in before:
        chip(app, "Remove", 0).click().run()
    widget(app, "button", "Restore the removed curve").click().run()
    assert app.session_state["session"].explore.curves == before[-1:]


@pytest.mark.parametrize(
    "given",
    [
        RunSpec(),
        RunSpec().baseline(),
        RunSpec(environment="random", algorithm="ucbvi", bonus="paper"),
        RunSpec(calibration="paper"),
        RunSpec(mechanism="gaussian-tree", delta=1e-8),
        RunSpec(privacy="shuffle", bonus="paper"),
        RunSpec(schedule="episodic", episodes=10**6),
        RunSpec(structure="environment"),
        RunSpec(privacy="local", mechanism="unary", reports="played"),
        RunSpec(privacy="local", mechanism="unary"),
        RunSpec(privacy="local", reports="played"),
        RunSpec(environment="custom", algorithm="sdp-pe", environment_params={"H": 3}, episodes=10**6),
    ],
)
def test_a_spec_survives_the_controls(given: RunSpec) -> None:
    assert spec_from(draft_of(given)) == given


def test_what_is_possible_can_be_declared_and_taxi_runs_so(visit: Visit) -> None:
    app = visit("bare")
    widget(app, "selectbox", "Public structure").select("environment").run()
    assert spec(app) == RunSpec(structure="environment")
    widget(app, "selectbox", "Environment").select("gymnasium/Taxi-v3").run()
    assert spec(app) is None
    assert "structure=environment" in words(app)
    widget(app, "selectbox", "Public structure").select("environment").run()
    found = spec(app)
    assert (found.environment_params["id"], found.structure) == ("Taxi-v3", "environment")
    assert not app.button(key="run").disabled


def test_a_typed_number_counts_without_enter(visit: Visit) -> None:
    """Streamlit sends it once nothing more is typed; words, which may be half written, wait for Enter."""
    field = widget(visit("bare"), "text_input", "Privacy budget ε, exact value")
    assert 500 <= field.proto.live_debounce_ms <= 1500
