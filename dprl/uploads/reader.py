"""Read a visitor's file in its own process: `python -m dprl.uploads.reader FD`. See readings.py.

FD is the descriptor of the open file. The declaration arrives as one line on standard input; a JSON object with the
spec of the data, or with the fault, goes to standard output. When standard input closes, the process ends.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from dprl.fields import SpecError
from dprl.runs import logs
from dprl.runs.workers import end_with_parent
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.spec import take

log = logging.getLogger("dprl.uploads.reader")

MEMORY = 3 * 2**30  # of one reading: more than twice the memory that a file of 200 MB needs
_NICE = 10  # like workers, so that the pages' process has priority
TOO_LARGE = f"data: reading this file needs more than {MEMORY // 2**30} GB of memory; give fewer rows."
FAILED = "data: this file could not be read, for an unexpected reason; give it as CSV in UTF-8."


def read(file: BinaryIO, asked: dict[str, Any]) -> dict[str, Any]:
    """Read a file and store its counts under a name drawn beforehand.

    Args:
        asked: a dict of name, declared (a JSON text), held_out, budget (a name or None) and total (its rho or None).

    Returns:
        spec: the spec of the data; outside: a note for its owner alone about data outside the declaration; recalled:
            a message if the file was read before. Or problem: the fault, in a sentence.
    """
    outside: list[str] = []
    recalled: list[str] = []
    try:
        budget = None if asked["budget"] is None else Budget(asked["budget"], rho=asked["total"])
        spec = take(
            file,
            asked["declared"],
            {"held_out": asked["held_out"]},
            asked["name"],
            tell=lambda found: outside.extend(found.sentences()),
            budget=budget,
            recall=recalled.append,
        )
    except SpecError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": TOO_LARGE}
    except Exception as error:  # its text may contain parts of the file
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
    end_with_parent()
    with open(int(arguments[0]), "rb", buffering=2**20) as file:
        print(json.dumps(read(file, asked)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
