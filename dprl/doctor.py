"""`dprl doctor`: whether a machine can run the dashboard. One line for each check, and an exit status."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import re
import shutil
import sqlite3
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from dprl import serve
from dprl.assets import CHECKOUT
from dprl.fields import SpecError
from dprl.jobs.store import Store, StoreError, default_path, setting
from dprl.kernels import cache_folder, compiled, home, private
from dprl.words import size

PYTHON = (3, 11)
TESTED = (3, 13)
SQLITE = (3, 26)  # from here on a log is removed only while its file is in its place, see dprl/jobs/file.py
LEAST_FREE = 100 * 2**20  # bytes: compiled kernels and a few hundred results
Level = Literal["ok", "note", "bad"]


class Found(NamedTuple):
    """What a check found: `bad` where the dashboard cannot work, `note` where it can."""

    level: Level
    says: str


def doctor(host: str, port: int) -> int:
    """Print a line for each check; 0, or 1 where something is bad."""
    bad = False
    for name, check in checks(host, port).items():
        for found in _found_by(check):
            bad |= found.level == "bad"
            print(f"{found.level:<5} {name:<9} {found.says}")
    return int(bad)


def _found_by(check: Callable[[], Iterator[Found]]) -> Iterator[Found]:
    try:
        yield from check()
    except SpecError as error:  # of a setting that the check needs
        yield Found("bad", str(error))


def checks(host: str, port: int) -> dict[str, Callable[[], Iterator[Found]]]:
    """Every check by its name, in order."""
    return {
        "python": python,
        "packages": packages,
        "settings": settings,
        "home": folder,
        "sqlite": sqlite,
        "kernels": kernels,
        "cores": cores,
        "port": lambda: address(host, port),
        "browser": browser,
    }


def python(version: tuple[int, ...] = sys.version_info[:2]) -> Iterator[Found]:
    """Whether Python is new enough, and one that was tested."""
    said = f"Python {platform.python_version()}"
    if version < PYTHON:
        yield Found("bad", f"{said} is too old; dprl needs {'.'.join(map(str, PYTHON))} or newer.")
    elif version > TESTED:
        yield Found("note", f"{said} is newer than what was tested, {'.'.join(map(str, TESTED))}.")
    else:
        yield Found("ok", said)


def packages() -> Iterator[Found]:
    """Whether what dprl runs on is there, in versions within its bounds."""
    wrong = False
    for name, bounds in requirements().items():
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            wrong = True
            yield Found("bad", f"{name} is not installed; dprl needs {name}{bounds}.")
            continue
        if not within(version, bounds):
            wrong = True
            yield Found("bad", f"{name} {version} is outside of what dprl was tested with, {bounds}.")
    if not wrong:
        yield Found("ok", "all within their bounds")


def requirements() -> dict[str, str]:
    """Bounds by package: of the checkout, else of what is installed."""
    listed = CHECKOUT / "requirements.txt"
    if listed.is_file():
        lines = listed.read_text(encoding="utf-8").splitlines()
    else:
        lines = [line for line in importlib.metadata.requires("dprl") or [] if ";" not in line]
    found = (re.fullmatch(r"([\w-]+)\s*([<>=.,\d ]+)", line.strip()) for line in lines)
    return {match[1]: match[2] for match in found if match}


def within(version: str, bounds: str) -> bool:
    """Whether a version lies within bounds such as >=2.4,<2.5."""

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(map(int, re.findall(r"\d+", text)))

    have = numbers(version)[:3]
    return all(
        have >= numbers(end) if sign == ">=" else have < numbers(end)
        for sign, end in re.findall(r"(>=|<)\s*([\d.]+)", bounds)
    )


def settings() -> Iterator[Found]:
    """Whether the DPRL_... variables can be used."""
    try:
        serve.check_settings()
        with tempfile.TemporaryDirectory() as place:
            Store(Path(place) / "runs.sqlite").close()
    except (OSError, SpecError, StoreError) as error:
        yield Found("bad", str(error))
    else:
        given = sorted(name for name in os.environ if name.startswith("DPRL_"))
        yield Found("ok", ", ".join(given) or "none given")


def folder() -> Iterator[Found]:
    """Whether DPRL_HOME can be written to, and has room."""
    try:
        private(home())
        with tempfile.TemporaryFile(dir=home()) as file:
            file.write(b"\0" * 4096)
    except OSError as error:
        yield Found(
            "bad", f"{home()} cannot be written to ({error.strerror}); set DPRL_HOME to a folder that can."
        )
        return
    free = shutil.disk_usage(home()).free
    with contextlib.suppress(StoreError):  # said by another check
        wanted = setting("DPRL_STORE_MB", 1024, 1, 10**7) * 2**20
        if free < LEAST_FREE:
            yield Found("bad", f"{home()} has {size(free)} free, and needs {size(LEAST_FREE)}.")
        elif free < wanted:
            yield Found(
                "note", f"{home()} has {size(free)} free, less than the store may take, {size(wanted)}."
            )
        else:
            yield Found("ok", f"{home()}, {size(free)} free")


def sqlite() -> Iterator[Found]:
    """Whether SQLite is new enough, and can share a file in DPRL_HOME between processes."""
    version = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < SQLITE:
        yield Found("bad", f"{version} is too old; dprl needs {'.'.join(map(str, SQLITE))} or newer.")
        return
    try:
        with tempfile.TemporaryDirectory(dir=home()) as place:
            db = sqlite3.connect(Path(place) / "doctor.sqlite")
            with contextlib.closing(db):
                mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                db.execute("CREATE TABLE written (number INTEGER)")
        if default_path().exists():
            Store().close()
    except (OSError, sqlite3.Error, StoreError) as error:
        yield Found("bad", f"{version} cannot keep a store in {home()}: {error}")
        return
    if mode == "wal":
        yield Found("ok", f"{version}, with a write-ahead log")
    else:
        yield Found("bad", f"{version} has no write-ahead log in {home()}: choose a disk of this machine.")


def kernels() -> Iterator[Found]:
    """Whether numba compiles, and what it compiled is kept."""
    try:
        right = compiled(_product, "int64(int64, int64)")(6, 7) == 42
    except SpecError:
        raise
    except Exception as error:  # whatever numba raises, the answer is the same
        yield Found("bad", f"Numba does not compile ({type(error).__name__}).")
        return
    if not right:
        yield Found("bad", "Numba compiles, and the code gives a wrong number.")
    elif (place := cache_folder()) is None or not list(place.glob(f"*{_product.__name__}-*")):
        yield Found(
            "note", "Numba compiles, but what it compiled is not kept: every start takes a minute or two."
        )
    else:
        yield Found("ok", f"compiled, and kept in {place}")


def _product(a: int, b: int) -> int:
    return a * b


def cores() -> Iterator[Found]:
    """Whether there are as many cores as workers."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(StoreError):
        workers = setting("DPRL_WORKERS", 2, 1, 256)
        said = f"{count} for {workers} workers"
        if workers > count:
            yield Found("note", f"{said}; set DPRL_WORKERS to no more than there are.")
        else:
            yield Found("ok", said)


def address(host: str, port: int) -> Iterator[Found]:
    """Whether the dashboard could listen there."""
    try:
        serve.check_address(host, port)
    except SpecError as error:
        if _answers(host, port):
            yield Found("note", f"A dashboard answers at {serve.url(host, port)}.")
        else:
            yield Found("bad", str(error))
    else:
        yield Found("ok", f"{port} on {host} is free")


def _answers(host: str, port: int) -> bool:
    try:
        with urllib.request.urlopen(serve.url(host, port) + "/_stcore/health", timeout=2) as answer:
            return bool(answer.read(2) == b"ok")
    except (OSError, ValueError):
        return False


def browser() -> Iterator[Found]:
    """Whether there is a browser for the tests."""
    found = os.environ.get("DPRL_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    yield Found("note", f"{found}, for the tests" if found else "no Chromium; only the tests want one")
