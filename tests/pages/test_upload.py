"""Your data: an example in sight, a file that is declared, checked, released and looked at; and what stays private."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.elements.widgets.file_uploader import DeletedFile
from streamlit.testing.v1 import AppTest

from dprl.fields import SpecError
from dprl.sentences import price, verdict
from dprl.sentences import uploads as sentences
from dprl.simulation import UploadSpec
from dprl.simulation.uploads import kept as counts
from dprl.simulation.uploads.declaration import declaration_text
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.model import EXAMPLE, EXAMPLE_PEOPLE, example
from dprl.uploads import readings
from pages.data import file as module
from pages.data.own import Own, example_trace
from tests.pages.conftest import Page, Visit, Work, charts, kept, press, words

PAGE = "data"
HEADING, *ROWS = example().splitlines(keepends=True)
CSV = HEADING + "".join(ROWS[:12_000])  # of 3,000 patients
READ = "**3,000 trajectories** read from people.csv: 3 states, 3 actions, 4 steps"
TYPED: dict[str, Any] = {
    "own_states": "mild, severe, critical", "own_actions": "watch, drug, surgery", "own_horizon": 4,
    "own_budget": "ward 2026", "own_total": 0.25, "own_rho": 0.1,
}  # fmt: skip


def data_of(app: AppTest) -> UploadSpec:
    data = kept(app, Own).data
    assert data is not None
    return data


def fill(app: Page, **typed: Any) -> Page:
    """What a visitor types; nothing is sent before *Check* is pressed."""
    for key, value in typed.items():
        fields = app.number_input if isinstance(value, float | int) else app.text_input
        next(field for field in fields if field.key == key).set_value(value)
    return app


def given(app: Page, text: str = CSV, **typed: Any) -> Page:
    """A file, all that the simple case needs, and *Check*."""
    app.file_uploader[0].upload("people.csv", text.encode(), "text/csv")
    press(fill(app, **TYPED | typed), "own_check")
    return app


def released(app: Page, work: Work) -> Page:
    press(app, "own_run")
    assert work() == 1
    app.run()
    return app


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is taken out of the server's memory."""
    found: list[str] = []
    monkeypatch.setattr(module, "drop_file", lambda file: found.append(file.name))
    return found


def test_the_page_opens_with_a_released_example_that_is_labelled_as_simulated(
    visit: Visit, work: Work
) -> None:
    app = visit(PAGE)
    said = words(app)
    assert f"## An example: {EXAMPLE_PEOPLE:,} simulated patients" in said
    (head,) = [box.value for box in app.success]
    assert head.startswith("**Better than today, if nothing hidden drove the choices.**")
    assert [chart.alt.split()[0] for chart in charts(app)] == ["Heatmaps"]
    for sentence in (*verdict.SAID["blind"], sentences.PAGE["before_use"]):
        assert sentence in said
    assert work() == 0  # it comes with the program
    assert any("dprl check people.csv" in code.value for code in app.code)


def test_the_example_is_what_a_release_of_its_file_gives() -> None:
    trace = example_trace()
    assert trace.complete
    assert trace.spec.declared == declaration_text(EXAMPLE)
    assert (trace.spec.n, trace.spec.rho, trace.verdict) == (EXAMPLE_PEOPLE, 0.1, "better")
    assert trace.portable.csv_text().splitlines()[0] == "step,state,action,episodes_with_noise,decides"
    assert f"{EXAMPLE_PEOPLE:,} in the example" in price.SAID["own_records"]


