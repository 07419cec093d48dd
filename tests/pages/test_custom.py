"""A visitor's own environment: whatever is uploaded or typed gets one sentence, or is used."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dprl.environments.custom import EXAMPLE
from dprl.simulation import RunSpec
from pages.shared.controls import panel
from pages.shared.visitor import links
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.links import Curve, View
from pages.shared.visitor.state import Session
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepPageState, SweepView
from tests.pages.conftest import Visit, press, widget, words
from tests.pages.test_controls import spec
from tests.pages.test_hostile_files import File
from tests.problems import first

P = np.full((40, 1, 40), 1 / 40).tolist()
LARGE = panel.compact(json.dumps({"P": P, "R": [[0.5]] * 40, "d1": [1] + [0] * 39}))


OWN = json.dumps(EXAMPLE)


def changed(**parts: Any) -> bytes:
    return json.dumps(EXAMPLE | parts).encode()


def give(app: AppTest, file: bytes) -> str:
    """A file is given on a page; what is said of it."""
    session: Session = app.session_state["session"]
    panel.received(session, File(file))
    app.run()
    return session.upload_problem


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
    panel.received(s, File(BAD[what]))
    assert s.upload_problem.endswith(".")
    assert len(s.upload_problem) < 400
    assert "Traceback" not in s.upload_problem
    assert s.draft == draft_of(RunSpec())
    panel.received(s, None)  # taken away again
    assert s.upload_problem == ""


def test_a_file_that_no_browser_should_have_sent_is_refused_unread() -> None:
    s = Session()
    file = File(b" " * 2_060_000)
    file.getvalue = lambda: pytest.fail("read")
    panel.received(s, file)
    assert s.upload_problem == "The file has 2.06 MB; give at most 2 MB."


def test_a_good_file_is_used_and_its_steps_set_the_horizon(visit: Visit) -> None:
    app = visit("bare")
    three = [[[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.5, 0.5]]]] * 3
    assert give(app, changed(P=three, name="three ~ steps")) == ""
    found = spec(app)
    assert (found.environment, found.environment_params["H"]) == ("custom", 3)
    press(app, "run")
    assert "three ~ steps" in words(app)
    again = links.decode({k: v if isinstance(v, list) else [v] for k, v in app.query_params.items()})
    assert [curve.spec for curve in again.curves] == [found, found.baseline()]


def test_a_large_one_says_that_it_does_not_fit_into_the_link(visit: Visit) -> None:
    app = visit("bare")
    assert give(app, LARGE.encode()) == ""
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
        lambda state: state["session"].part(SweepPageState).view.base,
    ),
}


@pytest.mark.parametrize("page", first(AWAITED))
def test_a_link_is_read_again_when_the_file_it_waited_for_has_come(visit: Visit, page: str) -> None:
    link, shown = AWAITED[page]
    app = visit(page, **{key: [v for k, v in link if k == key] for key, _ in link})
    assert "upload that file" in words(app)
    give(app, OWN.encode())
    assert "upload that file" in words(app)  # it was another one
    give(app, LARGE.encode())
    assert "upload that file" not in words(app)
    assert shown(app.session_state) == RUN
    give(app, OWN.encode())  # which the same link does not take back
    draft = app.session_state["session"].draft
    assert draft.environment_params["custom"]["model"] == panel.compact(OWN)


def test_a_gridworld_is_written_a_row_on_a_line(visit: Visit) -> None:
    app = visit("bare")
    widget(app, "selectbox", "Environment").select("gridworld").run()
    (area,) = app.sidebar.text_area
    assert area.value == "S---\n-WX-\n---G"
    area.input("s-w\n--G").run()
    assert spec(app).environment_params["map"] == "S-W/--G"
    app.sidebar.text_area[0].input("S-\nG").run()
    assert spec(app) is None
    assert "rows of equal length" in words(app)
    assert app.button(key="run").disabled


FORMULA = "=cmd|' /C calc'!A0"


def test_a_state_named_like_a_formula_is_none_in_the_tables(finished: Visit) -> None:
    model = panel.compact(changed(state_labels=[FORMULA, "-1"]).decode())
    spec = RunSpec(environment="custom", environment_params={"model": model}, episodes=1000, seeds=1)
    link = dict(links.encode([Curve(spec)], View(tab="counts")))
    app = finished("explore", **link)
    app.session_state["counts:about"] = True
    app.run()
    assert set(app.dataframe[0].value["state"]) == {f"'{FORMULA}", "-1"}
