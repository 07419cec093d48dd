"""A worker process: `python -m dprl.jobs.worker`, started by the pool. Imports no Streamlit.

Warms the kernels, unless somebody waits already, then computes one seed after another in slices of about a tenth
of a second. Between slices it reports, and stops when nobody waits any more, when it is told to (SIGTERM), or when
its pool is gone.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from dprl.fields import SpecError
from dprl.jobs import simulation as simulations
from dprl.jobs.file import StoreError
from dprl.jobs.simulation import SeedRun, Simulation
from dprl.jobs.store import Store, Unit

log = logging.getLogger("dprl.jobs.worker")

_SLICE = 0.1
_FIRST_SLICE = 0.02
_POLL = 0.02
_ENLIST = 2.0
_NICE = 10


def work(store: Store, simulation: Simulation, worker: str, stop: threading.Event) -> None:
    """Compute seeds until `stop` is set."""
    enlisted = float("-inf")
    while not stop.is_set():
        if time.monotonic() - enlisted > _ENLIST:  # again and again: the store may have been begun anew
            store.enlist(worker, os.getpid(), warm=True)
            enlisted = time.monotonic()
        unit = store.claim(worker)
        if unit is None:
            stop.wait(_POLL)
        else:
            compute(store, simulation, unit, stop)


def warm(store: Store, simulation: Simulation, worker: str, stop: threading.Event) -> None:
    """Prepare all kernels. What is queued goes first: it compiles only those it needs."""
    try:
        for _ in simulation.warm():
            while not stop.is_set() and (unit := store.claim(worker)) is not None:
                store.enlist(worker, os.getpid(), warm=True)
                compute(store, simulation, unit, stop)
            if stop.is_set():
                return
    except StoreError:
        raise
    except Exception:  # each seed that needs the kernel will say so itself
        log.exception("The kernels could not be prepared")


def compute(store: Store, simulation: Simulation, unit: Unit, stop: threading.Event) -> None:
    """Compute one seed to its end; whatever it raises becomes its message."""
    try:
        run = simulation.start(unit.spec, unit.seed)
        finished, seconds, reported = False, _FIRST_SLICE, float("-inf")
        while not finished:
            finished = run.advance(seconds)
            if stop.is_set() and not finished:
                store.release(unit.worker)
                return
            if not finished and time.monotonic() - reported < 0.8 * _SLICE:
                continue
            reported, seconds = time.monotonic(), _SLICE
            wanted = _report(store, unit, run)
            if not finished and not wanted:
                store.keep(unit, run.trace().to_bytes())
                return
        store.finish(unit, run.trace().to_bytes())
    except StoreError as error:
        log.error("Seed %d: %s", unit.seed, error)
        store.fail(unit, f"Seed {unit.seed} failed: {error}")
    except Exception as error:
        log.exception("Seed %d of %s failed", unit.seed, unit.key)
        store.fail(unit, _sentence(unit.seed, error))


def _report(store: Store, unit: Unit, run: SeedRun) -> bool:
    curve = run.curve()
    return store.report(unit, run.progress, curve.at, curve.values)


def _sentence(seed: int, error: Exception) -> str:
    if isinstance(error, SpecError):
        return str(error)
    text = " ".join(str(error).split())[:300]
    return f"Seed {seed} failed: {type(error).__name__}" + (f": {text}" if text else "") + "."


def stop_when_stdin_closes(stop: threading.Event, grace: float) -> None:
    """Set `stop` when the parent process ends, and leave the hard way after `grace` seconds more.

    The other end of standard input is a pipe that the parent alone holds, so the system closes it however
    the parent ends.
    """

    def watch() -> None:
        while os.read(0, 4096):
            pass
        stop.set()
        time.sleep(grace)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def main(arguments: list[str] | None = None) -> int:
    """The worker's command line; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m dprl.jobs.worker", description=__doc__)
    parser.add_argument("--store", type=Path, help="the store's file")
    parser.add_argument(
        "--id", default=f"{os.getpid()}-{time.time_ns()}", help="this worker's name in the store"
    )
    parser.add_argument("--simulation", default=simulations.DEFAULT, help="module:function")
    parser.add_argument("--child", action="store_true", help="end when standard input closes")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="dprl worker: %(message)s")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    # Ctrl-C reaches every process of the terminal; the pool decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN if options.child else lambda *_: stop.set())
    if options.child:
        stop_when_stdin_closes(stop, grace=5.0)
    os.nice(_NICE)  # the pages' process goes first
    try:
        store = Store(options.store)
        store.enlist(options.id, os.getpid(), warm=False)
        simulation = simulations.load(options.simulation)
        store = Store(options.store, simulation)
        warm(store, simulation, options.id, stop)
        work(store, simulation, options.id, stop)
        store.release(options.id)
    except StoreError as error:
        log.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
