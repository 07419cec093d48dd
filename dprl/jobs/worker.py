"""A worker process: `python -m dprl.jobs.worker`, started by the pool. Imports no Streamlit.

Warms the kernels, unless somebody waits already, then computes one seed after another in slices of about a tenth
of a second. Between slices it answers questions, reports, and stops when nobody waits any more, when it is told to
(SIGTERM), or when its pool is gone. A long seed gives way to visitors who have none running: it is preempted, kept in
memory, and goes on from there in its turn.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dprl.fields import SpecError
from dprl.jobs import logs
from dprl.jobs import simulation as simulations
from dprl.jobs.file import DiskFull, StoreError
from dprl.jobs.simulation import CurveLike, SeedRunLike, Simulation
from dprl.jobs.store import SeedJob, Store

log = logging.getLogger("dprl.jobs.worker")

_SLICE = 0.1
_FIRST_SLICE = 0.02
_POLL = 0.02
_ENLIST = 2.0
_PATIENCE = 5.0  # while the disk is full
_TURN = 1.0  # after which a seed gives way to a visitor who has none running
_HELD = 4  # seeds begun and kept in memory, the one that is computed among them
_NICE = 10


def work(store: Store, simulation: Simulation, worker: str, stop: threading.Event) -> None:
    """Compute seeds until `stop` is set."""
    enlisted = float("-inf")
    while not stop.is_set():
        try:
            if time.monotonic() - enlisted > _ENLIST:  # again and again: the store may have been begun anew
                store.jobs.enlist(worker, os.getpid(), warm=True)
                enlisted = time.monotonic()
            answer_questions(store, simulation)
            job = store.jobs.claim(worker)
            if job is None:
                stop.wait(_POLL)
            else:
                compute_seed(store, simulation, job, stop)
        except DiskFull:
            stop.wait(_PATIENCE)


def prepare_kernels(
    store: Store, simulation: Simulation, worker: str, stop: threading.Event, backwards: bool = False
) -> None:
    """Prepare all kernels, in one order or the other. What is queued goes first: it compiles only those it needs."""
    try:
        for _ in simulation.warm(backwards):
            answer_questions(store, simulation)
            while not stop.is_set() and (job := store.jobs.claim(worker)) is not None:
                store.jobs.enlist(worker, os.getpid(), warm=True)
                compute_seed(store, simulation, job, stop)
            if stop.is_set():
                return
    except DiskFull:
        return  # what is left of warming up waits, as everything does
    except StoreError:
        raise
    except Exception:  # each seed that needs the kernel will say so itself
        log.exception("The kernels could not be prepared")


@dataclass(eq=False)
class _Held:
    """A seed that this worker is at, or has preempted; begun, turn: when it was begun, and when this worker
    began to be at it, on the monotonic clock."""

    job: SeedJob
    run: SeedRunLike | None = None
    seconds: float = _FIRST_SLICE
    reported: float = float("-inf")
    begun: float = field(default_factory=time.monotonic)
    turn: float = field(default_factory=time.monotonic)


def compute_seed(store: Store, simulation: Simulation, job: SeedJob, stop: threading.Event) -> None:
    """Compute one seed to its end, and those it gives way to; whatever a seed raises becomes its message.

    Raises DiskFull when told to stop while it waits for room to store what it has.
    """
    held = deque([_Held(job)])
    while held:
        job = held[0].job
        try:
            ended = _slice(store, simulation, held[0], stop)
        except DiskFull:
            raise
        except StoreError as error:
            log.error("Seed %d: %s", job.seed, error, extra=of_work(job))
            insist(partial(store.jobs.fail, job, f"Seed {job.seed} failed: {error}"), stop)
            ended = True
        except Exception as error:
            log.exception("Seed %d of %s failed", job.seed, job.key, extra=of_work(job))
            insist(partial(store.jobs.fail, job, sentence(job.seed, error)), stop)
            ended = True
        if ended:
            held.popleft()
            if held:
                _begin_turn(store, held[0])
        if held and stop.is_set():
            store.jobs.release(job.worker)
            return
        answer_questions(store, simulation)
        if held and time.monotonic() - held[0].turn > _TURN:
            with contextlib.suppress(DiskFull):
                _give_way(store, held)


def _slice(store: Store, simulation: Simulation, held: _Held, stop: threading.Event) -> bool:
    """Go on with a seed for a moment; whether that was its end: it is finished, or nobody wants it any more."""
    job = held.job
    if held.run is None:
        log.info("A seed begins", extra=of_work(job))
    run = held.run = held.run or simulation.start(job.spec, job.seed)
    if not run.advance(held.seconds):
        if stop.is_set() or time.monotonic() - held.reported < 0.8 * _SLICE:
            return False
        held.reported, held.seconds = time.monotonic(), _SLICE
        if report_progress(store, job, run.progress, run.curve()):
            return False
        insist(partial(store.results.keep, job, run.trace().to_bytes()), stop)
        log.info("A seed that nobody waits for stops", extra=of_work(job))
        return True
    insist(partial(finish_seed, store, job, run.progress, run.curve(), run.trace().to_bytes()), stop)
    log.info("A seed is done", extra=of_work(job) | {"seconds": round(time.monotonic() - held.begun, 3)})
    return True


def _give_way(store: Store, held: deque[_Held]) -> None:
    """The first seed has had its turn. The next goes to a visitor who has none running, else to what is preempted.

    No more than _HELD are kept in memory: one for which nobody here waits makes room.
    """
    full = len(held) >= _HELD
    spare = next((one for one in held if store.jobs.left_alone(one.job)), None) if full else None
    guest = store.jobs.claim(held[0].job.worker, beside=True) if spare or not full else None
    if guest is not None:
        if spare is not None:
            store.jobs.give_back(spare.job)
            held.remove(spare)
        held.appendleft(_Held(guest))
    else:
        held.rotate(-1)
    if len(held) > 1:
        _begin_turn(store, held[0])
    else:
        held[0].turn = time.monotonic()


def _begin_turn(store: Store, held: _Held) -> None:
    held.turn = time.monotonic()
    with contextlib.suppress(DiskFull):
        store.jobs.switch_to(held.job)


def answer_questions(store: Store, simulation: Simulation) -> None:
    """Answer what is asked. A page waits for it, so this comes before and between the slices of seeds."""
    with contextlib.suppress(DiskFull):
        while (asked := store.questions.next()) is not None:
            try:
                found = simulation.answer(asked.question, asked.spec)
            except Exception:
                log.exception("The question of %s could not be answered", asked.question)
                found = ""
            store.questions.answer(asked, found)


def report_progress(store: Store, job: SeedJob, progress: float, curve: CurveLike) -> bool:
    """Whether the seed is still wanted; where the disk is full, that cannot be said, and computing goes on."""
    try:
        return store.results.report(job, progress, curve.at, curve.values)
    except DiskFull:
        return True


def finish_seed(store: Store, job: SeedJob, progress: float, curve: CurveLike, trace: bytes) -> None:
    """The seed has ended: its whole curve, and its trace."""
    report_progress(store, job, progress, curve)
    store.results.finish(job, trace)


def insist(write: Callable[[], None], stop: threading.Event) -> None:
    """Write; while the disk is full, wait for room, at most until told to stop. Raises DiskFull then."""
    while True:
        try:
            write()
            return
        except DiskFull:
            if stop.wait(_PATIENCE):
                raise


def of_work(job: SeedJob) -> dict[str, object]:
    """What a line of the log says of a seed: no more than names."""
    return {"run": job.run, "key": job.key, "seed": job.seed}


def sentence(seed: int, error: Exception) -> str:
    """What a seed's error is to a visitor."""
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


