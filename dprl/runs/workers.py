"""Worker processes on this machine, each of which works on one task at a time."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from socket import socketpair
from typing import Literal, Protocol

from dprl.runs import logs
from dprl.runs.turn import SIMULATION, Order, Report, play

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_NICE = 10
_EARLY = 5.0  # seconds: a worker that dies sooner is restarted only after this time


class Died(RuntimeError):
    """Raised when a worker process has died. The message gives the cause, or "" if the process was idle."""


class Lost(RuntimeError):
    """Raised when a worker can no longer be reached, for a reason unrelated to its task."""


class Slot(Protocol):
    """A worker, which handles one task at a time. `plays` is the kind of tasks that it accepts: `all`, `here`
    (questions, and seeds that no cluster can compute) or `away` (all other tasks)."""

    plays: Literal["all", "here", "away"]

    def play(self, order: Order) -> Report: ...
    def close(self) -> None: ...


class PipeSlot:
    """A worker process on this machine, connected by a private socket pair; it ends when the connection closes.
    It does not use `multiprocessing`, which would run Streamlit's script again."""

    def __init__(self, simulation: str = SIMULATION, plays: Literal["all", "here"] = "all") -> None:
        self.plays: Literal["all", "here", "away"] = plays
        self._simulation, self._closed = simulation, threading.Event()
        self._start()

    def play(self, order: Order) -> Report:
        """Let the process work on a task for a turn. Raises Died and starts a new process, or Lost after `close`."""
        idle = self.process.poll() is not None
        try:
            if idle:
                raise EOFError
            self._pipe.send(order)
            report: Report = self._pipe.recv()
            return report
        except (EOFError, OSError):
            if self._closed.is_set():
                raise Lost("The dashboard ends.") from None
            code = self._end()
            if idle and time.monotonic() - self._began < _EARLY:
                self._closed.wait(_EARLY)
            self._start()
            cause = f"exit status {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
            raise Died("" if idle else cause) from None

    def close(self) -> None:
        """End the worker process."""
        self._closed.set()
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._end()

    def _start(self) -> None:
        ours, theirs = socketpair()
        command = [sys.executable, "-m", "dprl.runs.workers", str(theirs.fileno()), self._simulation]
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=child_environment(), stdin=subprocess.PIPE, start_new_session=True
        )  # fmt: skip
        theirs.close()
        self._pipe = Connection(ours.detach())
        self._began = time.monotonic()

    def _end(self) -> int:
        try:
            self.process.communicate(timeout=2.0)
        except subprocess.TimeoutExpired:  # it has closed its end, but still runs
            self.process.kill()
        self._pipe.close()
        return self.process.wait(5.0)


def child_environment() -> dict[str, str]:
    """Return the environment variables for subprocesses, which must find this package and use one thread each."""
    paths = f"{Path(__file__).parents[2]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return os.environ | {"PYTHONPATH": paths.rstrip(os.pathsep)} | dict.fromkeys(_THREADS, "1")


def end_with_parent() -> None:
    """Make this process end together with its parent, which it detects by the end of its standard input."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def main(descriptor: int, simulation: str) -> None:
    """Run a worker process until the dashboard ends: receive tasks, and send reports."""
    logs.log_as("worker")
    os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the terminal is for the dashboard
    end_with_parent()
    # imports the simulation before the first task arrives
    threading.Thread(target=importlib.import_module, args=(simulation,), daemon=True).start()
    pipe = Connection(descriptor)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(play(pipe.recv(), simulation))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
