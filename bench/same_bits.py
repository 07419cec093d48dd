"""Check that the engine gives the same bits in Node and Firefox as in wasmtime: python -m bench.same_bits [--short]
[node] [firefox]

Repeats all runs of tests/wasm in Chromium (--short: every tenth), and compares all arrays at the end with those in
wasmtime, which workers use, bit for bit. Only the named engines are compared, as the last lines report. Firefox is
controlled by WebDriver BiDi over a socket.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import psutil
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from bench.node import node
from dprl.assets import classic
from dprl.engine.module import ENGINE, manifest
from tests.wasm.browser import LOAD, encoded, played
from tests.wasm.cases import Case, begun, cases, differing, ended

AGENT = """() => globalThis.process ? `Node ${process.version}, V8 ${process.versions.v8}`
  : navigator.userAgent.split(" ").at(-1)"""
START_LIMIT = 60.0  # seconds until Firefox must answer
LARGEST = 2**28  # bytes of a message: arrays are sent as text


class Firefox:
    """A tab of a running Firefox. `evaluate` has the same arguments as Playwright's."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._asked = 0
        self.ask("session.new", capabilities={})
        self._tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> Any:
        """Send one command to Firefox, and return its answer. Raises RuntimeError with Firefox's message."""
        self._asked += 1
        self._socket.send(json.dumps({"id": self._asked, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._asked:
                if "error" in answer:
                    raise RuntimeError(answer["message"])
                return answer["result"]

    def open(self, address: str) -> None:
        """Open an address in the tab, and wait until it is loaded."""
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
    """Start a `Firefox` without a window. Its type is Any, because it takes the role of Playwright's page."""
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


ENGINES: dict[str, Callable[[], AbstractContextManager[Any]]] = {"node": node, "firefox": firefox}


def load(engine: Any) -> str:
    """Load the WebAssembly module into a JavaScript engine, and return the engine's name."""
    engine.evaluate(LOAD, [classic("engine.js"), encoded(ENGINE.read_bytes()), [*manifest().kernels]])
    agent: str = engine.evaluate(AGENT)
    return agent


def compare(names: Sequence[str], every: Sequence[Case]) -> int:
    """Compute the test cases in these engines and in wasmtime; return the number of runs whose bits differ."""
    with ExitStack() as stack, ThreadPoolExecutor(max(len(names), 1)) as threads:
        engines = {name: stack.enter_context(ENGINES[name]()) for name in names}
        agents = {name: load(engine) for name, engine in engines.items()}
        wrong = dict.fromkeys(names, 0)
        for number, case in enumerate(every, 1):
            run, packed = begun(case)
            asked = {name: threads.submit(played, engine, packed) for name, engine in engines.items()}
            ours = ended(run)
            for name, answer in asked.items():
                if differ := differing(ours, answer.result()):
                    wrong[name] += 1
                    print(f"{agents[name]}: {case.name}: {', '.join(differ)}")
            if sys.stderr.isatty():
                print(f"\r{number} of {len(every)}", end="", file=sys.stderr, flush=True)
    for name, agent in agents.items():
        same = len(every) - wrong[name]
        print(f"{agent}: {same} of {len(every)} runs have the bits of wasmtime.")
    if others := sorted(ENGINES.keys() - set(names)):
        print(f"Not compared here: {', '.join(others)}.")
    return sum(wrong.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "engines", nargs="*", metavar="node, firefox", help="engines to compare with; by default both"
    )
    parser.add_argument("--short", action="store_true", help="every tenth run")
    chosen = parser.parse_args()
    if unknown := set(chosen.engines) - ENGINES.keys():
        parser.error(f"There is no {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}.")
    begun_at = time.monotonic()
    wrong = compare(chosen.engines or list(ENGINES), tuple(cases())[:: 10 if chosen.short else 1])
    print(
        f"This took {time.monotonic() - begun_at:.0f} s, and {time.process_time():.0f} CPU seconds of this process."
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
