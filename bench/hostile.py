"""Hostile query strings to every page of a real server, through a real websocket, each as a new visitor's first.

    python -m bench.hostile [how many, by default 10000] [the first, by default 0]

Prints each visit that failed or cost more than half a CPU second, and what the server's memory grew by, at last when
those who have come are forgotten.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
import time
from pathlib import Path

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.shared.layout.frame import CRASHED
from tests.browser.server import ROOT, App, serve_command, start
from tests.pages.hostile import hostile
from tests.pages.test_hostile import GOOD

PATIENCE = 60.0  # seconds for a page
SETTLING = 50  # visits before memory is looked at
FORGOTTEN = 180.0  # seconds until a server has let go of who has left; Streamlit keeps them for two minutes


def main(count: int = 10_000, first: int = 0) -> int:
    """Visits; 1 where any failed, or the log has a traceback."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server ends, too
    with tempfile.TemporaryDirectory() as home:
        app = start(serve_command, ROOT, Path(home))
        try:
            wrong = asyncio.run(visits(app, count, first))
        finally:
            app.end()
        wrong += (said := app.log()).count("Traceback")
        if "Traceback" in said:
            print(said[said.index("Traceback") :][:3000])
    return min(wrong, 1)


async def visits(app: App, count: int, first: int) -> int:
    """Visits, page by page; how many failed."""
    server = pages_of(app)
    failed, before = 0, 0.0
    names = list(GOOD)
    for i in range(first, first + count):
        page, done = names[i % len(names)], i - first + 1
        if done == SETTLING:
            before = memory(server)
        begin = cpu(server)
        problem = await visit(app.url, page, hostile(i, *GOOD[page]))
        spent = cpu(server) - begin
        if problem or spent > 0.5:
            print(f"{page}, {i}: {problem or 'slow'}, {spent:.2f} CPU s", flush=True)
        failed += bool(problem)
        if done % 500 == 0 or done == count:
            print(f"{done} visits, {failed} failed, {memory(server) - before:+.0f} MB", flush=True)
    await asyncio.sleep(FORGOTTEN)
    await visit(app.url, names[0], "")  # after which what is cached is what one visitor needs
    print(f"when all are forgotten: {memory(server) - before:+.0f} MB", flush=True)
    return failed


async def visit(url: str, page: str, query: str) -> str:
    """A new visitor opens a link: what went wrong, "" where nothing did."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    until = time.monotonic() + PATIENCE
    async with websockets.connect(
        address,
        subprotocols=[websockets.Subprotocol("streamlit")],
        origin=websockets.Origin(url),
        max_size=None,
    ) as socket:
        asked = BackMsg()
        asked.rerun_script.query_string = query
        asked.rerun_script.page_name = "" if page == "home" else page
        await socket.send(asked.SerializeToString())
        while True:
            try:
                answer = await asyncio.wait_for(socket.recv(), until - time.monotonic())
            except TimeoutError:
                return "no answer"
            except websockets.ConnectionClosed:
                return "the connection was closed"
            message = ForwardMsg.FromString(answer if isinstance(answer, bytes) else answer.encode())
            if message.WhichOneof("type") == "script_finished":
                return ""
            if CRASHED in str(message) or message.delta.new_element.WhichOneof("type") == "exception":
                return "it crashed"


def pages_of(app: App) -> int:
    """The process of a dashboard that draws its pages."""
    found = app.processes().items()
    return next(pid for pid, command in found if "--child" in command and "dprl.serve" in command)


def cpu(pid: int) -> float:
    """CPU seconds of a process until now."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / 100


def memory(pid: int) -> float:
    """MB in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
