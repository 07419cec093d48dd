"""A visitor's own environment: whatever is uploaded or typed gets one sentence, or is used."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dprl.environments.custom import EXAMPLE, parsed
from dprl.simulation import RunSpec
from pages.shared.controls import custom
from pages.shared.results.again import command_line
from pages.shared.visitor import links
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.links import Curve, View
from pages.shared.visitor.state import Session
from pages.tradeoffs import study as studies
from pages.tradeoffs.state import SweepPageState
from pages.tradeoffs.study import SweepView
from tests.pages.conftest import Visit, press, widget, words
from tests.pages.test_controls import spec
from tests.problems import first

P = np.full((40, 1, 40), 1 / 40).tolist()
LARGE = custom.compact(json.dumps({"P": P, "R": [[0.5]] * 40, "d1": [1] + [0] * 39}))


class File:
    """As an uploader hands it over."""

    def __init__(self, data: bytes) -> None:
        self.data, self.size = data, len(data)

    def getvalue(self) -> bytes:
        return self.data


def changed(**parts: Any) -> bytes:
    return json.dumps(EXAMPLE | parts).encode()


BAD = {  # what else is no model: tests/environments/test_custom.py
    "not text": b"\xff\xfe\x00",
    "not JSON": b"{",
    "empty": b"",
    "a bomb of brackets": b"[" * 900_000,
    "too large": b" " * 3_000_000,
    "rows that do not add up": changed(P=[[[0.9, 0.2], [0.2, 0.8]], [[0.1, 0.9], [0.7, 0.3]]]),
    "digits without end": b'{"P": [[[' + b"9" * 100_000 + b']]], "R": [[0]], "d1": [1]}',
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_gets_one_sentence_and_changes_nothing(what: str) -> None:
    s = Session()
    custom.received(s, File(BAD[what]))
    assert s.upload_problem.endswith(".")
    assert len(s.upload_problem) < 400
    assert "Traceback" not in s.upload_problem
    assert s.draft == draft_of(RunSpec())
    custom.received(s, None)  # taken away again
    assert s.upload_problem == ""


def test_a_file_may_begin_with_a_byte_order_mark(visit: Visit) -> None:
    s = visit("bare").session_state["session"]
    custom.received(s, File(b"\xef\xbb\xbf" + changed(name="marked")))
    assert s.upload_problem == ""
    assert "marked" in s.draft.environment_params["custom"]["model"]
    custom.received(s, File(changed().decode().encode("utf-16")))
    assert s.upload_problem == "This is text in UTF-16; save it as UTF-8."


def test_a_file_that_no_browser_should_have_sent_is_refused_unread() -> None:
    s = Session()
    file = File(b" " * 2_060_000)
    file.getvalue = lambda: pytest.fail("read")  # type: ignore[method-assign]
    custom.received(s, file)
    assert s.upload_problem == "The file has 2.06 MB; give at most 2 MB."


def test_a_good_file_is_used_and_its_steps_set_the_horizon(visit: Visit) -> None:
    app = visit("bare")
    s = app.session_state["session"]
    three = [[[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.5, 0.5]]]] * 3
    custom.received(s, File(changed(P=three, name="three ~ steps")))
    assert s.upload_problem == ""
    app.run()
    found = spec(app)
    assert found is not None
    assert (found.environment, found.environment_params["H"]) == ("custom", 3)
    press(app, "run")
    assert "three ~ steps" in words(app)
    again = links.decode({k: v if isinstance(v, list) else [v] for k, v in app.query_params.items()})
    assert [curve.spec for curve in again.curves] == [found, found.baseline()]


def test_a_large_one_says_that_it_does_not_fit_into_the_link(visit: Visit) -> None:
    app = visit("bare")
    s = app.session_state["session"]
    custom.received(s, File(LARGE.encode()))
    assert s.upload_problem == ""
    app.run()
    assert "too large for a link" in words(app)
    app.button(key="run").click().run()
    given = dict(app.query_params.items())
    assert "file:" in str(given)
    # Somebody else opens it, is told, and sees no other environment instead.
    other = visit("explore", **given)
    assert "upload that file" in words(other)
    assert other.session_state["session"].explore.curves == []


RUN = RunSpec(environment="custom", environment_params={"model": LARGE, "H": 2}, episodes=10_000, seeds=2)
AWAITED = {  # of each page: a link to the run, and what the page shows
    "explore": (links.encode([Curve(RUN)], View()), lambda state: state["session"].explore.curves[0].spec),
    "tradeoffs": (
        studies.encode(SweepView(RUN)),
        lambda state: state["session"].part(SweepPageState).study.base,
    ),
}


@pytest.mark.parametrize("page", first(AWAITED))
def test_a_link_is_read_again_when_the_file_it_waited_for_has_come(visit: Visit, page: str) -> None:
    link, shown = AWAITED[page]
    app = visit(page, **{key: [v for k, v in link if k == key] for key, _ in link})
    assert "upload that file" in words(app)
    custom.received(app.session_state["session"], File(json.dumps(EXAMPLE).encode()))
    app.run()
    assert "upload that file" in words(app)  # it was another one
    custom.received(app.session_state["session"], File(LARGE.encode()))
    app.run()
    assert "upload that file" not in words(app)
    assert shown(app.session_state) == RUN
    # What is changed afterwards is not taken back by the same link.
    custom.received(app.session_state["session"], File(json.dumps(EXAMPLE).encode()))
    app.run()
    assert app.session_state["session"].draft.environment_params["custom"]["model"] == custom.compact(
        json.dumps(EXAMPLE)
    )


def test_the_editor_opens_with_the_environment_in_use(visit: Visit) -> None:
    app = visit("bare")
    widget(app, "selectbox", "Environment").select("custom").run()
    press(app, "custom_edit")
    states = next(t for t in app.text_input if t.label.startswith("States"))
    assert states.value == "hall, study"
    states.input("hall, study, garden").run()
    press(app, "edit_use")
    found = spec(app)
    assert found is not None
    name, P, R, _d1, labels, _ = parsed(found.environment_params["model"])
    assert (name, labels) == ("Two rooms", ("hall", "study", "garden"))
    assert P.shape == (3, 2, 3)
    np.testing.assert_allclose(P[:2, :, :2], EXAMPLE["P"])
    np.testing.assert_allclose(R[:2], EXAMPLE["R"])
    assert (P[2, :, 2] == 1).all()


@pytest.mark.parametrize(
    ("given", "said"), [("", "0 state"), ("a, a", "same name"), (", ".join("abcdefghijklm"), "1 to 12")]
)
def test_names_that_do_not_do_are_said(given: str, said: str) -> None:
    assert said in custom.named(custom.split_words(given), "states", custom.MOST_STATES)


def test_tables_go_to_a_model_and_back_and_wrong_rows_are_named() -> None:
    name, P, R, d1, states, actions = parsed(json.dumps(EXAMPLE))
    moves = custom.transitions_table(P, R, states, actions)
    first = custom.pd.DataFrame([d1])
    model = custom.assembled(name, states, actions, moves, first)
    assert model == EXAMPLE
    assert custom.wrong(model) == ""
    moves.iloc[1, 3] = None  # an emptied cell counts as 0
    assert custom.wrong(custom.assembled(name, states, actions, moves, first)).startswith("hall, walk:")
    moves.iloc[1, 3] = 0.2
    moves.loc[3, "reward"] = 2.0
    assert "reward 2" in custom.wrong(custom.assembled(name, states, actions, moves, first))


def test_fewer_states_keep_an_environment_whole() -> None:
    model = custom.relabelled(EXAMPLE, ["hall"], ["stay", "walk", "sing"])
    assert custom.wrong(model) == ""
    assert model["P"] == [[[1.0], [1.0], [1.0]]]
    assert model["d1"] == [1.0]


@pytest.mark.parametrize(
    ("new", "were"),
    [
        (["a", "x", "c"], [0, 1, 2]),  # another name
        (["b", "c"], [1, 2]),  # the first is gone
        (["x", "a", "b", "c"], [None, 0, 1, 2]),  # one more, before the others
        (["c", "a", "b"], [2, 0, 1]),  # another order
        (["a", "x", "b", "y"], [0, None, 1, None]),
    ],
)
def test_rows_go_with_their_names(new: list[str], were: list[int | None]) -> None:
    assert custom.origins(["a", "b", "c"], new) == were


def test_another_order_of_states_is_the_same_environment() -> None:
    turned = custom.relabelled(EXAMPLE, EXAMPLE["state_labels"][::-1], EXAMPLE["action_labels"])
    assert turned["R"] == EXAMPLE["R"][::-1]
    assert turned["d1"] == EXAMPLE["d1"][::-1]
    assert custom.relabelled(turned, EXAMPLE["state_labels"], EXAMPLE["action_labels"]) == EXAMPLE


def test_an_edit_is_undone_and_so_is_using_it(visit: Visit) -> None:
    app = edit(visit)
    for names in ("hall, study, garden", "attic, study, garden"):
        next(t for t in app.text_input if t.label.startswith("States")).input(names).run()
    assert app.session_state["session"].editing.edited["state_labels"] == ["attic", "study", "garden"]
    press(app, "edit_undo")
    assert next(t for t in app.text_input if t.label.startswith("States")).value == "hall, study, garden"
    app.button(key="edit_use").click().run()
    found = spec(app)
    assert found is not None
    assert parsed(found.environment_params["model"])[4] == ("hall", "study", "garden")
    press(app, "undo_reset")
    found = spec(app)
    assert found is not None
    assert parsed(found.environment_params["model"])[4] == ("hall", "study")


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> float:
    """A reward that the visitor types into the first row of the first table, and nowhere else."""
    edits: dict[str, float] = {}

    def data_editor(table: pd.DataFrame, *, key: str, **_: Any) -> pd.DataFrame:
        table = table.copy()
        if "reward" in table:
            if not edits:
                edits[key] = 0.77
            if key in edits:
                table["reward"] = [edits[key], *table["reward"][1:]]
        return table

    monkeypatch.setattr(custom.st, "data_editor", data_editor)
    return 0.77


def edit(visit: Visit) -> AppTest:
    app = visit("bare")
    widget(app, "selectbox", "Environment").select("custom").run()
    return app.button(key="custom_edit").click().run()


@pytest.mark.parametrize(
    "names", [["hall, library"], ["hall, hall", "hall, study"], ["attic, hall, study", "hall, study"]]
)
def test_what_was_typed_stays_when_states_are_renamed(visit: Visit, typed: float, names: list[str]) -> None:
    app = edit(visit)
    for text in names:
        next(t for t in app.text_input if t.label.startswith("States")).input(text).run()
    press(app, "edit_use")
    found = spec(app)
    assert found is not None
    _, _, R, _, labels, _ = parsed(found.environment_params["model"])
    assert labels == tuple(custom.split_words(names[-1]))
    assert R[0, 0] == typed


def test_an_edit_is_kept_when_the_editor_is_closed(
    visit: Visit, typed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = edit(visit)
    s = app.session_state["session"]
    monkeypatch.setattr(custom, "session", lambda: s)
    custom.closed()  # with Escape
    app.run()
    assert "not in use yet" in words(app)
    assert not [b for b in app.button if b.key == "edit_use"]
    app.button(key="custom_edit").click().run()
    assert s.editing.edited["R"][0][0] == typed
    custom.closed()
    app.run()
    app.button(key="custom_discard").click().run()
    assert s.editing is None
    assert "not in use yet" not in words(app)


def test_an_editor_closed_unused_leaves_nothing(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = edit(visit)
    s = app.session_state["session"]
    monkeypatch.setattr(custom, "session", lambda: s)
    custom.closed()
    assert s.editing is None


def test_a_gridworld_is_written_a_row_on_a_line(visit: Visit) -> None:
    app = visit("bare")
    widget(app, "selectbox", "Environment").select("gridworld").run()
    (area,) = app.sidebar.text_area
    assert area.value == "S---\n-WX-\n---G"
    area.input("s-w\n--G").run()
    found = spec(app)
    assert found is not None
    assert found.environment_params["map"] == "S-W/--G"
    app.sidebar.text_area[0].input("S-\nG").run()
    assert spec(app) is None
    assert "rows of equal length" in words(app)
    assert app.button(key="run").disabled


def test_json_within_json_is_reproduced_from_a_file_and_nothing_unused_is_named(visit: Visit) -> None:
    app = visit("explore", c=["env.custom~envp.H.4~K.1000"], tab="data")
    code = "\n".join(block.value for block in app.code)
    assert "--spec spec.json" in code
    assert "--env-param" not in code
    line = command_line(RunSpec(algorithm="ucbvi", bonus="paper"))
    assert "None" not in line
    assert "--env-param S=6" in line


FORMULA = "=cmd|' /C calc'!A0"


def test_a_state_named_like_a_formula_is_none_in_the_tables(finished: Visit) -> None:
    model = custom.compact(changed(state_labels=[FORMULA, "-1"]).decode())
    spec = RunSpec(environment="custom", environment_params={"model": model}, episodes=1000, seeds=1)
    link = dict(links.encode([Curve(spec)], View(tab="counts")))
    app = finished("explore", **link)
    app.session_state["counts:about"] = True
    app.run()
    assert set(app.dataframe[0].value["state"]) == {f"'{FORMULA}", "-1"}
    press(app, "custom_edit")
    editor = next(e for e in app.dataframe if "reward" in e.value)
    assert set(editor.value["state"]) == {f"'{FORMULA}", "-1"}
    app.button(key="edit_use").click().run()
    assert FORMULA in app.session_state["session"].draft.environment_params["custom"]["model"]
