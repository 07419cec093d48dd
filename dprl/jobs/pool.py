"""The pool: `python -m dprl.jobs.pool` keeps DPRL_WORKERS worker processes alive on one store.

There is one pool per store (a lock on a file beside it). It ends on SIGTERM, on Ctrl-C and, when the app
started it, with the app, however that ends; its workers' seeds go back to the queue.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dprl.engine import cache_folder, private, remove_others, source_digest
from dprl.fields import SpecError
from dprl.jobs import logs
from dprl.jobs import simulation as simulations
from dprl.jobs.cluster import engine
from dprl.jobs.file import DiskFull, StoreError
from dprl.jobs.store import Store, default_path, setting
from dprl.jobs.worker import stop_when_stdin_closes

log = logging.getLogger("dprl.jobs.pool")

LOCKED = 3  # exit status: another pool serves this store
_LOOK = 0.1
_WITHDRAW = 1.0
_PATIENCE = 1.0  # while the disk is full
_GRACE = 3.0
_LATER = 5.0  # after which a pool whose parent has ended leaves the hard way
LONGEST_END = _GRACE + _LATER + 2.0  # seconds that a pool takes to end, at most
_LONGEST_PAUSE = 30.0


@dataclass
class _Slot:
    """A place for one worker; early_deaths: in a row, before the worker had run for some seconds."""

    process: subprocess.Popen[bytes] | None = None
    id: str = ""
    started: float = 0.0
    due: float = 0.0
    early_deaths: int = 0


@contextlib.contextmanager
def pool_lock(store: Path, patience: float = 0.0) -> Iterator[bool]:
    """Whether this process got the lock that a pool holds on its store; held inside the block."""
    private(store.parent)
    until = time.monotonic() + patience
    with open(f"{store}.pool", "a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(0.05)
                    continue
                yield False
            else:
                yield True
            return


def child_environment() -> dict[str, str]:
    """For subprocesses: this very package, and one thread each."""
    root = str(Path(__file__).parents[2])
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | dict.fromkeys(threads, "1")


def serve(
    store: Store, workers: int, simulation: str, stop: threading.Event, engine: str | None = None
) -> None:
    """Keep `workers` workers alive until `stop` is set; with an engine, the bridge to it instead."""
    command = [sys.executable, "-m", "dprl.jobs.worker", "--child", "--simulation", simulation]
    if engine is not None:
        command[2:3], workers = ["dprl.jobs.bridge", "--engine", engine], 1
    slots = [_Slot() for _ in range(workers)]
    store.jobs.recover()
    withdrawn = time.monotonic()
    try:
        while not stop.is_set():
            if time.monotonic() - withdrawn > _WITHDRAW:
                withdrawn = time.monotonic()
                with contextlib.suppress(StoreError):  # the next look tries again
                    store.leases.withdraw()
                    store.rooms.forget_old()
            for number, slot in enumerate(slots):
                own = [*command, *["--backwards"] * (number % 2)]  # two compile a half each
                try:
                    _look_after(slot, store, own, engine is not None)
                except DiskFull:
                    stop.wait(_PATIENCE)
                except StoreError as error:  # busy just now; the next look tries again
                    log.error("%s", error)
            stop.wait(_LOOK)
    finally:
        _end(slots, store)


def _look_after(slot: _Slot, store: Store, command: list[str], bridge: bool) -> None:
    if slot.process is not None and (code := slot.process.poll()) is not None:
        if bridge:  # not one of its seeds did it
            store.jobs.release(slot.id)
        else:
            store.jobs.died(slot.id, code)
        early = time.monotonic() - slot.started < 5.0
        slot.early_deaths = slot.early_deaths + 1 if early else 0
        pause = min(_LONGEST_PAUSE, 0.25 * 2**slot.early_deaths) if slot.early_deaths > 1 else 0.0
        log.warning("Worker %d ended (status %d); another one starts.", slot.process.pid, code)
        _close_input(slot.process)
        slot.process, slot.due = None, time.monotonic() + pause
    if slot.process is None and time.monotonic() >= slot.due:
        slot.id = uuid.uuid4().hex[:12]
        slot.started = time.monotonic()
        names = ["--store", str(store.path), "--id", slot.id]
        slot.process = subprocess.Popen([*command, *names], stdin=subprocess.PIPE, env=child_environment())
        store.jobs.enlist(slot.id, slot.process.pid, warm=False)


def _end(slots: list[_Slot], store: Store) -> None:
    alive = [slot for slot in slots if slot.process is not None]
    until = time.monotonic() + _GRACE
    for slot in alive:
        assert slot.process is not None
        slot.process.terminate()
    for slot in alive:
        assert slot.process is not None
        try:
            slot.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            slot.process.kill()
            slot.process.wait()
        _close_input(slot.process)
        try:
            store.jobs.release(slot.id)
        except StoreError as error:  # the next pool's recover() does it
            log.error("%s", error)


def _close_input(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()


def main(arguments: list[str] | None = None) -> int:
    """The pool's command line; its exit status (2: bad argument, 3: another pool serves this store)."""
    parser = argparse.ArgumentParser(
        prog="python -m dprl.jobs.pool", description="Keep worker processes alive."
    )
    parser.add_argument("--store", type=Path, help="the store's file (default: runs.sqlite in DPRL_HOME)")
    parser.add_argument("--workers", type=int, help="how many (default: DPRL_WORKERS, else 2)")
    parser.add_argument("--engine", help="a Dask scheduler instead of workers (default: DPRL_ENGINE)")
    parser.add_argument("--simulation", default=simulations.DEFAULT, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    logs.log_as("pool")
    if options.workers is not None and not 1 <= options.workers <= 256:
        parser.error(f"--workers is {options.workers}, and must be a whole number from 1 to 256")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    if options.child:
        stop_when_stdin_closes(stop, grace=_GRACE + _LATER)
    try:
        path: Path = (options.store or default_path()).absolute()
        address = engine(options.engine)
        workers = options.workers or setting("DPRL_WORKERS", 2, 1, 256)
        # Somebody who merely looks whether there is a pool holds the lock for an instant.
        with pool_lock(path, patience=1.0) as mine:
            if not mine:
                log.warning("Another pool already serves %s.", path)
                return LOCKED
            cache_folder()  # held, lest another version's pool removes it
            remove_others(source_digest())
            serve(Store(path), workers, options.simulation, stop, address)
    except (SpecError, StoreError) as error:
        log.error("%s", error)
        return 2
    except OSError as error:
        log.error("The pool cannot work on %s (%s).", path, error.strerror)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
