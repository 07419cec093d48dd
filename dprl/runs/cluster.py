"""Dask clusters that replace local workers.

To start one on this machine for trials: python -m dprl cluster [--workers 2] [--port 8786]
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import re
import signal
import threading
import time
from concurrent.futures import CancelledError
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from dprl.engine import source_digest
from dprl.fields import Field, SpecError, check_type, not_allowed
from dprl.runs.database import StoreError
from dprl.runs.turn import Order, Report, play
from dprl.runs.workers import Died, Lost

if TYPE_CHECKING:
    from distributed import Client


log = logging.getLogger("dprl.runs.cluster")

WORKERS = Field(
    "workers", "int", 2, "worker processes, with one thread each", low=1, high=256, flag="--workers"
)
PORT = Field(
    "port", "int", 8786, "port of the scheduler; 0 for any free port", low=0, high=65535, flag="--port"
)
OTHER = "The Dask cluster cannot be used; install the same versions of dprl, NumPy and numba on its workers as here."
GONE = "The Dask scheduler cannot be reached; its seeds wait until it is back."
_WHAT = "the address of a Dask scheduler, such as tcp://localhost:8786"
_CONNECT = 10.0
_LOOK = 0.5
_ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:\d{1,5}")


def build() -> str:
    """Identify the versions on which results depend: a digest of the sources, and NumPy's and numba's versions."""
    return f"{source_digest()} {version('numpy')} {version('numba')}"


def engine(text: str | None = None) -> str | None:
    """Return the Dask scheduler's address from `text` or DPRL_ENGINE, or None for local workers. Raises SpecError."""
    check_type("engine", text, str | None, _WHAT)
    text = (text or os.environ.get("DPRL_ENGINE", "")).strip()
    if not text:
        return None
    if not _ADDRESS.fullmatch(text):
        raise not_allowed("engine", text, _WHAT)
    installed("engine")
    return text


def installed(field: str) -> None:
    """Raise SpecError for `field` if Dask is not installed."""
    if importlib.util.find_spec("distributed") is None:
        raise SpecError(field, "Dask is not installed; install dprl[dask], or run without Dask.")


def connected(address: str) -> Client:
    """Connect to the Dask scheduler at `address`. Raises StoreError if there is none."""
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # errors are reported here, in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return Client(address, timeout=_CONNECT, set_as_default=False)
    except OSError as error:  # including timeouts
        raise StoreError(f"There is no Dask scheduler at {address}.") from error


class DaskSlot:
    """A worker thread in a Dask cluster, as a slot that receives tasks. `gone` is set once the worker has left."""

    plays: Literal["all", "here", "away"] = "away"

    def __init__(self, client: Client, worker: str, simulation: str) -> None:
        self.worker, self.gone = worker, threading.Event()
        self._client, self._simulation = client, simulation

    def play(self, order: Order) -> Report:
        """Let the worker simulate a seed for a while. Raises Died if the worker leaves, Lost if the scheduler does."""
        from distributed import KilledWorker

        name = ("dprl", f"{order.key}-{order.what}-{time.time_ns()}")
        try:
            with contextlib.suppress(KilledWorker):
                future = self._client.submit(
                    play, order, self._simulation, key=name, pure=False, workers=[self.worker]
                )
                while not self.gone.is_set():
                    with contextlib.suppress(TimeoutError):
                        report: Report = future.result(timeout=_LOOK)
                        return report
                    if self._client.status != "running":
                        raise Lost
                future.cancel()
        except (CancelledError, UnboundLocalError, OSError):  # raised by waits that `distributed` cancels
            raise Lost from None
        raise Died("it left the cluster")

    def close(self) -> None:
        """Do nothing, because the worker belongs to the cluster."""
        self.gone.set()


class Cluster:
    """A connection to a Dask scheduler, whose workers the engine uses as they come and go. It is renewed if it is lost.
    Raises StoreError if the scheduler cannot be reached, or if the versions on a worker differ."""

    def __init__(self, address: str, engine: Any, simulation: str) -> None:
        self.address, self._engine, self._simulation = address, engine, simulation
        self._client: Any = connected(address)
        self._closed = threading.Event()
        self._survey()
        threading.Thread(target=self._watch, name="cluster", daemon=True).start()

    def close(self) -> None:
        """End the connection; the cluster itself keeps running."""
        self._closed.set()
        with contextlib.suppress(Exception):
            self._client.close(timeout=2.0)

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            try:
                if self._client.status != "running":
                    self._drop(self._slots(), GONE)
                    with contextlib.suppress(Exception):
                        self._client.close(timeout=2.0)
                    self._client = connected(self.address)
                self._survey()
            except StoreError as error:
                self._drop(self._slots(), str(error))
            except Exception as error:  # a worker or the scheduler left during the request
                log.info("The cluster could not be checked (%s).", type(error).__name__)

    def _survey(self) -> None:
        """Remove workers that left, and add new ones. Raises StoreError if their versions, and thus results, differ."""
        threads = self._client.nthreads()
        self._drop([slot for slot in self._slots() if slot.worker not in threads])
        new = threads.keys() - {slot.worker for slot in self._slots()}
        builds = self._client.run(build, workers=sorted(new), on_error="return") if new else {}
        for found in builds.values():
            if isinstance(found, ImportError) or (isinstance(found, str) and found != build()):
                raise StoreError(OTHER)
        for worker in new:
            for _ in range(threads[worker]):
                self._engine.add(DaskSlot(self._client, worker, self._simulation))

    def _slots(self) -> list[DaskSlot]:
        return [slot for slot in list(self._engine.slots) if isinstance(slot, DaskSlot)]

    def _drop(self, slots: list[DaskSlot], trouble: str = "") -> None:
        self._engine.trouble = trouble
        for slot in slots:
            self._engine.drop(slot)


def main(workers: int, port: int) -> int:
    """Run a Dask scheduler and `workers` worker processes, open only to this machine, until Ctrl-C or SIGTERM.
    Return the exit status. Raises SpecError if Dask is not installed, or the port is in use."""
    installed("cluster")
    from distributed import LocalCluster

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with LocalCluster(
            n_workers=workers, threads_per_worker=1, scheduler_port=port, dashboard_address=":0"
        ) as cluster:
            print(f"dprl: a Dask cluster is at {cluster.scheduler_address}; Ctrl-C ends it.", flush=True)
            stop.wait()
    except (OSError, RuntimeError):
        raise SpecError("port", f"{port} cannot be used; give a free port.") from None
    return 0