def test_from_a_file_to_a_policy_and_what_is_left_of_the_budget(visit: Visit, work: Work) -> None:
    """Ten presses: a file, six fields that are typed, the names of columns, Check, Release."""
    called = "patient, visit, severity, treatment, gain"
    mine = CSV.replace("episode,step,state,action,reward", called.replace(" ", ""), 1)
    app = given(visit(PAGE), mine, own_columns=called)
    said = words(app)
    assert READ in said
    data = data_of(app)
    assert data.held_out == 0.25
    assert f"**The release contains** noisy counts of {data.learned_from:,} users at ρ = 0.1" in said
    assert f"four noisy sums over {data.checked:,} users who were held out" in said
    assert not Budget.known("ward 2026")  # a check begins no budget
    assert "Noise moves each of these counts by about" in words(app)
    app = released(app, work)
    said = words(app)
    assert "The budget **ward 2026** has the total ρ = 0.25. Spent so far: **ρ = 0.1** in 1" in said
    assert "Left: ρ = 0.15" in said
    assert "## An example" not in said
    (spec,) = kept(app, Own).specs
    assert spec.rho == 0.1
    (table,) = (one.value for one in app.table)
    assert table.index.tolist()[:3] == ["Plug-in policy (recommended)", "Cautious policy", "Always drug"]
    labels = {str(getattr(download, "label", "")) for download in app.get("download_button")}
    kinds = (
        "Policy (JSON)",
        "Policy (CSV)",
        "Release (JSON)",
        "Sheet to print (HTML)",
        "Registry entry (YAML)",
    )
    assert {*kinds} <= labels
    assert sentences.PAGE["again"] in said
    press(fill(app, own_rho=0.16), "own_check")  # beyond the total; the file need not be given again
    assert app.button(key="own_run").disabled
    assert "this release would raise that to ρ = 0.26" in words(app)
    press(fill(app, own_rho=0.15), "own_check")
    work()
    app.run()
    app = released(app, work)
    assert "Spent so far: **ρ = 0.25** in 2 releases, or (" in words(app)
    again = given(visit(PAGE), mine, own_columns=called)
    assert "This file was released before, under the budget ward 2026" in words(again)


def test_a_release_without_a_rho_of_its_own_spends_the_whole_total(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(TYPED, "own_rho")
    app = given(visit(PAGE))
    assert app.button(key="own_run").label == "Release at ρ = 0.25"


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ({"own_budget": ""}, "form: something is missing; give the name of the budget."),
        ({"own_states": "", "own_actions": " "}, "form: something is missing; give states, actions."),
        ({"own_columns": "a, b"}, "declared.columns: give 5 names, for episode, step"),
        ({"own_rewards": "0 to 1"}, "declared.reward_range: give two numbers"),
        ({"own_states": "mild, mild"}, "declared.states: mild appears twice"),
        ({"own_rewards": "1, 0"}, "declared.reward_range: "),
    ],
)
def test_what_is_missing_or_wrong_is_named_and_the_file_stays(
    visit: Visit, files: list[str], typed: dict[str, Any], wanted: str
) -> None:
    app = given(visit(PAGE), **typed)
    assert wanted in words(app)
    assert kept(app, Own).data is None
    assert files == []
    press(fill(app, **{key: TYPED.get(key, getattr(Own(), key[4:])) for key in typed}), "own_check")
    assert READ in words(app)


def test_a_declaration_as_a_file_takes_the_place_of_the_form(visit: Visit) -> None:
    public = declaration_text(EXAMPLE | {"rewards": 0.5, "start": [0.3, 0.5, 0.2]})
    app = visit(PAGE)
    app.file_uploader[1].upload("declared.json", public.encode(), "application/json").run()
    given(app, own_states="", own_actions="")
    assert data_of(app).declared == public
    assert "mean rewards declared" in words(app)
    wrong = visit(PAGE)
    wrong.file_uploader[1].upload("declared.json", b"{", "application/json").run()
    assert "declared: this is not JSON" in words(wrong)


def test_values_by_group_are_below_the_verdict(visit: Visit, work: Work) -> None:
    public = json.dumps(EXAMPLE | {"groups": {"state": ["mild", "severe", "critical"]}}).encode()
    app = visit(PAGE)
    app.file_uploader[1].upload("declared.json", public, "application/json").run()
    app = released(given(app, own_states="", own_actions=""), work)
    assert app.table[0].value.index.tolist() == ["mild", "severe", "critical"]
    assert "The numbers by group spend 30% of the held-out users' ρ" in words(app)


def test_a_malformed_file_gets_one_sentence_and_the_next_is_read(
    visit: Visit, tmp_path: Path, files: list[str]
) -> None:
    malformed = CSV.replace("\n0,1,", "\n0,7,", 1)
    app = given(visit(PAGE), malformed)
    assert "column step: step 1 of episode 0 is missing" in words(app)
    assert kept(app, Own).data is None
    assert list((tmp_path / "uploads").iterdir()) == []
    given(app)
    assert READ in words(app)
    assert "is missing" not in words(app)
    assert sorted(path.suffix for path in (tmp_path / "uploads").iterdir()) == [".npz", ".session"]
    assert files == ["people.csv"] * 2  # both are gone
    given(app, malformed)
    (offer,) = [one for one in app.button if one.key == "own_run"]
    assert offer.disabled  # it would release the file before
    press(app, "own_forget")
    assert list((tmp_path / "uploads").iterdir()) == []
    assert "simulated patients" in words(app)


