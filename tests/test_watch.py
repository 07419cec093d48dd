"""What whoever runs a dashboard sees: how it stands, and what it logs."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from dprl import engine
from dprl.__main__ import main
from dprl.runs import logs
from dprl.runs.store import Store, default_path, others
from tests.problems import python
from tests.runs import fake, slots
from tests.runs.fake import FakeSpec
from tests.runs.test_workers import wait_for


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPRL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store(default_path(), fake.NAME)
    yield store
    store.close()


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_status_begins_no_store(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "status").startswith(f"store     none at {home / 'runs.sqlite'} yet\n")
    assert json.loads(said(capsys, "status", "--json"))["store"]["exists"] is False
    assert not home.exists()


def test_status_says_how_it_stands_and_names_nobody(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    store.ask(FakeSpec("bad", seeds=1), "ann-the-visitor")
    slots.work(store, slots.failing("Seed 0 failed: it could not be."))
    store.begin(2)
    done, long = FakeSpec("done", seeds=1, seconds=0.1), FakeSpec("long", seeds=3, seconds=60.0)
    store.ask(done, "ann-the-visitor")
    wait_for(lambda: store.status(done).state == "done")
    store.ask(long, "ann-the-visitor")
    wait_for(lambda: any(part["queue"]["seeds_running"] == 2 for part in others(store.path)))
    wait_for(lambda: not store.results.waiting)
    out = said(capsys, "status", "--json")
    found = json.loads(out)
    assert "ann" not in out
    counts = {"runs_waiting": 1, "seeds_queued": 1, "seeds_running": 2, "workers": 2}
    assert found["queue"] == counts | {"seconds_queued": 60.0}
    assert found["errors"] == ["today/bad//0: Seed 0 failed: it could not be."]
    assert found["store"]["results"] == 1
    assert found["versions"]["sources"] == engine.source_digest()
    text = said(capsys, "status")
    for part in (": 1 result, ", "1 run waiting, 1 seed queued (about 60 s on one core), 2 seeds running"):
        assert part in text
    assert "today/bad//0: Seed 0 failed: it could not be." in text


def test_lines_name_the_work_and_not_what_is_in_it(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """A spec may hold a visitor's words, which an error may repeat; so may the visitor's name."""
    caplog.set_level(logging.INFO, "dprl.runs")
    # whatever another library's settings have done to loggers that it did not know
    logging.getLogger("dprl.runs").disabled = False
    for spec in (FakeSpec("fine", seeds=1, seconds=0.01), FakeSpec("secret", seeds=1, act="raise")):
        store.ask(spec, "ann-the-visitor")
        slots.work(store)
    lines = [logs.Lines("worker").format(record) for record in caplog.records]
    found = [json.loads(line) for line in lines]
    assert [line["says"] for line in found[:3]] == ["A run is asked for", "A seed begins", "A seed is done"]
    assert len({line["run"] for line in found[:3]}) == 1
    assert found[2]["key"] == "today/fine//0"
    failed = found[-1]
    assert (failed["level"], failed["error"]) == ("error", "ZeroDivisionError")
    assert failed["key"] == "today/secret/raise/0"
    assert any(place.endswith(" advance") for place in failed["where"])
    assert "no such thing" not in "".join(lines).replace("\\n", " ")
    assert "ann-the-visitor" not in "".join(lines)
    assert all("\n" not in line for line in lines)


def test_all_that_a_process_logs_is_an_object_a_line() -> None:
    script = (
        "import logging, warnings; from dprl import serve, streamlit_patches; from dprl.runs import logs;"
        "logs.log_as('server');"
        "streamlit_patches.log_through_ours();"
        "from streamlit.logger import get_logger; get_logger('streamlit.anew').error('theirs');"
        "import uvicorn; uvicorn.Config(app=None); logging.getLogger('uvicorn.error').info('below');"
        "warnings.warn('beware'); serve.print_line('ours')"
    )
    done = python(script, DPRL_LOG="json")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["says"] for line in lines if "beware" not in line["says"]] == ["theirs", "below", "ours"]
    assert len(lines) == 4
    assert done.stdout == ""
