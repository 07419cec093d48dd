"""The engine in Node: python -m bench.node [--short]

Plays every run that tests/wasm has for Chromium (--short: every tenth), and compares all arrays at the end with those
of the native kernels, bit for bit. Node has V8, as Chromium has. Tests compare in Chromium, which they need anyway, so
nothing else here needs Node.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dprl.assets import plain, web_source
from dprl.wasm import ENGINE, manifest
from tests.wasm.browser import LOAD, encoded, played
from tests.wasm.cases import begun, cases, differing, natively

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


@contextmanager
def node() -> Iterator[Any]:
    """A `Node`; Any, for it stands in where Playwright's page is asked for."""
    program = shutil.which("node")
    if program is None:
        sys.exit("There is no Node here: install it, such as by `apt-get install nodejs`.")
    with subprocess.Popen(
        [program, "-e", ANSWERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        yield Node(process)
        process.terminate()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="every tenth run")
    every = tuple(cases())[:: 10 if parser.parse_args().short else 1]
    wrong = 0
    with node() as engine:
        engine.evaluate(
            LOAD, [plain(web_source("engine.js")), encoded(ENGINE.read_bytes()), manifest().kernels]
        )
        print(
            f"Node {engine.evaluate('() => process.version')}, V8 {engine.evaluate('() => process.versions.v8')}"
        )
        for case in every:
            run, packed = begun(case)
            if differ := differing(natively(run), played(engine, packed)):
                wrong += 1
                print(f"{case.name}: {', '.join(differ)}")
    print(f"{len(every)} runs, of which {wrong} differ.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
