"""Worker processes, and a Dask cluster in their place: the same results, whatever dies, and nothing stays."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster

import dprl
from dprl import __main__ as cli
from dprl.fields import SpecError
from dprl.runs import cluster
from dprl.runs.database import StoreError
from dprl.runs.limits import Lease
from dprl.runs.store import Store, others
from dprl.runs.turn import Order
from dprl.runs.workers import Lost, PipeSlot
from tests.problems import first
from tests.runs import fake
from tests.runs.fake import FakeSpec

ROOT = Path(__file__).parents[2]
PATIENCE = 100.0


def wait_for(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


def workers(store: Store) -> list[int]:
    """The process ids of a store's workers."""
    return [slot.process.pid for slot in list(store.engine.slots) if isinstance(slot, PipeSlot)]


def alive(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with two workers, which tests leave as it was."""
    with closing(Store(tmp_path_factory.mktemp("kept") / "runs.sqlite", fake.NAME)) as store:
        yield store.begin(2)


def test_seeds_are_played_at_once_and_once_and_curves_grow(kept: Store, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    spec = FakeSpec("both", seeds=4, seconds=1.0, diary=str(diary))
    for visitor in ("ann", "bob", "eve"):
        kept.ask(spec, visitor)
    points: set[int] = set()
    while kept.status(spec, "ann").state != "done":
        points |= {len(at) for _, at, _ in kept.live(spec)}
        time.sleep(0.02)
    assert sorted(diary.read_text().split()) == [f"both/{seed}" for seed in range(4)]
    assert len(points) > 3
    assert [trace.complete for trace in kept.traces(spec)] == [True] * 4


def test_questions_are_answered_while_seeds_are_played(kept: Store) -> None:
    spec = FakeSpec("long", seeds=2, seconds=30.0)
    kept.ask(spec, "ann")
    wait_for(lambda: kept.activity().seeds_running == 2)
    wait_for(lambda: kept.answer("sum", FakeSpec()) == "sum of a")
    assert kept.status(spec).state == "running"
    kept.cancel(spec, "ann")
    wait_for(lambda: kept.activity().seeds_running == 0)


def test_a_seed_that_kills_its_worker_twice_fails_and_one_that_does_so_once_does_not(
    kept: Store, tmp_path: Path
) -> None:
    innocent = FakeSpec("innocent", seeds=4, seconds=1.5)
    once = FakeSpec("once", seeds=1, act=f"die-once:{tmp_path / 'marker'}")
    deadly = FakeSpec("deadly", seeds=1, act="die")
    for spec in (innocent, once, deadly):
        kept.ask(spec, spec.name)
    wait_for(lambda: all(kept.status(spec).state in ("done", "failed") for spec in (innocent, once, deadly)))
    assert kept.status(deadly).message == (
        "Seed 0 failed: its worker process died twice (killed by SIGKILL), perhaps because memory ran out."
    )
    assert (kept.status(once).state, kept.status(innocent).state) == ("done", "done")
    assert kept.status(innocent).message == ""


def test_what_a_lost_tab_asked_for_stops_after_the_grace(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_GRACE_SECONDS", "1")
    with closing(Store(path, fake.NAME)) as store:
        store.begin(2)
        for i in range(10):
            store.ask(FakeSpec(f"lost {i}", seeds=3, seconds=60.0), f"lost {i}", Lease(f"tab {i}"))
        store.ask(FakeSpec("here", seconds=60.0), "ann")
        wait_for(lambda: store.activity().seeds_running)
        wait_for(lambda: store.activity().seeds_queued + store.activity().seeds_running == 2)
        assert store.status(FakeSpec("lost 0", seeds=3, seconds=60.0), "lost 0").state == "cancelled"


SCRIPT = """
import sys, time
from pathlib import Path
from dprl.runs.store import Store
from tests.runs import fake
from tests.runs.test_workers import workers
store = Store(Path(sys.argv[1]), fake.NAME).begin(2)
store.ask(fake.FakeSpec("quick", seeds=2, seconds=0.1), "ann")
store.ask(fake.FakeSpec("long", seeds=2, seconds=60.0), "bob")
while store.results.waiting or store.status(fake.FakeSpec("quick", seeds=2, seconds=0.1)).state != "done":
    time.sleep(0.02)
print(*workers(store), flush=True)
time.sleep(60 if len(sys.argv) < 3 else 0)
"""


@pytest.mark.parametrize("how", first([signal.SIGKILL, signal.SIGTERM, None]))
def test_workers_end_with_the_dashboard_however_that_ends_and_results_are_there(
    path: Path, how: signal.Signals | None
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(path), *([] if how else ["end"])]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout is not None
        pids = [int(pid) for pid in app.stdout.readline().split()]
        assert len(pids) == 2
        if how:
            app.send_signal(how)
        app.wait(20)
    wait_for(lambda: not any(alive(pid) for pid in pids), 10.0)
    with closing(Store(path, fake.NAME)) as store:
        assert store.status(FakeSpec("quick", seeds=2, seconds=0.1)).state == "done"
        assert store.status(FakeSpec("long", seeds=2, seconds=60.0)).state == "unknown"
    assert others(path) == []


def listening(pids: Iterable[int]) -> set[int]:
    """The ports on which any of these processes listens."""
    found = (one for pid in pids for one in psutil.Process(pid).net_connections())
    return {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}


def test_workers_listen_on_no_port(kept: Store) -> None:
    assert listening(workers(kept)) == set()


SMALL = {"S": 3, "H": 3}
BLOCK = dprl.RunSpec(environment_params=SMALL, episodes=5000, seeds=2)
REAL: list[Any] = [
    BLOCK,
    BLOCK.replace(privacy="shuffle", seeds=1),
    BLOCK.replace(algorithm="ucbvi", privacy="none", episodes=200, schedule="episodic", seeds=1),
    dprl.OfflineSpec(environment_params=SMALL, n=1000, seeds=1),
    dprl.RunSpec(environment="linear-mixture", algorithm="ucrl-vtr", episodes=2000, seeds=1),
    dprl.simulation.AttackSpec(run=BLOCK.replace(episodes=2000), seeds=1),
]


def test_background_runs_give_what_run_gives_also_when_they_were_looked_at_on_the_way(path: Path) -> None:
    expected = [dprl.run(spec).seeds for spec in REAL]
    with closing(Store(path)) as store:
        store.begin(1)
        for spec in REAL:
            store.ask(spec, "ann")
        wait_for(lambda: not any(store.status(spec).state in ("queued", "running") for spec in REAL), 300)
        for spec, seeds in zip(REAL, expected, strict=True):
            assert store.status(spec).state == "done", store.status(spec).message
            for trace, (seed, at, values) in zip(store.traces(spec), store.live(spec), strict=True):
                assert trace.complete
                assert trace.spec == spec
                for curve in (trace.curve, seeds[seed].curve):
                    np.testing.assert_array_equal(curve.at, at)
                    np.testing.assert_array_equal(curve.values, values)
            assert len(store.live(spec)) == spec.seeds


@pytest.fixture(scope="module")
def two() -> Iterator[str]:
    """The address of a cluster of two workers, as one starts it for trying."""
    command = [sys.executable, "-m", "dprl", "cluster", "--workers", "2", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = re.search("a Dask cluster is at (tcp://127.0.0.1:[0-9]+);", process.stdout.readline())
        assert said is not None
        try:
            yield said[1]
        finally:  # else who failed would wait for it without end
            process.terminate()
        assert process.wait(PATIENCE) == 0


@pytest.fixture(scope="module")
def far(two: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store whose seeds are played on the cluster."""
    path = tmp_path_factory.mktemp("far") / "runs.sqlite"
    with closing(Store(path, fake.NAME)) as store:
        store.begin(engine=two)
        wait_for(lambda: store.activity().workers == 2)
        yield store


@pytest.mark.thorough
def test_seeds_on_a_cluster_come_to_what_they_come_to_here_though_a_worker_is_killed(
    far: Store, two: str, tmp_path: Path
) -> None:
    diary = tmp_path / "diary"
    spec = FakeSpec(seeds=10, seconds=0.5, diary=str(diary))
    far.ask(spec, "ann")
    wait_for(lambda: far.status(spec).seeds_done > 1)
    with Client(two, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: far.status(spec).state == "done")
    for seed, trace in enumerate(far.traces(spec)):
        assert trace.to_bytes() == fake.FakeTrace(seed, True).to_bytes()
    for _, at, values in far.live(spec):
        assert at.tolist() == list(range(1, 11))
        assert values.tolist() == [n / 2 for n in range(1, 11)]
    assert 10 <= len(diary.read_text().splitlines()) <= 12  # what the killed worker had begun was begun again
    wait_for(lambda: far.activity().workers == 2)  # its nanny started another, which joined


@pytest.mark.thorough
def test_running_seeds_show_how_far_they_are_give_way_and_stop_when_they_are_cancelled(far: Store) -> None:
    spec = FakeSpec(name="long", seeds=5, seconds=40.0)
    far.ask(spec, "ann")
    wait_for(lambda: len(far.live(spec)) == 2)
    other = FakeSpec(name="other", seeds=2, seconds=0.1)
    far.ask(other, "bob")
    wait_for(lambda: far.status(other).state == "done")
    assert far.status(spec).state == "running"
    far.cancel(spec, "ann")
    assert far.activity().seeds_running == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("act", "message"),
    [("raise", "Seed 0 failed: ZeroDivisionError: no such thing."), ("refuse", "episodes: too many.")],
)
def test_what_a_seed_raises_there_is_said_here(far: Store, act: str, message: str) -> None:
    """What is refused there is tried here: files may be kept on this machine alone."""
    spec = FakeSpec(name=act, seeds=1, seconds=0.1, act=act)
    far.ask(spec, "ann")
    wait_for(lambda: far.status(spec).state == "failed")
    assert far.status(spec).message == message


