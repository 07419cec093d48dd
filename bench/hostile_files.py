"""Hostile files to everything that reads one: python -m bench.hostile_files [how many, by default 1000]

Prints each that was neither read nor refused in a sentence, or cost more than half a CPU second, and what memory grew
by.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter

from bench.hostile import memory
from tests.pages.hostile_files import READERS, hostile_file

SETTLING = 50  # files before memory is looked at


def main(count: int) -> int:
    """1 where any failed."""
    found: Counter[str] = Counter()
    before = 0.0
    with tempfile.TemporaryDirectory() as home:
        os.environ["DPRL_HOME"] = home
        for i in range(count):
            if i == SETTLING:
                before = memory(os.getpid())
            kind, data = hostile_file(i)
            begin = time.process_time()
            try:
                said = READERS[kind][0](data)
                good = not said or (said.endswith(".") and len(said) < 500 and "Traceback" not in said)
            except Exception as error:
                said, good = repr(error)[:300], False
            spent = time.process_time() - begin
            found["refused" if said else "read"] += good
            found["failed"] += not good
            found["slow"] += spent > 0.5
            if not good or spent > 0.5:
                print(f"{i}, {kind}, {len(data):,} bytes: {said[:300]!r}, {spent:.2f} CPU s", flush=True)
    print(f"{count} files: {dict(found)}; memory {memory(os.getpid()) - before:+.0f} MB")
    return min(found["failed"], 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
