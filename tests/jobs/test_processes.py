"""The pool and its workers, as real processes on a simulation that only sleeps."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from dprl.jobs import local, pool
from dprl.jobs.store import Lease, Store
from dprl.jobs.worker import prepare_kernels
from tests.jobs import fake
from tests.jobs.fake import FakeSpec
from tests.problems import first

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds, on a machine that is busy with other tests; what never comes still fails


def wait_for(condition: Callable[[], object], seconds: float = PATIENCE) -> float:
    """Wait until it holds; how long that took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, "waited in vain"
        time.sleep(0.01)
    return time.monotonic() - start


def start_pool(path: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dprl.jobs.pool", "--store", str(path), "--simulation", fake.NAME, *more]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)


def end(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> str:
    """End it; what it said."""
    process.send_signal(how)
    _, said = process.communicate(timeout=PATIENCE)
    return said.decode()


@contextmanager
def served(path: Path) -> Iterator[Store]:
    """A store with a pool that the app started."""
    store = Store(path, fake.simulation())
    local.ensure_pool(path, fake.NAME)
    wait_for(lambda: store.status.activity().warm == 2)
    yield store
    local.stop(path)
    store.close()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Path]]:
    """One for several tests, each of which leaves it with two workers that wait: processes take long to begin."""
    path = tmp_path_factory.mktemp("kept") / "runs.sqlite"
    with served(path) as store:
        yield store, path


@pytest.fixture
def ensured(path: Path) -> Iterator[Store]:
    """One that a test may break."""
    with served(path) as store:
        yield store


def workers(path: Path) -> list[int]:
    with sqlite3.connect(path) as db:
        found = [int(row[0]) for row in db.execute("SELECT pid FROM worker ORDER BY pid")]
    db.close()
    return found


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the second where it ends between opening and reading
        return False


def test_runs_are_computed_at_once_and_once(kept: tuple[Store, Path], tmp_path: Path) -> None:
    ensured, path = kept
    diary = tmp_path / "diary"
    spec = FakeSpec(seeds=4, seconds=0.5, diary=str(diary))
    ensured.requests.add(spec, "ann")
    ensured.requests.add(spec, "bob")
    wait_for(lambda: ensured.results.live(spec))
    assert ensured.status.of(spec).state == "running"
    wait_for(lambda: ensured.status.of(spec).state == "done")
    assert sorted(diary.read_text().split()) == [f"a/{seed}" for seed in range(4)]
    assert [trace.complete for trace in ensured.results.traces(spec)] == [True] * 4
    assert [len(episodes) for _, episodes, _ in ensured.results.live(spec)] == [10] * 4
    for pid in workers(path):
        assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)


def test_cancel_and_errors_leave_the_worker_alive(kept: tuple[Store, Path]) -> None:
    ensured, path = kept
    before = workers(path)
    long = FakeSpec("long", seeds=2, seconds=30.0)
    ensured.requests.add(long, "ann")
    wait_for(lambda: len(ensured.results.live(long)) == 2)
    ensured.requests.cancel(long, "ann")
    assert ensured.status.of(long).state == "cancelled"
    wait_for(lambda: len(ensured.results.traces(long)) == 2)
    assert not any(trace.complete for trace in ensured.results.traces(long))

    broken, refused = FakeSpec("b", seeds=1, act="raise"), FakeSpec("r", seeds=1, act="refuse")
    ensured.requests.add(broken, "ann")
    ensured.requests.add(refused, "ann")
    wait_for(lambda: ensured.status.of(broken).state == ensured.status.of(refused).state == "failed")
    assert ensured.status.of(broken).message == "Seed 0 failed: ZeroDivisionError: no such thing."
    assert ensured.status.of(refused).message == "episodes: too many."
    assert workers(path) == before


def test_a_worker_that_dies(kept: tuple[Store, Path], tmp_path: Path) -> None:
    ensured, path = kept
    diary = tmp_path / "diary"
    once = FakeSpec("once", seeds=1, act=f"die-once:{tmp_path / 'marker'}", diary=str(diary))
    ensured.requests.add(once, "ann")
    wait_for(lambda: ensured.status.of(once).state == "done")
    assert diary.read_text().split() == ["once/0", "once/0"]

    always = FakeSpec("always", seeds=1, act="die")
    ensured.requests.add(always, "ann")
    wait_for(lambda: ensured.status.of(always).state == "failed")
    assert "its worker process died twice (killed by SIGKILL)" in ensured.status.of(always).message

    victim = FakeSpec("victim", seeds=1, seconds=1.0, diary=str(diary))
    wait_for(lambda: ensured.status.activity().warm == 2)
    ensured.requests.add(victim, "ann")
    wait_for(lambda: ensured.results.live(victim))
    for pid in workers(path):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: "run again" in ensured.status.of(victim).message)
    wait_for(lambda: ensured.status.of(victim).state == "done")
    assert diary.read_text().split().count("victim/0") == 2
    wait_for(lambda: ensured.status.activity().warm == 2)


