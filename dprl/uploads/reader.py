"""Reads a file of a visitor, in a process of its own: `python -m dprl.uploads.reader FD`. See readings.py.

FD is the file, open. The declaration comes in one line on standard input. Its progress goes out on standard output, a
JSON object a line; the last has the spec of the data, or the fault. When standard input closes, whoever asked
has gone, or wants it no more: then it ends at once.
"""

from __future__ import annotations

import io
import json
import logging
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from dprl.fields import SpecError
from dprl.runs import logs
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.spec import take

log = logging.getLogger("dprl.uploads.reader")

MEMORY = 3 * 2**30  # of one reading: more than twice the memory that a file of 200 MB needs
TOLD = 0.2  # seconds between two words on how far it is
_NICE = 10  # as workers: the pages' process goes first
TOO_LARGE = f"data: reading this file needs more than {MEMORY // 2**30} GB of memory; give fewer rows."
FAILED = "data: this file could not be read, for an unexpected reason; give it as CSV in UTF-8."


class Watched(io.BufferedReader):
    """A file that tells how much of it was read, from 0 to 1."""

    def __init__(self, raw: io.FileIO, tell: Callable[[float], object]) -> None:
        super().__init__(raw, 2**20)
        self._size, self._tell, self._told = max(os.fstat(raw.fileno()).st_size, 1), tell, 0.0

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as from any file."""
        self._say()
        return super().read(size)

    def read1(self, size: int = -1, /) -> bytes:
        """Read as from any file."""
        self._say()
        return super().read1(size)

    def _say(self) -> None:
        now = time.monotonic()
        if now - self._told > TOLD:
            self._told = now
            self._tell(min(self.tell() / self._size, 1.0))


def read(file: BinaryIO, asked: dict[str, Any]) -> dict[str, Any]:
    """Read a file and store its counts under a name drawn beforehand.

    Args:
        file: a CSV file.
        asked: name, declared (a JSON text), held_out, budget (a name, None for none) and its total
            (as rho, or None).

    Returns:
        spec, of the data; outside, the part outside the declaration, for its owner alone; recalled, the message
        on a file that was read before. Or problem: the fault, in a sentence.
    """
    outside: list[str] = []
    recalled: list[str] = []
    try:
        budget = None if asked["budget"] is None else Budget(asked["budget"], rho=asked["total"])
        spec = take(
            file,
            asked["declared"],
            {"held_out": asked["held_out"]},
            tell=lambda found: outside.extend(found.sentences()),
            budget=budget,
            recall=recalled.append,
            name=asked["name"],
        )
    except SpecError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": TOO_LARGE}
    except Exception as error:  # whose text may have something of the file in it
        log.error("A file could not be read: %s", type(error).__name__)
        return {"problem": FAILED}
    return {"spec": spec.to_dict(), "outside": outside, "recalled": " ".join(recalled)}


def limit_memory(most: int = MEMORY) -> None:
    """Limit the memory of this process, if the system allows it."""
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def main(arguments: list[str]) -> int:
    """Run the command line; return its exit status."""
    logs.log_as("reader")
    os.nice(_NICE)
    limit_memory()
    asked = json.loads(sys.stdin.buffer.readline())

    def say(words: dict[str, Any]) -> None:
        with suppress(OSError):  # nobody listens: standard input closes, too
            print(json.dumps(words), flush=True)

    def end_with_asker() -> None:
        while os.read(0, 4096):
            pass
        os._exit(1)

    threading.Thread(target=end_with_asker, name="asker", daemon=True).start()
    with Watched(io.FileIO(int(arguments[0])), lambda share: say({"share": share})) as file:
        say(read(file, asked))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
