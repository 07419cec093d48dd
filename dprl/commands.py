"""The short commands, and the functions that all commands use to read arguments and files."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import re
import sqlite3
import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from dprl import ALGORITHMS, ENVIRONMENTS, MECHANISMS, OFFLINE, plugins
from dprl.assets import ROOT
from dprl.engine import source_digest
from dprl.fields import SpecError, read_text, reject, shown
from dprl.messages import messages
from dprl.privacy import PRIVATIZERS
from dprl.privacy.curator import PROMISES
from dprl.runs.results import Results
from dprl.runs.store import default_path, others
from dprl.simulation.datasets import BEHAVIOURS
from dprl.version import VERSION
from dprl.words import duration, plural, size

WORDS = messages("commands")["flags"]
PACKAGES = ("streamlit", "plotly", "numpy", "scipy", "pandas", "numba")


class Parser(argparse.ArgumentParser):
    """An argparse parser that prints errors on one line and does not accept abbreviated flags."""

    def __init__(self, **how: Any) -> None:
        super().__init__(allow_abbrev=False, **how)
        # up to Python 3.13, argparse reads -1e-3 as a flag
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)

    def error(self, message: str) -> NoReturn:
        fail(message)


def fail(message: str) -> NoReturn:
    """Print an error as one line on stderr, and exit with status 2."""
    sys.stderr.write(f"dprl: {' '.join(message.split())}\n")
    raise SystemExit(2)


def directory(given: str) -> Path:
    """Return the directory to write to, and create it if necessary. Raises SpecError."""
    out = Path(given)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise reject("out", WORDS["not_created"], folder=shown(given)) from None
    return out


def write_files(folder: str, files: Mapping[str, Any]) -> None:
    """Write the given texts or JSON values to files in a folder, and add versions.json. Raises SpecError."""
    told = json.dumps(versions(), indent=2, ensure_ascii=False) + "\n"
    try:
        for name, content in {**files, "versions.json": told}.items():
            text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
            (Path(folder) / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecError("out", f"{shown(folder)} cannot be written to ({error.strerror}).") from None


def text_of(path: str) -> str:
    """Return the content of a text file. Raises SpecError."""
    try:
        large = Path(path).stat().st_size > 10**7
    except (OSError, ValueError):  # reported below
        large = False
    if large:
        raise SpecError("spec", "the file has more than 10 MB; give a spec.json.")
    return read_text("spec", path, "the path of a spec.json")


def list_command() -> int:
    """Print the entries of each registry, with a key and a summary on each line, and return 0."""
    registries: dict[str, dict[str, Any]] = {
        "environments": dict(ENVIRONMENTS),
        "algorithms": dict(ALGORITHMS),
        "offline algorithms": dict(OFFLINE),
        "behaviour policies (offline)": dict(BEHAVIOURS),
        "privacy models": dict(PRIVATIZERS),
        "mechanisms": dict(MECHANISMS),
        "notions of privacy (offline)": dict(PROMISES),
    }
    for title, registry in registries.items():
        print(f"{title}:")
        for key, entry in registry.items():
            print(f"  {key:<16} {entry.summary}")
    for sentence in plugins.failures:
        print(sentence)
    return 0


def web_command(given: Namespace) -> int:
    """Write the site and return the exit status. Raises SpecError if DIR cannot be created."""
    out = directory(given.out).resolve()
    # pages/ is not part of the package, so `website` must run in the folder that contains it.
    return subprocess.run(
        [sys.executable, "-m", "website", "--out", str(out)], cwd=ROOT, check=False
    ).returncode


def status(as_json: bool) -> int:
    """Print the state of the store, as text or as JSON on one line, and return 0. Raises StoreError."""
    found = look()
    print(json.dumps(found) if as_json else "\n".join(text(found)))
    return 0


def look() -> dict[str, Any]:
    """Return the state of the store, without creating the store if it does not exist. Raises StoreError.

    Keys: store (path, exists and, if it exists, notice, results, bytes and capacity in bytes), queue (runs_waiting,
    seeds_queued, seconds_queued on one core, seeds_running, workers), errors and versions.
    """
    path = default_path()
    found: dict[str, Any] = {"store": {"path": str(path), "exists": path.exists()}, "versions": versions()}
    if not path.exists():
        return found
    results = Results(path)
    try:
        traces = results.file.rows("SELECT count(*) FROM result WHERE trace IS NOT NULL")[0][0]
        kept = {"results": traces, "bytes": results.bytes, "capacity": results.capacity}
    finally:
        results.file.close()
    parts = others(path)
    found["store"] |= {"notice": next((part["notice"] for part in parts if part["notice"]), ""), **kept}
    names = ("runs_waiting", "seeds_queued", "seconds_queued", "seeds_running", "workers")
    found["queue"] = {name: sum(part["queue"][name] for part in parts) for name in names}
    return found | {"errors": [error for part in parts for error in part["errors"]]}


def versions() -> dict[str, str]:
    """Return the versions of everything that results depend on, including plug-ins."""
    return {
        "dprl": VERSION,
        "sources": source_digest(),
        "python": platform.python_version(),
        "machine": " ".join(filter(None, (platform.system(), platform.machine(), *platform.libc_ver()))),
        **{name: importlib.metadata.version(name) for name in PACKAGES},
        "sqlite": sqlite3.sqlite_version,
        **dict(text.rsplit(" ", 1) for text in sorted(set(plugins.sources.values()))),
    }


def text(found: dict[str, Any]) -> list[str]:
    """Format the result of `look` as lines of text."""
    known = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    store = found["store"]
    if not store["exists"]:
        return [f"store     none at {store['path']} yet", f"versions  {known}"]
    queue = found["queue"]
    capacity = f"{size(store['bytes'])} of {size(store['capacity'])}"
    lines = [f"store     {store['path']}: {plural(store['results'], 'result')}, {capacity}"]
    if store["notice"]:
        lines.append(f"          {store['notice']}")
    queued = f"{plural(queue['seeds_queued'], 'seed')} queued"
    if queue["seeds_queued"]:
        queued = f"{queued} ({duration(queue['seconds_queued'])} on one core)"
    waiting = f"{plural(queue['runs_waiting'], 'run')} waiting"
    lines.append(f"queue     {waiting}, {queued}, {plural(queue['seeds_running'], 'seed')} running")
    lines.append(f"workers   {queue['workers']} alive")
    lines.append("errors of the seeds that failed most recently" if found["errors"] else "errors    none")
    return [*lines, *(f"          {error}" for error in found["errors"]), f"versions  {known}"]
