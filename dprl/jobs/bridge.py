"""The bridge to a Dask cluster: `python -m dprl.jobs.bridge`, started by the pool in place of its workers.

It claims seeds, submits each as a pure task, and writes what comes back; twice a second it looks how far each is, and
says which are no longer wanted. Dask would forget a task that it cancels, though it goes on: so nothing is cancelled
there, and a seed that nobody wants stops between two slices. What is under way when the cluster is lost goes back to
the queue.

Questions are answered on this machine, and so are seeds that a cluster refuses: files may be kept here alone.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import logging
import os
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from functools import partial
from typing import TYPE_CHECKING, Any

from dprl.jobs import logs
from dprl.jobs import simulation as simulations
from dprl.jobs import worker as workers
from dprl.jobs.cluster import NOT_INSTALLED, ClusterError, cluster_refused, connected
from dprl.jobs.file import DiskFull, StoreError
from dprl.jobs.remote import Differs, Failed, RemoteJob, Result, build, look_in, run_job
from dprl.jobs.simulation import Simulation
from dprl.jobs.store import SeedJob, Store

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger("dprl.jobs.bridge")

_HELD = 4  # seeds claimed for each thread of the cluster: one that is computed, the others on their way
_POLL = 0.02
_LOOK = 0.4
_AGAIN = 1.0  # between attempts to connect
_PATIENCE = 5.0  # while the disk is full


async def serve(store: Store, simulation: str, address: str, name: str, stop: threading.Event) -> None:
    """Compute seeds on the cluster until `stop` is set; while there is none, or it is refused, wait for one."""
    said = ""
    while not stop.is_set():
        store.jobs.enlist(name, os.getpid(), warm=False)
        try:
            async with connected(address) as client:
                log.info("Seeds are computed on the Dask cluster at %s.", address)
                said = ""
                await Bridge(client, store, simulation, name, stop).work()
        except ClusterError as error:
            if str(error) != said:
                log.error("%s", error)
            said = str(error)
        finally:
            store.jobs.release(name)
        await _pause(stop, _AGAIN)


class Bridge:
    """One connection to a cluster.

    Attributes:
        under_way: the seeds that were claimed, by the name of their task.
        unwanted: jobs among them that nobody waits for any more.
        trouble: why the cluster cannot be used, from now on.
    """

    def __init__(
        self, client: Client, store: Store, simulation: str, name: str, stop: threading.Event
    ) -> None:
        self.client, self.store, self.name, self.stop = client, store, name, stop
        self.simulation = simulation
        self.under_way: dict[str, SeedJob] = {}
        self.unwanted: frozenset[str] = frozenset()
        self.trouble: ClusterError | None = None
        self._looked_at: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._attempts = itertools.count()

    async def work(self) -> None:
        """Until told to stop. Raises ClusterError when the cluster is lost or refused."""
        looked, threads = float("-inf"), 0
        try:
            while not self.stop.is_set():
                if self.client.status != "running":
                    raise ClusterError("The Dask scheduler is gone; its seeds wait until it is back.")
                if self.trouble is not None:
                    raise self.trouble
                try:
                    if time.monotonic() - looked > _LOOK:
                        looked, threads = time.monotonic(), await self._survey()
                    claimed = self._claim(threads)
                except DiskFull:
                    await _pause(self.stop, _PATIENCE)
                else:
                    await asyncio.sleep(0 if claimed else _POLL)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _survey(self) -> int:
        """How many threads the cluster has; looks in at new workers from now on, and which seeds are still wanted."""
        found = await self.client.nthreads()
        for address in found.keys() - self._looked_at:
            self._looked_at.add(address)
            self._go_on(self._look_in(address))
        threads: int = sum(found.values())
        self.store.jobs.enlist(self.name, os.getpid(), warm=threads > 0, threads=max(1, threads))
        wanted = self.store.jobs.wanted(self.name)
        self.unwanted = frozenset(task for task, job in self.under_way.items() if job.id not in wanted)
        return threads

    def _claim(self, threads: int) -> bool:
        """Claim a seed if few enough are under way; whether one was."""
        if len(self.under_way) - len(self.unwanted) >= _HELD * threads:
            return False
        job = self.store.jobs.claim(self.name)
        if job is not None:
            self._go_on(self._compute(job))
        return job is not None

    async def _compute(self, job: SeedJob) -> None:
        """A seed from its claim to its end."""
        task = RemoteJob(
            name=f"{job.key}-{self.name}-{next(self._attempts)}",  # none is taken for another, nor stopped for it
            bridge=self.name,
            build=build(),
            simulation=self.simulation,
            spec=job.spec.to_json(),
            seed=job.seed,
            key=job.key,
        )
        self.under_way[task.name] = job
        try:
            found = await self.client.submit(run_job, task, key=("dprl", task.name), pure=False)
            await asyncio.to_thread(self._write, job, found)
        except (Differs, ImportError) as error:
            self.trouble = cluster_refused(NOT_INSTALLED if isinstance(error, ImportError) else str(error))
        except CancelledError:  # the scheduler is gone, or has lost it
            self.store.jobs.give_back(job)
        except DiskFull:
            pass  # told to stop while waiting for room
        except Exception as error:
            log.error("Seed %d of %s failed", job.seed, job.key, exc_info=error, extra=workers.of_work(job))
            await asyncio.to_thread(self._fail, job, self._sentence(job, error))
        finally:
            self.under_way.pop(task.name, None)

    def _write(self, job: SeedJob, found: Result | Failed) -> None:
        """Write what came back. What is refused there is computed here: files may be kept on this machine alone."""
        if isinstance(found, Result):
            ended, points, trace = found
            write = partial(workers.finish_seed, self.store, job, points.progress, points, trace)
            workers.insist(write if ended else partial(self.store.results.keep, job, trace), self.stop)
        elif found.refused:
            workers.compute_seed(self.store, simulations.load(self.simulation), job, self.stop)
        else:
            self._fail(job, found.sentence)

    def _fail(self, job: SeedJob, sentence: str) -> None:
        workers.insist(partial(self.store.jobs.fail, job, sentence), self.stop)

    def _sentence(self, job: SeedJob, error: Exception) -> str:
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            deaths = error.allowed_failures + 1
            return f"Seed {job.seed} failed: {deaths} workers died of it, perhaps for want of memory."
        return workers.sentence(job.seed, error)

    async def _look_in(self, address: str) -> None:
        """Look in at a worker until it is gone."""
        try:
            while not self.stop.is_set():
                found = await self.client.run(look_in, self.name, self.unwanted, workers=[address])
                for task, points in found[address].items():
                    if (job := self.under_way.get(task)) is not None:
                        workers.report_progress(self.store, job, points.progress, points)
                await asyncio.sleep(_LOOK)
        except Exception as error:  # should it still be there, the next survey finds it
            log.info("The worker at %s is gone (%s).", address, type(error).__name__)
        finally:
            self._looked_at.discard(address)

    def _go_on(self, what: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _pause(stop: threading.Event, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not stop.is_set() and time.monotonic() < until:
        await asyncio.sleep(_POLL)


def _answer_questions(store: Store, simulation: Simulation, stop: threading.Event) -> None:
    while not stop.wait(_POLL):
        try:
            workers.answer_questions(store, simulation)
        except StoreError as error:  # busy just now
            log.error("%s", error)


def main(arguments: list[str] | None = None) -> int:
    """The bridge's command line; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m dprl.jobs.bridge", description=__doc__)
    parser.add_argument("--engine", required=True, help="the scheduler's address")
    workers.add_flags(parser)
    options = parser.parse_args(arguments)
    logs.log_as("bridge")
    stop = workers.until_told(options.child)
    try:
        simulation = simulations.load(options.simulation)
        store = Store(options.store, simulation)
        threading.Thread(target=_answer_questions, args=(store, simulation, stop), daemon=True).start()
        asyncio.run(serve(store, options.simulation, options.engine, options.id, stop))
    except StoreError as error:
        log.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
