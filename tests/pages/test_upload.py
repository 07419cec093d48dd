"""Offline, the tab Your data: declared, read, released, looked at; and what a stranger with the link cannot do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.elements.widgets.file_uploader import DeletedFile
from streamlit.testing.v1 import AppTest

from dprl import UploadSpec
from dprl.fields import SpecError
from dprl.runs.store import Store
from dprl.sentences import price, verdict
from dprl.sentences import uploads as sentences
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.declaration import declaration_text
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.model import EXAMPLE, EXAMPLE_PEOPLE, example
from dprl.simulation.uploads.noise import noise_of
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.spent import rounded, together
from dprl.uploads import readings
from pages.data import form, receive
from pages.data.own import Own, spent
from pages.data.state import OwnData
from pages.shared.results import answers
from pages.users import link as users
from tests.pages.conftest import Page, Visit, Work, charts, press, words

PAGE = "data"
HEADING, *ROWS = example().splitlines(keepends=True)
CSV = HEADING + "".join(ROWS[:4000])


def own_of(app: AppTest) -> Own:
    session = app.session_state["session"]
    found: Own = session.part(OwnData).own
    return found


def given(app: Page, text: str = CSV) -> Page:
    app.file_uploader[-1].upload("people.csv", text.encode(), "text/csv").run()
    return app


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is taken out of the server's memory."""
    found: list[str] = []
    monkeypatch.setattr(receive, "drop_file", lambda file: found.append(file.name))
    return found


def labelled(elements: Any, label: str) -> Any:
    return next(element for element in elements if element.label == label)


def printed(app: Page) -> Page:
    """A visitor who chose the paper's learner."""
    own_of(app).algorithm = "dp-apvi"
    return app


