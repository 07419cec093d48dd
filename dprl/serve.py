"""Start the dashboard with its workers, and stop both together.

    python -m dprl serve [--host localhost] [--port 8501]

`make run` calls this module.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import logging
import logging.config
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dprl.assets import ROOT
from dprl.engine import home
from dprl.fields import Field, SpecError, shown
from dprl.runs import logs
from dprl.runs.cluster import engine
from dprl.runs.database import StoreError, setting
from dprl.runs.store import opened
from dprl.runs.workers import end_with_parent
from dprl.simulation import cost
from dprl.simulation.uploads import kept
from dprl.sitemap import Page, page_at, tagged

log = logging.getLogger("dprl.serve")

HOST = Field("host", "text", "localhost", "a name or address of this machine", flag="--host")
PORT = Field("port", "int", 8501, "port on which the dashboard answers", low=1, high=65535, flag="--port")
END_LIMIT = 5.0  # seconds that Streamlit may take to end
OPEN_FILES = 65_536  # maximum number of open files of the dashboard
PORT_LIMIT = 1.0  # seconds until the port of a killed dashboard must be free


def main(host: str = HOST.default, port: int = PORT.default) -> int:
    """Serve the dashboard at `host`:`port` until Ctrl-C or SIGTERM, or until Streamlit ends.

    Return the exit status: 0 after Ctrl-C or SIGTERM, 2 if the host or port cannot be used, 1 if the store or a Dask
    cluster cannot be used, otherwise Streamlit's own status.
    """
    try:
        check_address(host, port)
    except SpecError as error:
        print(error, file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    streamlit: subprocess.Popen[bytes] | None = None
    logs.log_as("server")
    try:
        kept.remove_old()
        check_settings()
        engine()
        place = f"[{host}]" if ":" in host else host  # an IPv6 address
        print_line(f"Opening the dashboard at http://{place}:{port}; Ctrl-C ends it and its workers.")
        command = [sys.executable, "-m", "dprl.serve", "--child", f"--host={host}", f"--port={port}"]
        streamlit = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
        return streamlit.wait()
    except (SpecError, StoreError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print_line("Stopping the dashboard and its workers.")
        return 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):  # the cleanup takes a few seconds at most
            signal.signal(number, signal.SIG_IGN)
        if streamlit is not None:
            streamlit.terminate()
            try:
                streamlit.wait(END_LIMIT)
            except subprocess.TimeoutExpired:
                streamlit.kill()
                streamlit.wait()


def print_line(text: str) -> None:
    """Print one line for the person who started the server."""
    if logs.as_json():
        log.info(text)
    else:
        print(f"dprl: {text}", flush=True)


def check_settings() -> None:
    """Raise SpecError or StoreError if a setting cannot be used, before anything starts."""
    headers(), setting("DPRL_METRICS", 0, 0, 1), [cost.limit(name) for name in cost.DEFAULTS]
    missing = [name for name in ("streamlit", "segno") if find_spec(name) is None]
    if missing:
        raise SpecError("dprl serve", f"{missing[0]} is not installed; run: pip install 'dprl[dashboard]'.")
    check_base(os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", ""))
    if (given := os.environ.get("DPRL_LOG", "").strip()) not in ("", "text", "json"):
        raise SpecError("DPRL_LOG", f"{shown(given)} is not allowed; give text or json.")


def check_base(path: str) -> None:
    """Raise SpecError if Streamlit is set to serve below a path, because links between pages start at the root."""
    if path.strip(" /"):
        raise SpecError(
            "STREAMLIT_SERVER_BASE_URL_PATH",
            f"{shown(path)} is not allowed; unset it, and give the dashboard a host name or port of its own.",
        )


def check_address(host: str, port: int) -> None:
    """Raise SpecError if a server cannot listen at `host`:`port`."""
    PORT.check(port)
    refused = SpecError("host", f"{shown(host) or 'nothing'} is not allowed; give {HOST.help}.")
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM) if host else []
    except (OSError, UnicodeError):
        raise refused from None
    problems = []
    until = time.monotonic() + PORT_LIMIT
    for family, _, _, _, place in places:
        while (problem := _listening(family, place)) == errno.EADDRINUSE:
            if time.monotonic() > until:
                raise SpecError("port", f"{port} is in use; give another one, such as {port % 65535 + 1}.")
            time.sleep(0.05)
        if problem == errno.EACCES:
            raise SpecError("port", f"{port} is not open to this user; give one above 1023.")
        problems.append(problem)
    if 0 not in problems:
        raise refused


def _listening(family: int, place: Any) -> int:
    """Try to listen at an address. Return the error number, or 0 on success."""
    try:
        socket.create_server(
            place, family=family
        ).close()  # like the server, takes a port that was just freed
    except OSError as error:
        return error.errno or -1
    return 0


def dashboard(host: str, port: int) -> None:
    """Run Streamlit in this process until the parent ends, which closes standard input."""
    have_home()
    import streamlit

    from dprl import streamlit_patches

    class App(streamlit.App):
        """Streamlit's ASGI application behind the guard."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await guard(super().__call__, scope, receive, send)

    end_with_parent()
    allow_open_files()
    logs.log_as("server")
    if logs.as_json():
        streamlit_patches.log_through_ours()
    guard = Guard(headers(), metrics=bool(setting("DPRL_METRICS", 0, 0, 1)))
    streamlit_patches.leave_pages_to_app()
    streamlit_patches.hold_one_file()
    streamlit_patches.wake_sender_once()
    streamlit_patches.leave_parts_of_left_pages()
    streamlit_patches.hear_runs_to_their_end()
    check_base(streamlit.get_option("server.baseUrlPath"))  # as set in ~/.streamlit
    script = ROOT / "app.py"
    sys.argv = [str(script)]
    opened().begin(engine=engine())
    options = {"server.address": host, "server.port": port}
    App(script).run(config=options | size_of_files() | documents())


