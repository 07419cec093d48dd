"""Workers on this machine, started by the app and ending with it."""

from __future__ import annotations

import atexit
import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path

from dprl.jobs import simulation as simulations
from dprl.jobs.pool import child_environment, pool_lock
from dprl.jobs.store import default_path

_lock = threading.Lock()
_pools: dict[Path, subprocess.Popen[bytes]] = {}
_started: dict[Path, float] = {}
_asked: dict[Path, tuple[str, str | None, int | None]] = {}  # what a pool of this process is begun with
_PAUSE = 2.0  # between starts, lest a pool that cannot work is started at every rerun


def ensure_pool(
    store_path: Path | None = None,
    simulation: str = simulations.DEFAULT,
    engine: str | None = None,
    workers: int | None = None,
    patience: float = 0.0,
) -> bool:
    """Start the pool of this store unless there is one, whoever started it. Cheap: call it at every rerun.

    engine: a Dask scheduler to compute on (default: DPRL_ENGINE). workers: how many processes (default: DPRL_WORKERS).
    patience: seconds to wait for another pool to end, as that of a script that was killed does.
    Returns whether the pool is this process's own.

    A subprocess of its own rather than multiprocessing, which would run the Streamlit script again. It is in
    a session of its own, so that Ctrl-C in the terminal reaches the app alone and the pool ends with it.
    """
    path = (default_path() if store_path is None else store_path).absolute()
    with _lock:
        _asked[path] = simulation, engine, workers
        process = _pools.get(path)
        if process is not None and process.poll() is None:
            return True
        if time.monotonic() - _started.get(path, float("-inf")) < _PAUSE:
            return False
        with pool_lock(path, patience) as free:
            pass
        if not free:
            return False
        _started[path] = time.monotonic()
        command = [sys.executable, "-m", "dprl.jobs.pool", "--child", "--store", str(path)]
        command += ["--simulation", simulation, *(["--engine", engine] if engine else [])]
        command += ["--workers", str(workers)] if workers else []
        _pools[path] = subprocess.Popen(
            command, stdin=subprocess.PIPE, env=child_environment(), start_new_session=True
        )
        return True


def keep_pool(store_path: Path) -> None:
    """Where this process asked for a pool, begin one if there is none left.

    The pool that was there may have been that of a script that was killed: it ends a moment after its script.
    """
    path = store_path.absolute()
    if path in _asked:
        ensure_pool(path, *_asked[path])


def stop(store_path: Path | None = None) -> None:
    """End the pools that this process started (or that of one store); their seeds go back to the queue."""
    with _lock:
        path = None if store_path is None else store_path.absolute()
        for p in [p for p in _asked if path in (None, p)]:
            del _asked[p]
        ending = [p for p in list(_pools) if path is None or p == path]
        processes = [_pools.pop(p) for p in ending]
        for p in ending:
            _started.pop(p, None)
        for process in processes:
            if process.stdin is not None:
                process.stdin.close()
        for process in processes:
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1.0)


atexit.register(stop)
