"""A Dask cluster in place of workers: the same results, whatever dies."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from distributed import Client, LocalCluster

from dprl import __main__ as cli
from dprl.fields import SpecError
from dprl.runs import cluster
from dprl.runs.database import StoreError
from dprl.runs.store import Store
from dprl.runs.turn import Order
from dprl.runs.workers import Lost
from tests.runs import fake
from tests.runs.fake import FakeSpec
from tests.runs.test_workers import ROOT, wait_for

PATIENCE = 100.0


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
        wait_for(lambda: store.activity().workers == 2, PATIENCE)
        yield store


def state(store: Store, spec: FakeSpec) -> str:
    return store.status(spec).state


@pytest.mark.thorough
def test_seeds_on_a_cluster_come_to_what_they_come_to_here_though_a_worker_is_killed(
    far: Store, two: str, tmp_path: Path
) -> None:
    diary = tmp_path / "diary"
    spec = FakeSpec(seeds=10, seconds=0.5, diary=str(diary))
    far.ask(spec, "ann")
    wait_for(lambda: far.status(spec).seeds_done > 1, PATIENCE)
    with Client(two, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: state(far, spec) == "done", PATIENCE)
    for seed, trace in enumerate(far.traces(spec)):
        assert trace.to_bytes() == fake.FakeTrace(seed, True).to_bytes()
    for _, at, values in far.live(spec):
        assert at.tolist() == list(range(1, 11))
        assert values.tolist() == [n / 2 for n in range(1, 11)]
    assert 10 <= len(diary.read_text().splitlines()) <= 12  # what the killed worker had begun was begun again
    wait_for(lambda: far.activity().workers == 2, PATIENCE)  # its nanny started another, which joined


@pytest.mark.thorough
def test_running_seeds_show_how_far_they_are_give_way_and_stop_when_they_are_cancelled(far: Store) -> None:
    spec = FakeSpec(name="long", seeds=5, seconds=40.0)
    far.ask(spec, "ann")
    wait_for(lambda: len(far.live(spec)) == 2, PATIENCE)
    other = FakeSpec(name="other", seeds=2, seconds=0.1)
    far.ask(other, "bob")
    wait_for(lambda: state(far, other) == "done", PATIENCE)
    assert state(far, spec) == "running"
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
    wait_for(lambda: state(far, spec) == "failed", PATIENCE)
    assert far.status(spec).message == message


@pytest.mark.thorough
def test_a_scheduler_that_is_gone_costs_nothing_but_time(store: Store) -> None:
    spec = FakeSpec(seeds=6, seconds=0.4)
    here = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(protocol="tcp://", **here) as first:
        store.begin(engine=first.scheduler_address)
        store.ask(spec, "ann")
        wait_for(lambda: store.status(spec).seeds_done > 0, PATIENCE)
    wait_for(lambda: store.notice == cluster.GONE or "no Dask scheduler" in store.notice, PATIENCE)
    wait_for(lambda: store.activity().seeds_running == 0, PATIENCE)
    assert 0 < store.activity().seeds_queued < 6
    port = int(first.scheduler_address.rpartition(":")[2])
    with LocalCluster(protocol="tcp://", scheduler_port=port, **here):
        wait_for(lambda: state(store, spec) == "done", PATIENCE)
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
    wait_for(lambda: state(far, spec) == "done", PATIENCE)


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