@pytest.mark.thorough
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_ended_pool_hands_back_and_the_next_goes_on(path: Path, store: Store, how: signal.Signals) -> None:
    spec = FakeSpec(seeds=2, seconds=1.0)
    store.requests.add(spec, "ann")
    first = start_pool(path, "--workers", "1")
    wait_for(lambda: store.results.live(spec))
    pids = workers(path)
    # Ctrl-C reaches the workers as well.
    if how is signal.SIGINT:
        for pid in pids:
            os.kill(pid, how)
    end(first, how)
    wait_for(lambda: not any(alive(pid) for pid in pids))
    status = store.status.of(spec)
    assert (status.state, status.message) == ("queued", "")
    assert store.status.activity().workers == 0
    second = start_pool(path, "--workers", "2")
    wait_for(lambda: store.status.of(spec).state == "done")
    assert store.status.of(spec).message == ""
    end(second)
    assert first.returncode == (-how if how is signal.SIGKILL else 0)
    assert second.returncode == 0


def test_the_pool_ends_with_the_app_however_that_ends(path: Path, store: Store) -> None:
    spec = FakeSpec(seeds=1, seconds=30.0)
    store.requests.add(spec, "ann")
    code = (
        "import sys, time; from pathlib import Path; from dprl.jobs import local; "
        f"[local.ensure_pool(Path({str(path)!r}), {fake.NAME!r}) for _ in range(3)]; time.sleep(60)"
    )
    app = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    wait_for(lambda: store.results.live(spec))
    pids = workers(path)
    assert len(pids) == 2
    app.kill()
    app.wait()
    wait_for(lambda: not any(alive(pid) for pid in pids), seconds=20.0)  # before the seed would be done
    wait_for(lambda: store.status.of(spec).state == "queued", seconds=20.0)


def test_one_pool_per_store(kept: tuple[Store, Path]) -> None:
    _, path = kept
    second = start_pool(path)
    _, said = second.communicate(timeout=PATIENCE)
    assert second.returncode == pool.LOCKED
    assert "Another pool already serves" in said.decode()
    before = workers(path)
    local.ensure_pool(path, fake.NAME)
    assert workers(path) == before


@pytest.mark.thorough
def test_a_pool_ended_by_hand_is_started_again(ensured: Store, path: Path) -> None:
    process = local._pools[path]
    process.kill()
    process.wait()

    def restarted() -> bool:
        local.ensure_pool(path, fake.NAME)
        return local._pools[path] is not process

    wait_for(restarted)
    spec = FakeSpec()
    ensured.requests.add(spec, "ann")
    wait_for(lambda: ensured.status.of(spec).state == "done")


@pytest.mark.thorough
def test_the_store_is_deleted_under_the_pool(ensured: Store, path: Path) -> None:
    for file in path.parent.glob("runs.sqlite*"):
        if file.suffix != ".pool":
            file.unlink(missing_ok=True)  # the pool itself may remove its log
    spec = FakeSpec()
    ensured.requests.add(spec, "ann")
    wait_for(lambda: ensured.status.of(spec).state == "done")
    wait_for(lambda: ensured.status.activity().warm == 2)


@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    first(
        [
            (
                [],
                {"DPRL_WORKERS": "many"},
                "DPRL_WORKERS is 'many', and must be a whole number from 1 to 256.",
            ),
            (["--workers", "0"], {}, "--workers is 0, and must be a whole number from 1 to 256"),
            (
                ["--store", "/proc/nowhere/runs.sqlite"],
                {},
                "The pool cannot work on /proc/nowhere/runs.sqlite",
            ),
        ]
    ),
)
def test_bad_arguments(path: Path, arguments: list[str], environment: dict[str, str], sentence: str) -> None:
    command = [sys.executable, "-m", "dprl.jobs.pool", "--store", str(path), *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_workers_import_no_streamlit() -> None:
    code = (
        "import sys, dprl.jobs.worker, dprl.jobs.pool, dprl.jobs.local, dprl.jobs.simulation as s; "
        "s.dprl_simulation(); sys.exit('streamlit' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_what_waits_goes_before_the_rest_of_warming_up(store: Store) -> None:
    """So a first sweep on the command line does not wait for kernels it has no use for."""
    seen: list[object] = []

    def steps(backwards: bool) -> Iterator[None]:
        seen.append(store.status.activity().warm)
        yield
        seen.extend([store.status.of(spec).state, store.status.activity().warm])
        yield

    spec = FakeSpec(seeds=2)
    store.requests.add(spec, "ann")
    prepare_kernels(store, replace(fake.simulation(), warm=steps), "w", threading.Event())
    assert seen == [0, "done", 1]


@pytest.mark.thorough
def test_the_pool_withdraws_what_a_tab_that_has_gone_asked_for(ensured: Store, path: Path) -> None:
    spec = FakeSpec("long", seeds=20, seconds=60.0)
    ensured.requests.add(spec, "ann", Lease("ann"))
    wait_for(lambda: ensured.status.activity().seeds_running == 2)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE tab SET here = 0, seen_at = 0")
    db.close()
    wait_for(
        lambda: (ensured.status.activity().seeds_running, ensured.status.activity().seeds_queued) == (0, 0)
    )
    assert ensured.status.of(spec, "ann").state == "cancelled"