@pytest.mark.thorough
def test_a_scheduler_that_is_gone_costs_nothing_but_time(store: Store) -> None:
    spec = FakeSpec(seeds=6, seconds=0.4)
    here = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(protocol="tcp://", **here) as first:
        store.begin(engine=first.scheduler_address)
        store.ask(spec, "ann")
        wait_for(lambda: store.status(spec).seeds_done > 0)
    wait_for(lambda: store.notice == cluster.GONE or "no Dask scheduler" in store.notice)
    wait_for(lambda: store.activity().seeds_running == 0)
    assert 0 < store.activity().seeds_queued < 6
    port = int(first.scheduler_address.rpartition(":")[2])
    with LocalCluster(protocol="tcp://", scheduler_port=port, **here):
        wait_for(lambda: store.status(spec).state == "done")
        assert store.notice == ""


@pytest.mark.thorough
def test_a_cluster_with_other_sources_is_refused_in_one_sentence(
    far: Store, two: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def other_sources() -> None:
        from dprl.runs import cluster as remote

        remote.kept, remote.build = remote.build, lambda: "other"  # type: ignore

    def own_sources() -> None:
        from dprl.runs import cluster as remote

        remote.build = remote.kept  # type: ignore

    cluster.connected(two).close()
    monkeypatch.setenv("DPRL_HOME", str(tmp_path))
    spec = FakeSpec(name="refused", seeds=4, seconds=0.1)
    with Client(two, set_as_default=False) as client:
        client.run(other_sources)
        try:
            with pytest.raises(SystemExit):
                cli.main(["sweep", "--engine", two, "--axis", "epsilon=1", "--out", str(tmp_path)])
            assert capsys.readouterr().err == f"dprl: {cluster.OTHER}\n"
            far.ask(spec, "ann")
        finally:
            client.run(own_sources)
    wait_for(lambda: far.status(spec).state == "done")


def test_an_engine_is_an_address_and_needs_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPRL_ENGINE", raising=False)
    assert cluster.engine() is None
    monkeypatch.setenv("DPRL_ENGINE", "tcp://scheduler:8786")
    assert cluster.engine() == "tcp://scheduler:8786"
    assert cluster.engine("tls://other:1") == "tls://other:1"
    for wrong in ("scheduler:8786", "http://scheduler:8786", "tcp://scheduler", "dask"):
        with pytest.raises(SpecError, match=r"engine: .* give the address of a Dask scheduler"):
            cluster.engine(wrong)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SpecError, match=r"engine: Dask is not installed; install dprl\[dask\]"):
        cluster.engine()


def test_no_scheduler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT", 0.2)
    with pytest.raises(StoreError, match=r"There is no Dask scheduler at tcp://127.0.0.1:1."):
        cluster.connected("tcp://127.0.0.1:1")


@pytest.mark.parametrize("error", [CancelledError, UnboundLocalError, OSError])
def test_a_wait_that_is_lost_gives_the_turn_back(error: type[BaseException]) -> None:
    def result(timeout: float) -> None:
        raise error

    client = SimpleNamespace(submit=lambda *_, **__: SimpleNamespace(result=result))
    slot = cluster.DaskSlot(cast(Client, client), "tcp://127.0.0.1:1", fake.NAME)
    with pytest.raises(Lost):
        slot.play(Order("question", "key", "{}"))
