"""A small disk that something else fills at random moments. Run by `make faults` alone, and for root alone."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dprl.jobs import worker
from dprl.jobs.store import Store, StoreError
from tests.faults import walk
from tests.faults.forms import right, rng, sentence
from tests.faults.test_disk_and_clock import compute_all
from tests.faults.walk import WalkSpec


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)]
    subprocess.run(mount, check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_small_disk_that_others_fill(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_PATIENCE", 0.001)
    random = rng("small disk")
    store = Store(small_disk / "runs.sqlite", walk.simulation())
    ballast = small_disk / "ballast"
    stop = threading.Event()
    filled = 0

    def fill() -> None:
        nonlocal filled
        while not stop.wait(float(random.uniform(0.0, 0.02))):
            with contextlib.suppress(OSError), ballast.open("wb") as file:
                while not stop.is_set() and random.random() < 0.999:
                    file.write(bytes(65536))
                    file.flush()
            filled += 1
            ballast.unlink(missing_ok=True)

    other = threading.Thread(target=fill)
    other.start()
    refused: list[str] = []
    done: list[WalkSpec] = []
    try:
        while len(done) < 25:
            spec = WalkSpec(f"walk {len(done)}", seeds=3, chunks=10, pause=0.001)
            try:
                store.requests.add(spec, "ann")
                compute_all(store, spec)
            except StoreError as error:
                refused.append(str(error))
            else:
                done.append(spec)
    finally:
        stop.set()
        other.join()
    assert [right(store, spec) for spec in done] == [3] * len(done)
    assert all(sentence(said) for said in refused)
    print(
        f"small disk: filled {filled} times, {len(refused)} refusals, {3 * len(done)} results, 0 lost, 0 wrong"
    )
    store.close()
