"""The real app, or a small one, as a process of its own: started on a free port, ended as by Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

import pytest

from dprl.engine import kernels, source_digest

ROOT = Path(__file__).parent.parent.parent
START_LIMIT = 180.0  # seconds for the app to answer, compilation included
END_LIMIT = 20.0  # seconds for the app and its workers to end after Ctrl-C


@dataclass(frozen=True)
class App:
    """A server that runs: its address, the directory it keeps its files in, its process and its log."""

    url: str
    home: Path
    process: subprocess.Popen[bytes]
    log_file: Path

    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def wait_until_healthy(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.url + "/_stcore/health", timeout=2):
                    return
            except (URLError, OSError):
                time.sleep(0.1)
        pytest.fail(f"The app did not answer within {START_LIMIT:.0f} s:\n{self.log()}", pytrace=False)

    def end(self) -> list[str]:
        """Press Ctrl-C; returns what still runs of the app after END_LIMIT, which is then killed."""
        self.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + END_LIMIT
        while (left := self.processes()) and time.monotonic() < deadline:
            self.process.poll()
            time.sleep(0.1)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        return list(left.values())

    def processes(self) -> dict[int, str]:
        """Command lines, by process id, of all processes with this app's home in their environment."""
        mark = f"DPRL_HOME={self.home}".encode()
        if not Path("/proc/self/environ").exists():  # not Linux: only the server itself can be seen
            return {} if self.process.poll() is not None else {self.process.pid: "dprl.serve"}
        found = {}
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (directory / "environ").read_bytes().split(b"\0"):
                    found[int(directory.name)] = (
                        (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    )
            except (OSError, ValueError):
                continue  # it ended meanwhile, or belongs to somebody else
        return {pid: command for pid, command in found.items() if command}  # a zombie has no command line


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def start(
    command: Callable[[int], list[str]], directory: Path, where: Path, wait: bool = True, port: int = 0
) -> App:
    """Run `command(port)` from `directory` with its files in `where`, and wait until it serves; port 0: a free one."""
    port = port or free_port()
    where.mkdir(parents=True, exist_ok=True)
    # The kernels compiled by earlier runs may be used: what is tested here is not the compiler.
    environment = os.environ | {
        "DPRL_HOME": str(where),
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR") or str(kernels(source_digest())),
        "STREAMLIT_SERVER_HEADLESS": "true",
        # Tests come to what goes on by links, to runs of minutes.
        "DPRL_LINK_SECONDS": "600000",
        "DPRL_TAB_SECONDS": "1000000",
        "DPRL_ALL_SECONDS": "1000000",
    }
    log_file = where / "app.log"
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            command(port),
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    app = App(f"http://127.0.0.1:{port}", where, process, log_file)
    if wait:
        try:
            app.wait_until_healthy()
        except BaseException:
            app.end()
            raise
    return app


def serve_command(port: int) -> list[str]:
    return [sys.executable, "-m", "dprl.serve", "--host", "127.0.0.1", "--port", str(port)]
