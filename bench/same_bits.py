"""Compare the engine in Node and in Firefox with the native kernels: python -m bench.same_bits [--short] [node]
[firefox]

Repeats all runs of tests/wasm in Chromium (--short: every tenth), and compares all arrays at the end with those of the
native kernels, bit for bit. Only the named engines are compared, as the last lines report.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from bench.firefox import firefox
from bench.node import node
from dprl.assets import plain, web_source
from dprl.engine.module import ENGINE, manifest
from tests.wasm.browser import LOAD, encoded, played
from tests.wasm.cases import Case, begun, cases, differing, natively

ENGINES: dict[str, Callable[[], AbstractContextManager[Any]]] = {"node": node, "firefox": firefox}
AGENT = """() => globalThis.process ? `Node ${process.version}, V8 ${process.versions.v8}`
  : navigator.userAgent.split(" ").at(-1)"""


def load(engine: Any) -> str:
    """Load the module into an engine, and return the engine's name."""
    engine.evaluate(
        LOAD, [plain(web_source("engine.js")), encoded(ENGINE.read_bytes()), [*manifest().kernels]]
    )
    agent: str = engine.evaluate(AGENT)
    return agent


def compare(names: Sequence[str], every: Sequence[Case]) -> int:
    """Run the cases in these engines and natively, and return the number of differing runs."""
    with ExitStack() as stack, ThreadPoolExecutor(max(len(names), 1)) as threads:
        engines = {name: stack.enter_context(ENGINES[name]()) for name in names}
        agents = {name: load(engine) for name, engine in engines.items()}
        wrong = dict.fromkeys(names, 0)
        for number, case in enumerate(every, 1):
            run, packed = begun(case)
            asked = {name: threads.submit(played, engine, packed) for name, engine in engines.items()}
            native = natively(run)
            for name, answer in asked.items():
                if differ := differing(native, answer.result()):
                    wrong[name] += 1
                    print(f"{agents[name]}: {case.name}: {', '.join(differ)}")
            if sys.stderr.isatty():
                print(f"\r{number} of {len(every)}", end="", file=sys.stderr, flush=True)
    for name, agent in agents.items():
        same = len(every) - wrong[name]
        print(f"{agent}: {same} of {len(every)} runs have the bits of the native kernels.")
    if others := sorted(ENGINES.keys() - set(names)):
        print(f"Not compared here: {', '.join(others)}.")
    return sum(wrong.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("engines", nargs="*", metavar="node, firefox", help="both where none is named")
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
