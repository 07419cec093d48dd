"""How things stand, for a terminal: `dprl status` of a dashboard's store, queue and workers, and a progress bar."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sqlite3
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from dprl.jobs.store import Store, default_path
from dprl.kernels import source_digest
from dprl.plugins import sources
from dprl.version import VERSION
from dprl.words import duration, percent, plural, size

VERSIONS = "versions.json"
PACKAGES = ("streamlit", "plotly", "numpy", "scipy", "pandas", "numba")


def status(as_json: bool) -> int:
    """Print how things stand, as text or as JSON on one line; exit status 0. Raises StoreError."""
    found = look()
    print(json.dumps(found) if as_json else "\n".join(text(found)))
    return 0


def look() -> dict[str, Any]:
    """How things stand; where nothing was ever run, no store is begun. Raises StoreError.

    Keys: store (path, exists, and where it does notice, results, runs, bytes, capacity in bytes), queue (runs_waiting,
    seeds_queued, seconds_queued of one core, seeds_running), workers (alive, ready, at_work), errors and versions.
    """
    path = default_path()
    found: dict[str, Any] = {"store": {"path": str(path), "exists": path.exists()}, "versions": versions()}
    if not path.exists():
        return found
    store = Store(path)
    try:
        activity = store.status.activity()
        found["store"] |= {"notice": store.notice, **asdict(store.monitor.contents())}
        found["queue"] = {
            "runs_waiting": activity.runs_waiting,
            "seeds_queued": activity.seeds_queued,
            "seconds_queued": store.monitor.backlog_seconds(),
            "seeds_running": activity.seeds_running,
        }
        at_work = [asdict(one) for one in store.monitor.at_work()] if activity.workers else []
        found["workers"] = {"alive": activity.workers, "ready": activity.warm, "at_work": at_work}
        found["errors"] = [asdict(one) for one in store.monitor.failures()]
    finally:
        store.close()
    return found


def versions() -> dict[str, str]:
    """Return the versions on which results depend by name, including those of plug-ins."""
    return {
        "dprl": VERSION,
        "sources": source_digest(),
        "python": platform.python_version(),
        "machine": " ".join(filter(None, (platform.system(), platform.machine(), *platform.libc_ver()))),
        **{name: importlib.metadata.version(name) for name in PACKAGES},
        "sqlite": sqlite3.sqlite_version,
        **dict(text.rsplit(" ", 1) for text in sorted(set(sources.values()))),
    }


def versions_json() -> str:
    """Return the content of versions.json."""
    return json.dumps(versions(), indent=2, ensure_ascii=False) + "\n"


def text(found: dict[str, Any]) -> list[str]:
    """What `look` found, in lines."""
    known = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    store = found["store"]
    if not store["exists"]:
        return [f"store     none at {store['path']} yet", f"versions  {known}"]
    queue, workers = found["queue"], found["workers"]
    capacity = f"{size(store['bytes'])} of {size(store['capacity'])}"
    lines = [f"store     {store['path']}: {plural(store['results'], 'result')}, {capacity}"]
    if store["notice"]:
        lines.append(f"          {store['notice']}")
    queued = f"{plural(queue['seeds_queued'], 'seed')} queued"
    if queue["seeds_queued"]:
        queued = f"{queued} ({duration(queue['seconds_queued'])} of one core)"
    waiting = f"{plural(queue['runs_waiting'], 'run')} waiting"
    lines.append(f"queue     {waiting}, {queued}, {plural(queue['seeds_running'], 'seed')} running")
    lines.append(f"workers   {workers['alive']} alive, {workers['ready']} ready")
    for one in workers["at_work"]:
        at = [f"seed {one['seed']} of {one['key']}", percent(one["progress"]), f"{one['seconds']:.0f} s"]
        lines.append(f"          {', '.join([*at, 'set aside'] if one['parked'] else at)}")
    lines.append("errors    of the seeds that failed last" if found["errors"] else "errors    none")
    for error in found["errors"]:
        began = datetime.fromtimestamp(error["began_at"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        lines.append(f"          {began}, {error['key']}: {error['message']}")
    return [*lines, f"versions  {known}"]


def progress_bar(share: float) -> None:
    """Draw a progress bar on the terminal."""
    filled = int(40 * share)
    sys.stderr.write(f"\r[{'#' * filled}{'.' * (40 - filled)}] {share:4.0%}{chr(10) if share >= 1 else ''}")
    sys.stderr.flush()
