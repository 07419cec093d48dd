"""A Firefox in which `bench.same_bits` runs the engine.

Needs Firefox (Debian: firefox-esr), which is controlled by WebDriver BiDi over a socket.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

START_LIMIT = 60.0  # seconds until Firefox must answer
LARGEST = 2**28  # bytes of a message: arrays are sent as text


class Firefox:
    """One tab of Firefox. `evaluate` has the same arguments as Playwright's."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._asked = 0
        self.ask("session.new", capabilities={})
        self._tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> Any:
        """Send one command and return its answer. Raises RuntimeError with Firefox's message."""
        self._asked += 1
        self._socket.send(json.dumps({"id": self._asked, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._asked:
                if "error" in answer:
                    raise RuntimeError(answer["message"])
                return answer["result"]

    def open(self, address: str) -> None:
        """Open an address, and wait until it is loaded."""
        self.ask("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def evaluate(self, function: str, argument: object = None) -> Any:
        """Call a JavaScript function, await it, and return its result."""
        text = f"(async () => JSON.stringify(await ({function})({json.dumps(argument)})))()"
        found = self.ask("script.evaluate", expression=text, target={"context": self._tab}, awaitPromise=True)
        if found["type"] == "exception":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return json.loads(found["result"].get("value", "null"))


@contextmanager
def firefox() -> Iterator[Any]:
    """Start a `Firefox` without a window; the type is Any because it replaces Playwright's page."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        sys.exit("Firefox is not installed; on Debian: apt-get install firefox-esr.")
    with tempfile.TemporaryDirectory() as profile:
        command = [program, "--headless", "--profile", profile, "--remote-debugging-port=0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            address = next(line.split()[-1] for line in lines if "WebDriver BiDi listening on" in line)
            with _connected(f"{address}/session") as socket:
                tab = Firefox(socket)
                tab.open("about:blank")  # Firefox opens with a page whose policy forbids WebAssembly
                yield tab
        finally:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
            process.wait()


def _connected(address: str) -> ClientConnection:
    end = time.monotonic() + START_LIMIT
    while True:
        try:
            return connect(address, max_size=LARGEST)
        except (OSError, WebSocketException):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