def test_how_far_a_file_is_read_is_seen_and_reading_may_be_stopped(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page takes over what was read when it is drawn next, and does nothing else with it."""
    monkeypatch.setattr(readings, "in_thread", lambda work: begun.append(work))
    begun: list[Callable[[], None]] = []
    app = given(visit(PAGE))
    reading = kept(app, Own).reading
    assert reading is not None
    with (tmp_path / "copy").open("w+b") as reading.copy:
        os.lseek(reading.copy.fileno(), reading.size * 43 // 100 + 1, os.SEEK_SET)
        app.run()
    assert app.get("progress")[0].proto.text == "Reading the file: 43%"
    assert not app.file_uploader
    press(app, "own_stop")
    assert kept(app, Own).reading is None
    begun.pop()()
    assert list((tmp_path / "uploads").iterdir()) == []
    given(app)
    begun.pop()()
    app.run()
    assert READ in words(app)


def test_a_file_that_a_browser_says_was_dropped_is_asked_for_again() -> None:
    """A browser that lags behind may say once more that it gave a file which was dropped."""
    own = Own(states="a", actions="b", horizon=1, budget="x", total=1.0, rho=0.1)
    with pytest.raises(SpecError, match="data: choose the file of episodes"):
        module.use(own, DeletedFile("a file that was dropped"))


def test_counts_that_have_gone_are_not_offered(visit: Visit) -> None:
    """A tab was away for so long that its counts went."""
    app = given(visit(PAGE))
    counts.forget(data_of(app).data)
    app.run()
    assert sentences.PAGE["gone"] in words(app)
    given(app)
    assert READ in words(app)
    assert sentences.PAGE["gone"] not in words(app)


def test_in_public_no_file_is_asked_for_unless_that_is_switched_on(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There no budget has a name: visitors would share it."""
    monkeypatch.setenv("DPRL_PUBLIC", "1")
    app = visit(PAGE)
    assert sentences.PAGE["off"] in words(app)
    assert "simulated patients" in words(app)
    assert not app.file_uploader
    monkeypatch.setenv("DPRL_UPLOADS", "1")
    monkeypatch.setattr(module.store(), "public", True)
    app.run()
    assert sentences.PAGE["off"] not in words(app)
    assert not [box for box in app.text_input if box.label == "Name of the budget"]
    typed = {key: value for key, value in TYPED.items() if key not in ("own_budget", "own_total")}
    app.file_uploader[0].upload("people.csv", CSV.replace("severe", "sevre", 8).encode(), "text/csv")
    press(fill(app, **typed), "own_check")
    assert READ in words(app)
    assert "sevre" not in words(app)  # nobody knows whose file it is
    assert not (tmp_path / "budgets").exists()


@pytest.mark.parametrize(("server", "page"), [(2, 2), (200, 200), (500, 200)])
def test_no_page_says_that_it_takes_more_than_the_server_does(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, server: int, page: int
) -> None:
    given = module.st.get_option
    monkeypatch.setattr(
        module.st, "get_option", lambda key: server if key == "server.maxUploadSize" else given(key)
    )
    app = visit(PAGE)
    assert [uploader.proto.max_upload_size_mb for uploader in app.file_uploader] == [page, 2]
    app = visit("explore", c=["env.custom"])
    assert [uploader.proto.max_upload_size_mb for uploader in app.file_uploader] == [2]


def test_the_owner_alone_is_told_what_is_not_declared_before_it_is_released(
    visit: Visit, tmp_path: Path
) -> None:
    """What is left of it afterwards, see test_nothing_outlives.py."""
    app = given(visit(PAGE), CSV.replace("severe", "sevre", 8))
    said = words(app)
    assert "Keep this note to yourself: it is not protected by differential privacy" in said
    assert "has a label that you did not declare: sevre (" in said
    press(app, "own_forget")
    assert "sevre" not in words(app)
    assert kept(app, Own).outside == ()
    assert list((tmp_path / "uploads").iterdir()) == []
    given(app, CSV.replace("severe", "Severe"))
    assert kept(app, Own).data is None
    assert "column state has a label that is not declared, such as Severe" in words(app)


def test_nothing_of_a_data_set_is_in_a_link(visit: Visit, work: Work) -> None:
    app = given(visit(PAGE))
    work()
    app.run()
    app = released(app, work)
    assert app.session_state["session"].part(Own).link == []
    assert data_of(app).data not in json.dumps(dict(app.query_params))
    stranger = visit(PAGE, up="decl.{}", ul="ward 2026")
    assert kept(stranger, Own).specs == ()
    assert "ward 2026" not in words(stranger)
