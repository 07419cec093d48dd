"""The launcher: what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dprl import serve
from dprl.fields import SpecError
from dprl.serve import PORT, Guard, check_address, headers, url
from tests.browser.server import END_LIMIT, ROOT, App, free_port, serve_command, start

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "frame-ancestors 'self'",
    "Referrer-Policy": "same-origin",
}


def refused(*arguments: str) -> str:
    """What `python -m dprl.serve` says on stderr when it refuses its arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "dprl.serve", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


@pytest.mark.parametrize("port", ["0", "-1", "65536", "80.5", "abc", ""])
def test_a_bad_port_is_refused_in_one_sentence(port: str) -> None:
    with pytest.raises(SpecError) as error:
        PORT.parse(port)
    assert str(error.value) == f"port: {port} is not allowed; give a whole number from 1 to 65535."


def test_a_bad_port_is_said_and_nothing_begins() -> None:
    assert refused("--port=0") == "port: 0 is not allowed; give a whole number from 1 to 65535.\n"


@pytest.mark.parametrize("host", ["", "no such host", "a" * 300, "ü" * 100, "192.0.2.1"])
def test_a_host_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(
        SpecError, match=r"^host: .* is not allowed; give a name or address of this machine\.$"
    ):
        check_address(host, free_port())


def test_a_port_in_use_is_refused_in_one_sentence() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert refused("--host=127.0.0.1", f"--port={port}") == (
            f"port: {port} is in use; give another one, such as {port % 65535 + 1}.\n"
        )


def test_a_free_port_is_fine_and_stays_free() -> None:
    port = free_port()
    check_address("localhost", port)
    check_address("127.0.0.1", port)


def test_the_address_to_open() -> None:
    assert url("localhost", 8501) == "http://localhost:8501"
    assert url("::1", 8501) == "http://[::1]:8501"


@pytest.mark.thorough
def test_killed_it_takes_all_along_and_starts_again_and_ends_on_sigterm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPRL_WORKERS", "1")  # each loads all kernels
    port = free_port()
    killed = start(serve_command, ROOT, tmp_path, port=port)
    before = killed.processes()
    assert len(before) >= 4  # the launcher, Streamlit, the pool and a worker
    killed.process.kill()
    killed.process.wait()
    app = start(serve_command, ROOT, tmp_path, port=port)
    try:
        until = time.monotonic() + END_LIMIT
        while left := before.keys() & app.processes().keys():
            assert time.monotonic() < until, [before[pid] for pid in left]
            time.sleep(0.05)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
            assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/metrics")
        app.process.send_signal(signal.SIGTERM)
        assert app.process.wait(20) == 0
    finally:
        assert app.end() == []


@pytest.mark.parametrize(
    "given",
    ["'self'", "'none'", "*", "https://example.org", "https://*.example.org:8443 http://localhost:3000"],
)
def test_who_may_embed_the_dashboard_is_a_setting(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("DPRL_FRAME_ANCESTORS", given)
    assert headers()["Content-Security-Policy"] == f"frame-ancestors {given}"


@pytest.mark.parametrize("given", ["self", "https://a.b; script-src *", "https://a.b\r\nX: y", "a, b"])
def test_who_may_not_be_named_so_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("DPRL_FRAME_ANCESTORS", given)
    with pytest.raises(
        SpecError, match=r"^DPRL_FRAME_ANCESTORS: .* is not allowed; give 'self', 'none', \* or"
    ):
        headers()


def test_metrics_are_closed_unless_they_are_wanted() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"etag", b"1")]})

    def answered(path: str, metrics: bool) -> list[Any]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        call = Guard({"X-A": "b"}, metrics)(app, {"type": "http", "path": path}, None, send)
        with ThreadPoolExecutor(1) as thread:  # this one has a loop where a browser is driven
            thread.submit(asyncio.run, call).result()
        return sent

    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/base/_stcore/metrics"):
        assert answered(path, metrics=False)[0]["status"] == 404
        assert answered(path, metrics=False)[0]["headers"] == [(b"x-a", b"b")]
        assert answered(path, metrics=True)[0]["status"] == 200
    assert answered("/explore", metrics=False)[0]["headers"] == [(b"etag", b"1"), (b"x-a", b"b")]


def test_ctrl_c_before_the_dashboard_opens_leaves_nothing(tmp_path: Path) -> None:
    app: App = start(serve_command, ROOT, tmp_path, wait=False)
    while "Starting the workers" not in app.log():
        time.sleep(0.05)
    time.sleep(0.5)  # into the wait for the workers
    assert app.end() == []
    assert "Traceback" not in app.log()


def test_a_dashboard_may_open_as_many_files_as_its_system_allows() -> None:
    """Each session takes four."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
        serve.allow_open_files()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert soft == (serve.OPEN_FILES if most == resource.RLIM_INFINITY else min(most, serve.OPEN_FILES))
        assert hard == most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))