def add_flags(parser: argparse.ArgumentParser) -> None:
    """What the pool tells its children."""
    parser.add_argument("--store", type=Path, help="the store's file")
    parser.add_argument(
        "--id", default=f"{os.getpid()}-{time.time_ns()}", help="this worker's name in the store"
    )
    parser.add_argument("--simulation", default=simulations.DEFAULT, help="module:function")
    parser.add_argument("--child", action="store_true", help="end when standard input closes")
    parser.add_argument("--backwards", action="store_true", help="prepare the last kernel first")


def until_told(child: bool) -> threading.Event:
    """Set by SIGTERM, and when the parent of a child ends, otherwise by Ctrl-C."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    # Ctrl-C reaches every process of the terminal; the pool decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN if child else lambda *_: stop.set())
    if child:
        stop_when_stdin_closes(stop, grace=5.0)
    return stop


def main(arguments: list[str] | None = None) -> int:
    """The worker's command line; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m dprl.jobs.worker", description=__doc__)
    add_flags(parser)
    options = parser.parse_args(arguments)
    logs.log_as("worker")
    stop = until_told(options.child)
    os.nice(_NICE)  # the pages' process goes first
    try:
        store = Store(options.store)
        with contextlib.suppress(DiskFull):
            store.jobs.enlist(options.id, os.getpid(), warm=False)
        simulation = simulations.load(options.simulation)
        store = Store(options.store, simulation)
        prepare_kernels(store, simulation, options.id, stop, options.backwards)
        work(store, simulation, options.id, stop)
        store.jobs.release(options.id)
    except StoreError as error:
        log.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
