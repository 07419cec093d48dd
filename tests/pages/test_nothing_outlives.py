"""What is left of a file when its session has gone, and when that is."""

from __future__ import annotations

import io
import json
import logging
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dprl.simulation.uploads import kept
from dprl.simulation.uploads.ledger import Budget
from pages.data import own as own
from pages.data.own import Belongings, belongings
from tests.pages.conftest import Visit, Work, press, words
from tests.pages.test_upload import CSV, data_of, given

# A user, a state and an action of nobody else.
MARKS = WHO, WHERE, WHAT = "Zebediah-7731", "cellar-8842", "potion-9953"


def contents(path: Path) -> Iterator[bytes]:
    """A file as it is; and what is packed in it, in an archive or in the cells of a store."""
    held = [path.read_bytes()]
    if held[0].startswith(b"SQLite"):
        with closing(sqlite3.connect(path)) as store:
            for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in store.execute(f'SELECT * FROM "{table}"'):
                    held += [cell for cell in row if isinstance(cell, bytes)]
    yield from held
    for data in held:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                yield from map(archive.read, archive.namelist())


@pytest.fixture
def raw(
    visit: Visit, work: Work, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> tuple[list[bytes], str]:
    """A visitor gives two files, releases one, and goes: the rows of the counts; what was in address and logs."""
    caplog.set_level(logging.DEBUG, "dprl")
    app = visit("data")
    mine = CSV
    for step in range(4):
        mine = mine.replace(f"\n0,{step},", f"\n{WHO},{step},", 1)
    given(app, mine.replace(f"{WHO},1,", f"{WHO},7,", 1))
    assert "step 1 of episode" in words(app)
    heading, first, second, *rest = mine.splitlines()
    strange = [line.split(",") for line in (first, second)]
    strange[0][3], strange[1][2] = WHAT, WHERE
    given(app, "\n".join([heading, *map(",".join, strange), *rest]))
    assert WHERE in words(app)  # the owner alone is told
    held = kept.held(data_of(app).data)
    records = (held.record, held.held.record)
    rows = [row.tobytes() for record in records for row in record.reshape(-1, record.shape[-1]) if row.any()]
    assert any(row in part for path in kept.folder().iterdir() for part in contents(path) for row in rows)
    press(app, "own_run")
    assert work() == 1
    app.run()
    assert "than today" in words(app) or "close" in words(app)
    address = json.dumps(dict(app.query_params))
    belongings().look(lambda session: False, -1.0)
    return rows, address + caplog.text + "".join(capfd.readouterr())


def test_what_outlives_a_session_is_what_was_released(raw: tuple[list[bytes], str], tmp_path: Path) -> None:
    """In every file under DPRL_HOME, packed ones too, in the logs and in the address."""
    rows, said = raw
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert list(kept.folder().iterdir()) == []
    assert any(path.suffix == ".sqlite" for path in files)
    assert any(path.parent.name == "budgets" for path in files)
    for path in files:
        for part in contents(path):
            assert not [mark for mark in [*map(str.encode, MARKS), *rows] if mark in part], path.name
    assert not [mark for mark in MARKS if mark in said]
    assert not re.search(r"\b[0-9a-f]{32}\b", said)  # nor the name that counts were kept under
    (budget,) = (path for path in files if path.parent.name == "budgets" and path.suffix == ".json")
    (release,) = Budget(json.loads(budget.read_text(encoding="utf-8"))["name"]).releases
    assert np.isfinite(release.rho or np.nan)


def test_it_ends_when_its_tab_has_gone_for_a_while_and_nobody_works_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, here, busy = [0.0], {"one", "two"}, [True]
    ended: list[str] = []
    monkeypatch.setattr(own.time, "monotonic", lambda: now[0])
    all_of_them = Belongings()
    for session in ("one", "two"):
        monkeypatch.setattr(own, "session_id", partial(str, session))
        all_of_them.add(session, partial(ended.append, session), lambda: busy[0])

    def look(time: float) -> list[str]:
        now[0] = time
        all_of_them.look(here.__contains__, 45.0)
        return ended

    assert look(100.0) == []
    here.discard("one")
    assert look(140.0) == []  # a page that is loaded anew
    assert look(150.0) == []  # a release is being made
    busy[0] = False
    assert look(151.0) == ["one"]
    assert look(300.0) == ["one"]
    all_of_them.end("two")
    all_of_them.end("two")
    assert ended == ["one", "two"]
