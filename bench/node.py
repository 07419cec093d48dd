"""The engine in Node, which has V8 as Chromium has: `bench.same_bits` and tests/wasm play runs in it.

Playwright comes with a Node of its own, so wherever tests run there is one.
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

# Each line that comes in is a function with its argument, and is answered by a line.
ANSWERS = """globalThis.window = globalThis;
require("readline").createInterface({ input: process.stdin }).on("line", async (line) => {
  const [text, argument] = JSON.parse(line);
  const found = await (0, eval)(`(${text})`)(argument);
  process.stdout.write(JSON.stringify(found ?? null) + "\\n");
});"""


class Node:
    """A process of Node. `evaluate` is called as Playwright's is."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def evaluate(self, function: str, argument: object = None) -> Any:
        """What a function of JavaScript gives, awaited. Raises RuntimeError where Node has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([function, argument]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("Node has ended; it says why above.")
        return json.loads(answer)


def program() -> str:
    """Playwright's Node, else one on the PATH. Raises RuntimeError where there is neither."""
    assert playwright.__file__ is not None
    own = Path(playwright.__file__).parent / "driver" / "node"
    found = os.environ.get("PLAYWRIGHT_NODEJS_PATH") or (str(own) if own.is_file() else shutil.which("node"))
    if found is None:
        raise RuntimeError("This Playwright has no Node, and there is none on the PATH: install one.")
    return found


@contextmanager
def node() -> Iterator[Any]:
    """A `Node`; Any, for it stands in where Playwright's page is asked for."""
    with subprocess.Popen(
        [program(), "-e", ANSWERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            yield Node(process)
        finally:
            process.terminate()