@pytest.fixture
def released(visit: Visit, work: Work, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """A visitor with two finished releases of 2,000 people, who did not wait for the forecast."""
    app = given(printed(visit(PAGE)))
    with monkeypatch.context() as patch:
        patch.setattr(form, "warn", lambda asked: False)
        labelled(app.text_input, "Values of ρ to spend").set_value("1, 1000").run()
        press(app, "own_run")
    assert work() == 2
    app.run()
    return app


def test_the_form_opens_with_what_the_example_needs(visit: Visit) -> None:
    app = visit(PAGE)
    assert own_of(app).declared().text == declaration_text(EXAMPLE | {"columns": {}})
    said = words(app)
    assert "never read off the file" in said
    assert "nothing of the data" in said
    labelled(app.text_input, "States, separated by commas").set_value("hall, study, other").run()
    assert own_of(app).declared().size.S == 3
    labelled(app.radio, "Mean rewards").set_value("learned").run()
    assert own_of(app).declared().rewards is None
    labelled(app.text_input, "States, separated by commas").set_value("hall, hall").run()
    given(app)
    assert "declared.states: hall stands twice" in words(app)


def test_the_form_declares_what_a_file_of_ones_own_needs(visit: Visit) -> None:
    """Columns of other names, several first states, shorter episodes; and rewards are learned until a table has any."""
    app = visit(PAGE)
    labelled(app.text_input, "States, separated by commas").set_value("mild, severe, gone").run()
    labelled(app.text_input, "Actions, separated by commas").set_value("watch, treat").run()
    menu = labelled(app.multiselect, "First states of an episode")
    assert (menu.options, menu.value) == (["mild", "severe", "gone"], [])  # no state of the example's is left
    menu.set_value(["severe", "mild"]).run()
    start = own_of(app).declared().start
    assert start is not None
    assert start.tolist() == [0.5, 0.5, 0]
    often = labelled(app.text_input, "How often each of them is the first")
    for wrong in ("70", "70, many", "70, -70", "0, 0"):
        often.set_value(wrong).run()
        given(app)
        assert "declared.start" in words(app)
        assert "give 2 numbers that are not negative" in words(app)
        often = labelled(app.text_input, "How often each of them is the first")
    often.set_value("75%, 25%").run()
    labelled(app.selectbox, "Episodes with fewer steps").set_value("ended").run()
    assert sentences.SHORTER in words(app)
    assert own_of(app).declared().states == (
        "ended",
        "mild",
        "severe",
        "gone",
    )  # the last is for labels not declared
    start = own_of(app).declared().start
    assert start is not None
    assert start.tolist() == [0, 0.25, 0.75, 0]
    labelled(app.multiselect, "First states of an episode").set_value([]).run()
    assert own_of(app).declared().start is None  # estimated from the release
    labelled(app.multiselect, "First states of an episode").set_value(["severe", "mild"]).run()
    labelled(app.text_input, "States, separated by commas").set_value("").run()
    with pytest.raises(SpecError, match="give 1 to 10,000 labels"):
        own_of(app).declared()
    labelled(app.text_input, "States, separated by commas").set_value("mild, severe, gone").run()
    labelled(app.multiselect, "First states of an episode").set_value(["severe", "mild"]).run()
    labelled(app.selectbox, "Episodes with fewer steps").set_value("gone").run()
    for name, called in (("Episode", "stay"), ("Step", "visit"), ("Action", "drug")):
        labelled(app.text_input, name).set_value(called).run()
    public = own_of(app).declared()
    assert public.start is not None
    assert public.start.tolist() == [0.25, 0.75, 0]
    assert public.rewards is None
    assert public.absorbing == "gone"
    assert public.in_file == ("stay", "visit", "state", "drug", "reward")
    assert labelled(app.radio, "Mean rewards").value == "learned"
    rows = "".join(f"{i},1,mild,watch,1\n{i},2,severe,treat,0\n" for i in range(30)) + "30,1,severe,treat,1\n"
    given(app, f"stay,visit,state,drug,reward\n{rows}")
    said = words(app)
    assert "**31 trajectories** read: 3 states, 2 actions, 2 steps" in said
    assert "1 of 31 episodes have fewer steps than 2; they go on in gone." in said
    assert "First state: mild 25%, severe 75%" in said
    assert "Columns: stay, visit, state, drug, reward" in said


def test_a_malformed_file_gets_one_sentence_and_the_next_is_read(
    visit: Visit, tmp_path: Path, files: list[str]
) -> None:
    app = given(visit(PAGE), CSV.replace("0,1,", "0,7,", 1))
    assert "data: row 3, column step: step 1 of episode 0 is missing" in words(app)
    assert own_of(app).data is None
    assert list((tmp_path / "uploads").iterdir()) == []
    given(app)
    assert "**2,000 trajectories** read: 2 states, 2 actions, 2 steps" in words(app)
    assert "row 3" not in words(app)
    assert sorted(path.suffix for path in (tmp_path / "uploads").iterdir()) == [".npz", ".session"]
    assert files == ["people.csv"] * 2  # both are gone
    press(app, "own_forget")
    assert list((tmp_path / "uploads").iterdir()) == []
    assert "1. Declare" in words(app)


def test_how_far_a_file_is_read_is_seen_and_reading_may_be_stopped(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page takes over what was read when it is drawn next, and does nothing else with it."""
    monkeypatch.setattr(readings, "in_thread", lambda work: begun.append(work))
    begun: list[Callable[[], None]] = []
    app = given(visit(PAGE))
    reading = own_of(app).reading
    assert reading is not None
    receive.received(own_of(app), DeletedFile("a file that was dropped"))  # says a browser that lags behind
    assert own_of(app).reading is reading
    reading.share = 0.43
    app.run()
    assert app.get("progress")[0].proto.text == "Reading the file: 43%"
    assert not app.file_uploader
    press(app, "own_stop")
    assert own_of(app).reading is None
    begun.pop()()
    assert list((tmp_path / "uploads").iterdir()) == []
    given(app)
    begun.pop()()
    app.run()
    assert "**2,000 trajectories** read" in words(app)


def test_counts_that_have_gone_are_not_offered(visit: Visit) -> None:
    """A tab was away for so long that its counts went."""
    app = given(visit(PAGE))
    data = own_of(app).data
    assert data is not None
    kept.forget(data.data)
    app.run()
    assert sentences.GONE in words(app)
    given(app)
    assert "**2,000 trajectories** read" in words(app)
    assert sentences.GONE not in words(app)


def test_in_public_no_file_is_asked_for_unless_that_is_switched_on(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPRL_PUBLIC", "1")
    app = visit(PAGE)
    assert sentences.OFF in words(app)
    assert not app.file_uploader
    monkeypatch.setenv("DPRL_UPLOADS", "1")
    app.run()
    assert sentences.OFF not in words(app)
    given(app)
    assert "**2,000 trajectories** read" in words(app)


@pytest.mark.parametrize(("server", "page"), [(2, 2), (200, 200), (500, 200)])
def test_no_page_says_that_it_takes_more_than_the_server_does(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, server: int, page: int
) -> None:
    given = form.st.get_option
    monkeypatch.setattr(
        form.st, "get_option", lambda key: server if key == "server.maxUploadSize" else given(key)
    )
    app = visit(PAGE)
    assert [uploader.proto.max_upload_size_mb for uploader in app.file_uploader] == [2, page]
    app = visit("explore", c=["env.custom"])
    assert [uploader.proto.max_upload_size_mb for uploader in app.file_uploader] == [2]


def test_the_owner_alone_is_told_what_is_not_declared_before_it_is_released(
    visit: Visit,
    work: Work,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    strange = CSV.replace("study", "stuody", 8)
    app = given(visit(PAGE), strange)
    said = words(app)
    assert "Only for you: this note is not private" in said
    assert "rows have a label that you did not declare: stuody (" in said
    assert not app.button(key="own_run").disabled
    press(app, "own_run")
    assert work() == 1
    app.run()
    assert "What was released" in words(app)
    held = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(held) > 1
    assert not any(b"stuody" in content for content in held)
    assert "stuody" not in json.dumps(dict(app.query_params))
    app.button(key="own_forget").click().run()
    assert "stuody" not in words(app)
    assert own_of(app).outside == ()
    assert list((tmp_path / "uploads").iterdir()) == []  # as when the tab has gone: see test_belongings.py
    assert not any(b"stuody" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert "stuody" not in caplog.text
    monkeypatch.setattr(form.store(), "public", True)
    given(app, strange)
    assert "**2,000 trajectories** read" in words(app)
    assert "stuody" not in words(app)
    assert own_of(app).outside == ()


def test_a_bound_that_will_be_nothing_is_said_before_privacy_is_spent(visit: Visit, work: Work) -> None:
    app = given(printed(visit(PAGE)), HEADING + "".join(ROWS[:40]))
    labelled(app.text_input, "Values of ρ to spend").set_value("1").run()
    work()  # a question
    app.run()
    said = words(app)
    assert "**At ρ = 1 the bound is certainly 0**, except with a chance of 0.1" in said
    assert sentences.PAPER_CONSTANTS in said
    assert "users take an action in a state at a step" in said
    assert "noisy sums over" in said  # and how many are held out
    assert "It takes ρ of at least about" in said
    assert own_of(app).specs == ()
    assert app.button(key="own_run").disabled  # and it is not sold
    assert sentences.NOT_OFFERED in said
    (least,) = re.findall(r"It takes ρ of at least about ([0-9.,]+)", said.split("even where all")[0])
    labelled(app.text_input, "Values of ρ to spend").set_value(least.strip(",").replace(",", "")).run()
    work()
    app.run()
    assert sentences.NOT_OFFERED not in words(app)
    app.button(key="own_run").click().run()
    work()
    app.run()
    assert "The paper constants cause this, not privacy alone" in "".join(words(app).split("\\"))


def test_nothing_is_spent_before_the_forecast_is_there(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = given(visit(PAGE))
    with monkeypatch.context() as patch:
        patch.setattr(answers, "reach_of_release", lambda spec: answers.PENDING)
        app.run()
        assert sentences.ESTIMATING in words(app)
        assert app.button(key="own_run").disabled
    app.run()
    assert not app.button(key="own_run").disabled


@pytest.mark.thorough
def test_another_learner_is_one_more_release_and_its_bound_is_its_own(visit: Visit, work: Work) -> None:
    app = given(visit(PAGE), CSV)
    labelled(app.text_input, "Values of ρ to spend").set_value("100, 1000").run()
    app.button(key="own_run").click().run()
    work()
    app.run()
    menu = labelled(app.selectbox, "Algorithm for your data")
    assert menu.options == ["DP-KL-LCB", "DP-APVI", "DP plug-in"]
    menu.set_value("dp-apvi").run()
    app.button(key="own_run").click().run()
    work()
    app.run()
    said = "".join(words(app).split("\\"))
    assert "Spent so far: **ρ = 2,200, or (" in said or "Spent so far: **ρ = 2200, or (" in said  # twice
    assert "DP-APVI, ρ = 1000" in labelled(app.selectbox, "Release to look at").options
    own = own_of(app)
    later = Own(specs=own.specs[-2:], values=own.values)
    assert own_of(visit(PAGE, **dict(later.encode()))).algorithm == "dp-apvi"


def test_rewards_that_are_all_nothing_are_named_as_what_leaves_nothing(visit: Visit, work: Work) -> None:
    app = visit(PAGE)
    own_of(app).file = declaration_text(EXAMPLE | {"rewards": [[0.0, 0.0], [0.0, 0.0]]})
    app.run()
    app = given(app, HEADING + "".join(ROWS[:40]))
    work()
    app.run()
    assert sentences.WITHOUT_REWARDS in words(app)
    assert "the bound is certainly" not in words(app)


def test_what_is_released_is_shown_with_what_it_costs(released: AppTest, store: Store, work: Work) -> None:
    said = words(released)
    assert "Spent so far: **ρ = 1001, or (" in said
    assert "in 2 releases" in said
    found = own_of(released).data
    assert found is not None
    assert (
        f"From {found.learned_from:,} trajectories at ρ = 1000 the learned policy is worth at least 0."
        in said
    )
    assert "At ρ = 1 the bound is only 0." in said
    assert "Nobody knows v* here" in said
    assert "So large a budget protects nobody:** ρ = 1,000 is proved" in said
    assert [chart.alt.split()[0] for chart in charts(released)] == ["Heatmaps", "Line"]
    assert "what users got most often" in said
    assert sentences.BEFORE_USE in said
    labelled(released.text_input, "Values of ρ to spend").set_value("1000").run()
    press(released, "own_run")
    assert work() == 0  # the same again is the same
    assert "ρ = 1001" in words(released)


@pytest.mark.thorough
def test_the_sizes_of_the_data_lead_to_the_users_that_learning_online_would_take(released: AppTest) -> None:
    (link,) = [one.proto for one in released.get("page_link") if "online" in one.proto.label]
    asked, problems = users.decode(parse_qs(link.query_string))
    size = own_of(released).specs[-1].public.size
    assert (asked.users, asked.S, asked.A, asked.H) == (2000, size.S, size.A, size.H)
    assert problems == ()


@pytest.mark.thorough
def test_a_link_has_what_is_declared_and_asks_a_stranger_for_the_file(
    released: AppTest, visit: Visit, store: Store
) -> None:
    query = dict(released.query_params)
    data = own_of(released).data
    assert data is not None
    assert data.data not in json.dumps(query)
    assert "2000" not in json.dumps(query["up"])
    stranger = visit(PAGE, **query)
    assert "To release more, give the file again." in words(stranger)
    own = own_of(stranger)
    assert len(own.specs) == 2  # on this server the name of the budget brings back what was released
    elsewhere = visit(PAGE, **{name: value for name, value in query.items() if name != "ul"})
    assert "No link contains the data, so give the file below" in words(elsewhere)
    own = own_of(elsewhere)
    assert own.declared().text == data.declared
    assert own.values["zcdp"] == "1, 1000"
    assert (own.data, own.specs) == (None, ())
    assert not [button for button in elsewhere.button if button.key == "own_run"]
    given(stranger)
    assert "which travels in no link" not in words(stranger)
    found = own_of(stranger).data
    assert found is not None
    assert found.data != data.data  # read anew, it is another release


def test_the_fitted_model_is_taken_along_only_when_that_was_agreed_to(
    released: AppTest, store: Store
) -> None:
    assert "It is *not private*" in words(released)
    assert released.button(key="own_explore").disabled
    labelled(released.checkbox, "I may publish these frequencies").check().run()
    press(released, "own_explore")
    curve = released.session_state["session"].explore.curves[-1]
    assert curve.spec.environment == "custom"
    model = json.loads(curve.spec.environment_params["model"])
    assert model["name"] == "Fitted to data: an estimate, not private"
    assert curve.spec.environment_params["H"] == 2
    draft = released.session_state["session"].drafts["explore"]
    assert draft.environment == "custom"
    assert draft.environment_params["custom"] == curve.spec.environment_params
    assert released.selectbox[0].value == "custom"  # where Explore has been opened


def test_budgets_add_up_and_the_same_one_counts_once() -> None:
    base = UploadSpec(data="0" * 32, declared=declaration_text(EXAMPLE), n=5, rho=1)
    specs = [base, base.replace(rho=0.5), base.replace(beta=0.2)]
    assert spent(specs) == "ρ = 1.5"
    assert (
        spent([*specs, base.replace(algorithm="dp-apvi")]) == "ρ = 2.5"
    )  # of other sums, so noise of its own
    pure = [base.replace(privacy="pure", epsilon=e) for e in (1, 2)]
    assert spent(pure) == "ε = 3"
    both = 1.5 + sum(noise_of(spec)[0].guarantee.proved_rho or 0.0 for spec in pure)
    assert spent([*specs, *pure]) == f"ρ = {rounded(both):g}"
    one = together(draws_of(base.replace(privacy="approximate", epsilon=1, delta=1e-6)))
    assert one.implies == "(1, 10⁻⁶)"


def test_better_than_today_is_said_and_the_policy_taken_along(visit: Visit, work: Work) -> None:
    app = given(visit(PAGE), CSV)
    said = words(app)
    data = own_of(app).data
    assert data is not None
    assert data.held_out == 0.25
    assert f"**This releases** noisy counts of {data.learned_from:,} users at ρ = 0.1" in said
    assert f"three noisy sums over {data.checked:,} users held out" in said
    assert "**ρ = 0.1** is proved in all" in said
    app.button(key="own_run").click().run()
    work()
    app.run()
    said = words(app)
    (head,) = [box.value for box in app.success]
    assert head.startswith(
        "**Better than today, if nothing hidden drove the choices.** Under the learned policy users like these would "
        "get about 0."
    )
    for sentence in verdict.BLIND:
        assert sentence in said
    (table,) = (one.value for one in app.table)
    assert table.index.tolist()[:3] == ["Learned policy", "What users got", "Difference"]
    labels = [str(getattr(download, "label", "")) for download in app.get("download_button")]
    assert {"Policy (JSON)", "Policy (CSV)", "Release (JSON)"} <= set(labels)
    menu = labelled(app.selectbox, "Algorithm for your data")
    menu.set_value("dp-plug-in").run()
    assert "**ρ = 0.2** is proved in all" in words(app)  # those held out are asked about another policy
    app.button(key="own_run").click().run()
    work()
    app.run()
    assert "ranks actions and bounds nothing" in words(app)
    assert "Spent so far: **ρ = 0.2, or (" in words(app)


def test_a_reload_loses_neither_the_result_nor_what_was_spent(visit: Visit, work: Work) -> None:
    app = visit(PAGE)
    labelled(app.text_input, "Name of the budget").set_value("ward 2026").run()
    labelled(app.number_input, "Total ρ of the budget").set_value(0.25).run()
    app = given(app)
    app.button(key="own_run").click().run()
    work()
    app.run()
    told = words(app)
    assert "Name of the budget: ward 2026" in told
    assert "The budget **ward 2026** has the total ρ = 0.25. Spent so far: **ρ = 0.1, or (" in told
    (head,) = [box.value for box in app.success]
    assert not own_of(app).recalled
    again = visit(PAGE, **dict(app.query_params))
    assert [box.value for box in again.success] == [head]
    assert "Spent so far: **ρ = 0.1, or (" in words(again)
    assert Budget("ward 2026").releases == own_of(app).specs
    given(again)
    assert "This file was read before under the budget ward 2026" in words(again)
    assert "**ρ = 0.2** is proved in all" in words(again)
    labelled(again.text_input, "Values of ρ to spend").set_value("0.16").run()
    assert again.button(key="own_run").disabled
    assert "with this release it would be ρ = 0.26" in words(again)
    labelled(again.text_input, "Values of ρ to spend").set_value("0.15").run()
    again.button(key="own_run").click().run()
    work()
    again.run()
    assert "Spent so far: **ρ = 0.25, or (" in words(again)
    assert labelled(again.selectbox, "Release to look at").options == [
        "ρ = 0.1, reading 1",
        "ρ = 0.15, reading 2",
    ]


@pytest.mark.thorough
def test_a_declaration_too_long_for_a_link_is_brought_back_by_the_budget(visit: Visit, work: Work) -> None:
    app = visit(PAGE)
    noted = EXAMPLE | {
        "states": [
            *EXAMPLE["states"],
            *(f"a room that nobody is ever in, on the top floor, {i}" for i in range(80)),
        ]
    }
    own_of(app).file = declaration_text(noted | {"rewards": 0.5})
    app.run()
    app = given(app)
    app.button(key="own_run").click().run()
    work()
    app.run()
    query = dict(app.query_params)
    assert "up" not in query
    again = visit(PAGE, **query)
    assert "Spent so far: **ρ = 0.1, or (" in words(again)
    assert own_of(again).specs == own_of(app).specs
    assert own_of(again).declared().text == own_of(app).declared().text


def test_in_public_no_budget_has_a_name(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = visit(PAGE)
    monkeypatch.setattr(form.store(), "public", True)
    app.run()
    assert not [box for box in app.text_input if box.label == "Name of the budget"]
    given(app)
    assert not (tmp_path / "budgets").exists()


def test_many_undeclared_labels_are_counted_only_if_the_owner_agrees(visit: Visit) -> None:
    odd = CSV.replace("study", "Study")
    app = given(visit(PAGE), odd)
    assert own_of(app).data is None
    assert "in column state that is not declared, such as Study" in words(app)
    labelled(app.checkbox, "Count labels that are not declared as the last declared label").check().run()
    given(app, odd)
    assert own_of(app).data is not None
    assert "Study (" in words(app)
    app.button(key="own_forget").click().run()
    given(app, odd)  # the next file has to be agreed to again
    assert own_of(app).data is None


def test_a_person_may_have_several_episodes_and_a_point_a_worth(visit: Visit, work: Work) -> None:
    app = visit(PAGE)
    assert labelled(app.number_input, "Most episodes of a user").disabled
    labelled(app.text_input, "Column that names the user").set_value("who").run()
    labelled(app.number_input, "Most episodes of a user").set_value(2).run()
    labelled(app.text_input, "Unit of a reward").set_value("euros").run()
    labelled(app.number_input, "Units per reward point").set_value(120.0).run()
    assert sentences.FIRST in words(app)
    public = json.loads(own_of(app).declared().text)
    assert (public["columns"], public["episodes"], public["unit"]) == ({"person": "who"}, 2, [120.0, "euros"])
    (uploader,) = [one for one in app.file_uploader if "file of trajectories" in one.label]
    assert uploader.label.endswith("columns who, episode, step, state, action, reward")
    whose = [f"{int(row.split(',')[0]) // 3},{row}" for row in ROWS[:6000]]  # three episodes each
    given(app, f"who,{HEADING}" + "".join(whose))
    said = words(app)
    assert "**1,000 users with up to 2 episodes each** read" in said
    assert "1,000 of 3,000 episodes come after the first 2 of their user; they do not count." in said
    assert "four noisy sums over" in said
    menu = labelled(app.selectbox, "Algorithm for your data")
    assert menu.options == ["DP-KL-LCB", "DP plug-in"]
    labelled(app.text_input, "Values of ρ to spend").set_value("5").run()
    app.button(key="own_run").click().run()
    work()
    app.run()
    said = words(app)
    assert "users with up to 2 episodes each at ρ = 5 the learned policy is worth at least" in said
    assert "when one user is replaced by another" in said
    assert "trajectory is replaced" not in said
    assert "**Protected:** one user, up to 2 episodes" in "".join(said.split("\\"))
    (head,) = [box.value for box in app.success]
    assert "At 120 euros a point, the difference is about " in head
    (table,) = (one.value for one in app.table)
    assert list(table.columns) == ["About", "95% interval", "About, in euros", "95% interval, in euros"]
    assert float(table["About, in euros"].iloc[0]) == pytest.approx(
        120 * float(table["About"].iloc[0]), rel=0.01
    )


def test_steps_may_be_declared_alike(visit: Visit) -> None:
    """In the form, with what goes wrong where it is not so; then in all that is said before a release."""
    app = visit(PAGE)
    menu = labelled(app.selectbox, "Public stationarity")
    assert menu.value == "no"
    assert sentences.MAY_DIFFER in words(app)
    assert sentences.POOLED not in words(app)
    menu.set_value("yes").run()
    assert "The bound said 2.5, and the policy brought 1.9." in words(app)
    assert own_of(app).declared().text == declaration_text(EXAMPLE | {"columns": {}, "stationary": "yes"})
    own_of(app).held_out = 0.0
    given(app)
    said = words(app)
    assert "all steps alike" in said
    assert "Steps: transitions and mean rewards are the same at every step" in said
    assert labelled(app.selectbox, "Algorithm for your data").options == ["DP-KL-LCB"]
    data = own_of(app).data
    assert data is not None
    assert data.public.stationary


def test_home_names_as_many_users_as_the_example_has() -> None:
    assert f"{EXAMPLE_PEOPLE:,} in the example" in price.OWN_RECORDS


def test_nobody_need_be_held_out(visit: Visit) -> None:
    app = visit(PAGE)
    labelled(app.selectbox, "Users held out").set_value("0").run()
    app = given(app, CSV)
    data = own_of(app).data
    assert data is not None
    assert data.checked == 0
    assert "held out" not in words(app).split("**This releases**")[1].split("in all")[0]
