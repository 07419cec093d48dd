"""Dask clusters: their addresses, which of them can be used, and one on this machine for trying.

python -m dprl cluster [--workers 2] [--port 8786]
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import os
import re
import signal
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from dprl.fields import Field, SpecError, shown
from dprl.jobs.file import StoreError
from dprl.jobs.remote import Build, build, differs

if TYPE_CHECKING:
    from distributed import Client

WORKERS = Field(
    "workers", "int", 2, "worker processes, of one thread each", low=1, high=256, flag="--workers"
)
PORT = Field("port", "int", 8786, "port the scheduler answers on, 0: any", low=0, high=65535, flag="--port")
NOT_INSTALLED = "dprl is not installed on a worker"
_CONNECT = 10.0
_ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:\d{1,5}")


class ClusterError(StoreError):
    """The cluster cannot be used; the message is a sentence."""


def engine(text: str | None = None) -> str | None:
    """The scheduler's address: `text`, else DPRL_ENGINE; None for workers on this machine. Raises SpecError."""
    text = (text or os.environ.get("DPRL_ENGINE", "")).strip()
    if not text:
        return None
    if not _ADDRESS.fullmatch(text):
        raise SpecError(
            "engine",
            f"{shown(text)} is not allowed; give the address of a Dask scheduler such as tcp://localhost:8786.",
        )
    installed("engine")
    return text


def installed(field: str) -> None:
    """Raises SpecError, naming the field, where Dask is not."""
    if importlib.util.find_spec("distributed") is None:
        raise SpecError(field, "Dask is not installed; install dprl[dask], or do without it.")


def check_cluster(address: str) -> None:
    """Raises ClusterError where the cluster there cannot be reached, or would compute other bits."""

    async def once() -> None:
        async with connected(address):
            pass

    with ThreadPoolExecutor(1) as apart:  # a notebook has an event loop already, in the thread that asks
        apart.submit(asyncio.run, once()).result()


@contextlib.asynccontextmanager
async def connected(address: str) -> AsyncIterator[Client]:
    """A client of the scheduler at `address`. Raises ClusterError, also where a worker would compute other bits."""
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # what is wrong is said here, in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        async with Client(address, asynchronous=True, timeout=_CONNECT, set_as_default=False) as client:
            for found in (await client.run(build, on_error="return")).values():
                if isinstance(found, Build) and (difference := differs(found, build())):
                    raise cluster_refused(difference)
                if isinstance(found, ImportError):
                    raise cluster_refused(NOT_INSTALLED)
            yield client
    except OSError as error:  # a timeout, too
        raise ClusterError(f"There is no Dask scheduler at {address}.") from error


def cluster_refused(difference: str) -> ClusterError:
    """What is wrong with a cluster, by what differs."""
    return ClusterError(f"The Dask cluster is refused, for it would not compute the same bits: {difference}.")


def main(workers: int, port: int) -> int:
    """A scheduler and `workers` worker processes on this machine, open to it alone, until Ctrl-C or SIGTERM.

    Returns an exit status. Raises SpecError where Dask is not installed, or the port is taken.
    """
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
        raise SpecError("port", f"{port} cannot be used; give one that is free.") from None
    return 0