def have_home() -> None:
    """Set HOME to dprl's own folder if the user has no home directory, because Streamlit needs one."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = str(home())


def size_of_files() -> dict[str, int]:
    """Return Streamlit's option for the largest upload in MB, or {} if uploads are not allowed."""
    from dprl.uploads import readings  # imports pandas

    return {"server.maxUploadSize": readings.MOST_BYTES // 10**6} if readings.allowed() else {}


def documents() -> dict[str, bool]:
    """Return the option that makes Streamlit serve static/, or {} if no documents have been built there."""
    return {"server.enableStaticServing": True} if (ROOT / "static" / "docs" / "index.html").is_file() else {}


def allow_open_files() -> None:
    """Raise the limit on open files. Each session needs four, so 250 visitors would reach the usual limit of 1,024."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if most == resource.RLIM_INFINITY else min(most, OPEN_FILES)
    if now != resource.RLIM_INFINITY and now < wanted:
        with contextlib.suppress(OSError, ValueError):  # a system may have its own limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def headers() -> dict[str, str]:
    """Return the HTTP headers of every response. Raises SpecError if DPRL_FRAME_ANCESTORS cannot be used."""
    ancestors = os.environ.get("DPRL_FRAME_ANCESTORS", "").strip() or "'self'"
    if not re.fullmatch(r"('self'|'none'|\*|(https?://[\w.*:-]+ ?)+)( https?://[\w.*:-]+)*", ancestors):
        raise SpecError(
            "DPRL_FRAME_ANCESTORS",
            f"{shown(ancestors)} is not allowed; give 'self', 'none', * or addresses such as https://example.org.",
        )
    return {
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": f"frame-ancestors {ancestors}",
        "Referrer-Policy": "same-origin",  # an address reveals what its visitor looks at
    }


class Guard:
    """Add headers to responses and titles to pages, and hide Streamlit's metrics unless `metrics` is true."""

    def __init__(self, headers: dict[str, str], metrics: bool) -> None:
        self._metrics = metrics
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, app: Any, scope: Any, receive: Any, send: Any) -> None:
        left = False  # whether the visitor has left

        async def said(message: Any) -> None:
            nonlocal left
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *self._headers]}
            try:
                await send(message)
            except OSError:
                left = True
                raise

        if scope["type"] == "http" and not self._metrics and "/_stcore/metrics" in scope["path"]:
            await said({"type": "http.response.start", "status": 404, "headers": []})
            await said({"type": "http.response.body", "body": b"Not Found"})
        elif scope["type"] == "http" and scope["method"] == "GET" and (page := page_at(scope["path"])):
            # Request the page uncompressed, because the title is inserted into it.
            plain = [header for header in scope["headers"] if header[0] != b"accept-encoding"]
            await app({**scope, "headers": plain}, receive, titled(page, said))
        else:
            try:
                await app(scope, receive, said)
            except RuntimeError:  # Streamlit answers a bad request even after the visitor has left
                if not left:
                    raise


def titled(page: Page, send: Any) -> Any:
    """Wrap an ASGI `send` to insert the title into HTML pages and pass everything else on unchanged."""
    held: list[Any] = []

    async def said(message: Any) -> None:
        if message["type"] == "http.response.start":
            kind = dict(message.get("headers", [])).get(b"content-type", b"")
            if message["status"] == 200 and kind.startswith(b"text/html"):
                held.append(message)
                return
        elif held and message["type"] == "http.response.body":
            held.append(message)
            if message.get("more_body"):
                return
            start, *parts = held
            html = tagged(b"".join(part.get("body", b"") for part in parts), page)
            others = [header for header in start["headers"] if header[0].lower() != b"content-length"]
            length = (b"content-length", str(len(html)).encode())
            await send({**start, "headers": [*others, length]})
            await send({"type": "http.response.body", "body": html})
            held.clear()
            return
        await send(message)

    return said


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m dprl.serve", description="Open the dashboard.")
    parser.add_argument(HOST.flag, default=HOST.default, help=HOST.help)
    parser.add_argument(PORT.flag, default=str(PORT.default), help=PORT.help)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    try:
        if arguments.child:
            dashboard(arguments.host, PORT.parse(arguments.port))
        sys.exit(main(arguments.host, PORT.parse(arguments.port)))
    except (SpecError, StoreError) as error:
        print(error, file=sys.stderr)
        sys.exit(2 if isinstance(error, SpecError) else 1)
