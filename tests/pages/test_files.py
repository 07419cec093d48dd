"""Files that visitors give: each is read and used, or refused in one sentence, also where it means harm."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dprl import RunSpec, SpecError, spec_from_json, upload
from dprl.__main__ import main
from dprl.environments.custom import EXAMPLE
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.declaration import declaration
from pages.shared.controls import panel
from pages.shared.visitor import links
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.links import Curve, View
from pages.shared.visitor.state import Session
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepPageState, SweepView
from tests.pages.conftest import Visit, press, widget, words
from tests.pages.test_controls import spec
from tests.pages.test_hostile import POISON
from tests.problems import first
from tests.two_rooms import EXAMPLE as DECLARED

DEPTH = 10_000
NAMES = [
    "<img src=x onerror=alert(1)>",
    "=cmd|'/C calc'!A0",
    "+1+1",
    "@SUM(A1)",
    "-2",
    "<script>",
    "a,b\n=1",
    "\u202e",
]
NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e308", "9" * 5000, "1e-400", "0x10", "null", "true"]
CSV = "episode,step,state,action,reward,next_state\n" + "".join(
    f"{who},{step},{DECLARED['states'][0]},{DECLARED['actions'][0]},0,{DECLARED['states'][-1]}\n"
    for who in range(20)
    for step in range(int(DECLARED["horizon"]))
)


WARD = "who,visit,severity,age,drug,gain\n" + "".join(
    f"{who},{step},{'mild' if who % 2 else 'severe'},{40 + who},watch,0.5\n"
    for who in range(20)
    for step in range(1 + who % 3)
)
PREPARED = {
    "states": {"severity": ["mild", "severe"], "age": [40, 50]},
    "actions": ["watch", "treat"],
    "horizon": 3,
    "columns": {"episode": "who", "step": "visit", "action": "drug", "reward": "gain"},
    "absorbing": "gone",
}


class File:
    """As an uploader hands it over."""

    def __init__(self, data: bytes) -> None:
        self.getvalue = lambda: data
        self.size = len(data)


def environment(data: bytes) -> None:
    """As the uploader of the sidebar."""
    s = Session()
    with patch("streamlit.rerun"):
        panel.received(s, File(data))
    if s.upload_problem:
        raise SpecError("", s.upload_problem)


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


# How a file is read, and a good one.
READERS: dict[str, tuple[Callable[[bytes], object], str]] = {
    "spec": (lambda data: spec_from_json(text(data)), json.dumps(RunSpec(environment_params={"H": 5}).to_dict())),
    "environment": (environment, json.dumps(EXAMPLE)),
    "declared": (lambda data: declaration(text(data)), json.dumps(DECLARED)),
    "trajectories": (lambda data: upload(io.BytesIO(data), DECLARED), CSV),
    "prepared": (lambda data: upload(io.BytesIO(data), PREPARED), WARD),
}  # fmt: skip


def somewhere(data: bytes, rng: random.Random) -> tuple[int, int]:
    """Where a value, a name or a field begins and ends."""
    ends = [i for i, byte in enumerate(data[:20_000]) if byte in b",:[]{}\n"] or [0, len(data)]
    at = rng.randrange(len(ends))
    return ends[at] + 1, max(ends[at] + 1, ends[min(at + 1, len(ends) - 1)])


def put(data: bytes, rng: random.Random, text: str) -> bytes:
    """This text in place of some value."""
    start, end = somewhere(data, rng)
    return data[:start] + text.encode("utf-8", "replace") + data[end:]


def harmed(data: bytes, rng: random.Random) -> bytes:
    """The file with one poison: 10^4 deep, with a strange name or number, a bomb, too large, cut short, or no text."""
    at, packed = rng.randint(0, len(data)), gzip.compress(bytes(10**6))
    match rng.choice(["deep", "name", "name", "number", "number", "bomb", "large", "cut", "bytes"]):
        case "deep":
            open_, close = rng.choice([("[", "]"), ('{"a":', "}")])
            return put(data, rng, open_ * DEPTH + "1" + close * (DEPTH if rng.random() < 0.7 else 0))
        case "name":
            name = rng.choice([*NAMES, *POISON])
            return put(data, rng, json.dumps(name) if rng.random() < 0.7 else name)
        case "number":
            return put(data, rng, rng.choice(NUMBERS))
        case "bomb":
            return rng.choice([packed, b"PK\x03\x04" + packed, data + packed])
        case "large":
            start, end = somewhere(data, rng)
            part = data[start : end + 1] or b" "
            return data[:start] + part * (3 * 10**6 // len(part)) + data[end:]
        case "cut":
            return data[:at]
    strange = [b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", rng.randbytes(40)]
    return data[:at] + rng.choice(strange) + data[at:]


def test_hostile_files_are_read_or_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "home", lambda: tmp_path)
    for seed in range(9000, 9060):
        rng = random.Random(seed)
        kind = rng.choice(list(READERS))
        read, good = READERS[kind]
        data = good.encode()
        for _ in range(rng.randint(1, 4)):
            data = harmed(data, rng)
        try:
            read(data)
        except SpecError as error:
            said = str(error)
            assert said.endswith(".")
            assert len(said) < 500
            assert "Traceback" not in said


def test_a_spec_of_200_mb_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)  # takes no room
    with pytest.raises(SystemExit) as ended:
        main(["run", "--spec", str(path), "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "dprl: spec: the file has more than 10 MB; give a spec.json.\n"


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


@pytest.mark.parametrize(
    "file", [b"\xff\xfe\x00", b"{"]
)  # what else is no model: tests/environments/test_custom.py
def test_a_bad_file_gets_one_sentence_and_changes_nothing(file: bytes) -> None:
    s = Session()
    panel.received(s, File(file))
    assert s.upload_problem.endswith(".")
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
