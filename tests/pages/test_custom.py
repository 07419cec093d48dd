"""A visitor's own environment: whatever is uploaded or typed gets one sentence, or is used."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dprl import links
from dprl.environments.custom import EXAMPLE, parsed
from dprl.simulation import RunSpec
from pages.explore.export import command
from pages.shared.controls import custom
from pages.shared.state import Session, draft_of
from tests.pages.conftest import unbroken, words
from tests.pages.test_controls import spec, widget

Visit = Callable[..., AppTest]
EXPLORE = "pages/explore/page.py"


class File:
    """As an uploader hands it over."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def getvalue(self) -> bytes:
        return self.data


def changed(**parts: Any) -> bytes:
    return json.dumps(EXAMPLE | parts).encode()


BAD = {
    "not text": b"\xff\xfe\x00",
    "not JSON": b"{",
    "empty": b"",
    "a list": b"[]",
    "a bomb of brackets": b"[" * 900_000,
    "too large": b" " * 3_000_000,
    "a key too many": changed(evil=1),
    "no P": b'{"R": [[0]], "d1": [1]}',
    "rows that do not add up": changed(P=[[[0.9, 0.2], [0.2, 0.8]], [[0.1, 0.9], [0.7, 0.3]]]),
    "NaN": changed(d1=[float("nan"), 1.0]),
    "negative": changed(d1=[-1.0, 2.0]),
    "ragged": changed(P=[[[1.0], [0.2, 0.8]], [[0.1, 0.9], [0.7, 0.3]]]),
    "words": changed(R=[["a", "b"], ["c", "d"]]),
    "true": changed(d1=[True, False]),
    "a reward of 5": changed(R=[[5.0, 0.0], [1.0, 0.2]]),
    "too few names": changed(state_labels=["one"]),
    "a name that is a number": changed(state_labels=[1, 2]),
    "huge numbers": b'{"P": [[[1e999]]], "R": [[0]], "d1": [1]}',
    "digits without end": b'{"P": [[[' + b"9" * 100_000 + b']]], "R": [[0]], "d1": [1]}',
    "sizes that disagree": changed(d1=[1.0, 0.0, 0.0]),
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


def test_a_good_file_is_used_and_its_steps_set_the_horizon(visit: Visit) -> None:
    app = visit(EXPLORE)
    s = app.session_state["session"]
    three = [[[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.5, 0.5]]]] * 3
    custom.received(s, File(changed(P=three, name="three ~ steps")))
    assert s.upload_problem == ""
    app.run()
    unbroken(app)
    found = spec(app)
    assert found is not None
    assert (found.environment, found.environment_params["H"]) == ("custom", 3)
    app.button(key="run").click().run()
    unbroken(app)
    assert "three \\~ steps" in words(app)
    again = links.decode({k: v if isinstance(v, list) else [v] for k, v in app.query_params.items()})
    assert [curve.spec for curve in again.curves] == [found]


def test_a_large_one_says_that_it_does_not_fit_into_the_link(visit: Visit) -> None:
    S = 40
    P = np.full((S, 1, S), 1 / S).tolist()
    text = json.dumps({"P": P, "R": [[0.5]] * S, "d1": [1.0] + [0.0] * (S - 1)})
    app = visit(EXPLORE)
    s = app.session_state["session"]
    custom.received(s, File(text.encode()))
    assert s.upload_problem == ""
    app.run()
    unbroken(app)
    assert "too large for a link" in words(app)
    app.button(key="run").click().run()
    given = dict(app.query_params.items())
    assert "file:" in str(given)
    # Somebody else opens it, is told, uploads the file, and sees the curve.
    other = visit(EXPLORE, **given)
    assert "upload that file" in words(other)
    assert other.session_state["session"].curves == []
    custom.received(other.session_state["session"], File(text.encode()))
    other.run()
    unbroken(other)
    assert [c.spec for c in other.session_state["session"].curves] == [spec(app)]


def test_the_editor_opens_with_the_environment_in_use(visit: Visit) -> None:
    app = visit(EXPLORE)
    widget(app, "selectbox", "Environment").select("custom").run()
    app.button(key="custom_edit").click().run()
    unbroken(app)
    states = next(t for t in app.text_input if t.label.startswith("States"))
    assert states.value == "hall, study"
    states.input("hall, study, garden").run()
    unbroken(app)
    app.button(key="edit_use").click().run()
    unbroken(app)
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
    assert said in custom.named(custom.words(given), "states", custom.MOST_STATES)


def test_tables_go_to_a_model_and_back_and_wrong_rows_are_named() -> None:
    name, P, R, d1, states, actions = parsed(json.dumps(EXAMPLE))
    moves = custom.transitions(P, R, states, actions)
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
    _, P, R, d1, *_ = parsed(json.dumps(EXAMPLE))
    P, R, d1 = custom.resized(P, R, d1, 1, 3)
    assert P.shape == (1, 3, 1)
    np.testing.assert_allclose(P, 1.0)
    assert d1.tolist() == [1.0]


def test_a_gridworld_is_written_a_row_on_a_line(visit: Visit) -> None:
    app = visit(EXPLORE)
    widget(app, "selectbox", "Environment").select("gridworld").run()
    (area,) = app.sidebar.text_area
    assert area.value == "S---\n-WX-\n---G"
    area.input("s-w\n--G").run()
    unbroken(app)
    found = spec(app)
    assert found is not None
    assert found.environment_params["map"] == "S-W/--G"
    app.sidebar.text_area[0].input("S-\nG").run()
    unbroken(app)
    assert spec(app) is None
    assert "rows of equal length" in words(app)
    assert app.button(key="run").disabled


def test_json_within_json_is_reproduced_from_a_file_and_nothing_unused_is_named(visit: Visit) -> None:
    app = visit(EXPLORE, c=["env.custom~envp.H.4~K.1000"], tab="data")
    unbroken(app)
    code = "\n".join(block.value for block in app.code)
    assert "--spec spec.json" in code
    assert "--env-param" not in code
    line = command(RunSpec(algorithm="ucbvi", bonus="paper"))
    assert "None" not in line
    assert "--env-param S=6" in line


FORMULA = "=cmd|' /C calc'!A0"


def test_a_state_named_like_a_formula_is_none_in_the_tables(visit: Visit, work: Callable[..., int]) -> None:
    model = custom.compact(changed(state_labels=[FORMULA, "-1"]).decode())
    spec = RunSpec(environment="custom", environment_params={"model": model}, episodes=1000, seeds=1)
    link = {"c": [links.encode([links.Curve(spec)], links.View())[1][1]], "tab": "counts", "ch": "scatter"}
    visit(EXPLORE, **link)
    work()
    app = visit(EXPLORE, **link)
    app.session_state["counts_scatter:numbers"] = True
    app.run()
    unbroken(app)
    assert set(app.dataframe[0].value["state"]) == {f"'{FORMULA}", "-1"}
    app.button(key="custom_edit").click().run()
    unbroken(app)
    editor = next(e for e in app.dataframe if "reward" in e.value)
    assert set(editor.value["state"]) == {f"'{FORMULA}", "-1"}
    app.button(key="edit_use").click().run()
    assert FORMULA in app.session_state["session"].draft["environment_params"]["custom"]["model"]
