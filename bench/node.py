"""Run the engine's JavaScript in Node, which has the same engine V8 as Chromium, for `bench.same_bits` and tests/wasm.

Playwright comes with its own Node, so there is one wherever tests run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import playwright

# Each input line is a function with its argument; the answer is one line.
ANSWERS = """globalThis.window = globalThis;
require("readline").createInterface({ input: process.stdin }).on("line", async (line) => {
  const [text, argument] = JSON.parse(line);
  const found = await (0, eval)(`(${text})`)(argument);
  process.stdout.write(JSON.stringify(found ?? null) + "\\n");
});"""


class Node:
    """A running process of Node. `evaluate` has the same arguments as Playwright's."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def evaluate(self, function: str, argument: object = None) -> Any:
        """Call a JavaScript function, await it, and return its result. Raises RuntimeError if Node has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([function, argument]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("Node has ended; its own message above gives the reason.")
        return json.loads(answer)


def program() -> str:
    """Return the path of Playwright's Node, else of one on the PATH. Raises RuntimeError if there is none."""
    assert playwright.__file__ is not None
    own = Path(playwright.__file__).parent / "driver" / "node"
    found = os.environ.get("PLAYWRIGHT_NODEJS_PATH") or (str(own) if own.is_file() else shutil.which("node"))
    if found is None:
        raise RuntimeError("Playwright's own Node is missing, and there is none on the PATH; install Node.")
    return found


@contextmanager
def node() -> Iterator[Any]:
    """Start a `Node`. Its type is Any, because it takes the role of Playwright's page."""
    with subprocess.Popen(
        [program(), "-e", ANSWERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            yield Node(process)
        finally:
            process.terminate()
