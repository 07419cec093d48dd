"""The queue of files that visitors upload. A separate process reads one file at a time.

A waiting file has no name on the disk, so that it vanishes however this process ends. The memory for reading one file
(MEMORY) and the total size of waiting files are limited. Each visitor may have one file.

The reading process is `python -m dprl.uploads.readings FD`, with the descriptor FD of the open file. It receives the
question (see `read`) on standard input as one line of JSON, and ends when standard input closes.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

from dprl.engine import make_inside
from dprl.fields import SpecError
from dprl.runs import logs
from dprl.runs.database import setting
from dprl.runs.workers import child_environment, end_with_parent
from dprl.simulation import UploadSpec
from dprl.simulation.kinds import spec_from_dict
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.spec import take
from dprl.simulation.uploads.table import MOST_BYTES

log = logging.getLogger("dprl.uploads")

MEMORY = 3 * 2**30  # for one file: more than twice what a file of 200 MB needs
MOST_WAITING = 10 * MOST_BYTES  # total size of all files that are waiting or being read
TOO_LARGE = f"data: reading this file needs more than {MEMORY // 2**30} GB of memory; give fewer rows."
FAILED = "data: this file could not be read, for an unexpected reason; save it as CSV in UTF-8."
FULL = "data: too many files are being read on this server right now; give the file again in a few minutes."
DIED = "data: reading stopped before the end of the file, perhaps because memory ran out; give it again, or fewer rows."


def allowed() -> bool:
    """Return whether visitors may upload files, as set by DPRL_UPLOADS; by default, only if the server is private."""
    return bool(setting("DPRL_UPLOADS", 1 - setting("DPRL_PUBLIC", 0, 0, 1), 0, 1))


@dataclass(eq=False)
class Reading:
    """One visitor's file, from its upload until it is read."""

    name: str  # the name of its stored counts
    size: int  # in bytes
    asked: dict[str, Any]  # see `read`
    marker: BinaryIO  # open file that keeps the counts from being deleted, see `kept.hold`
    ahead: int = 0  # the number of files that are read before it
    copy: BinaryIO | None = None  # the file, while a process reads it
    done: bool = False  # whether reading has ended or was cancelled
    cancelled: bool = False
    spec: UploadSpec | None = None  # the spec for the data; None before the end, and if reading failed
    problem: str = ""  # the fault, in a sentence
    outside: tuple[str, ...] = ()  # see `read`
    recalled: str = ""  # see `read`
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def share(self) -> float:
        """Return the share of the file that the process has read so far, from 0 to 1."""
        with suppress(OSError, ValueError):
            if self.copy is not None:
                return min(os.lseek(self.copy.fileno(), 0, os.SEEK_CUR) / max(self.size, 1), 1.0)
        return 0.0


def in_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="reading", daemon=True).start()


class Readings:
    """The queue of all files that visitors have uploaded to this server."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._waiting: list[Reading] = []  # in the order of arrival; the first one is being read

    def begin(self, file: BinaryIO, asked: dict[str, Any]) -> Reading:
        """Add a file to the queue; `asked` is as in `read`. Raises SpecError if storage fails or the queue is full."""
        size = file.seek(0, 2)
        name = kept.new_name()
        with self._turn:
            if sum(other.size for other in self._waiting) + size > MOST_WAITING:
                raise SpecError(*FULL.split(": ", 1))
            reading = Reading(name, size, {**asked, "name": name}, kept.hold(name), ahead=len(self._waiting))
            self._waiting.append(reading)
        given = [file]  # so that the thread can drop the last reference to the page's copy
        del file
        in_thread(lambda: self._read(reading, given))
        return reading

    def cancel(self, reading: Reading) -> None:
        """Stop reading a file, and delete its stored data."""
        with self._turn:
            reading.cancelled = True
            self._turn.notify_all()
        if reading.process is not None:
            reading.process.kill()

    def _read(self, reading: Reading, given: list[BinaryIO]) -> None:
        found: dict[str, Any] = {"problem": DIED}
        try:
            with unnamed(given.pop()) as copy:
                with self._turn:
                    self._turn.wait_for(lambda: reading.cancelled or self._waiting[0] is reading)
                if not reading.cancelled:
                    found = by_process(reading, copy)
        except OSError as error:
            found = {"problem": f"data: the file cannot be read here ({error.strerror})."}
        except Exception:
            log.exception("A reading failed")
        finally:
            with self._turn:
                self._waiting.remove(reading)
                for place, other in enumerate(self._waiting):
                    other.ahead = place
                if not reading.cancelled and "spec" in found:
                    reading.spec = spec_from_dict(found["spec"])
                    reading.outside, reading.recalled = tuple(found["outside"]), found["recalled"]
                else:
                    reading.problem = "" if reading.cancelled else found["problem"]
                    forget(reading.name, reading.marker)
                reading.done = True
                self._turn.notify_all()


def forget(name: str, marker: BinaryIO) -> None:
    """Delete the data stored under a name, and close the file that protected them from deletion."""
    kept.forget(name)
    with suppress(OSError):
        marker.close()


def unnamed(file: BinaryIO) -> BinaryIO:
    """Copy a file to an unnamed temporary file, and return the copy, opened at its beginning."""
    make_inside(kept.folder())
    copy = cast(BinaryIO, tempfile.TemporaryFile(dir=kept.folder()))  # noqa: SIM115 - its reader closes it
    file.seek(0)
    shutil.copyfileobj(file, copy, 2**20)
    copy.flush()
    copy.seek(0)
    return copy


def by_process(reading: Reading, file: BinaryIO) -> dict[str, Any]:
    """Read the file in a child process, and return its answer. The child ends when this process does."""
    command = [sys.executable, "-m", "dprl.uploads.readings", str(file.fileno())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=child_environment(), start_new_session=True,
        pass_fds=(file.fileno(),),
    ) as process:  # fmt: skip
        reading.copy, reading.process = file, process
        assert process.stdin is not None
        assert process.stdout is not None
        if reading.cancelled:
            process.kill()
        with suppress(OSError):
            process.stdin.write(json.dumps(reading.asked).encode() + b"\n")
            process.stdin.flush()
        said = process.stdout.read()
    found: dict[str, Any] = json.loads(said) if said else {"problem": DIED}
    return found


def read(file: BinaryIO, asked: dict[str, Any]) -> dict[str, Any]:
    """Read a file of trajectories, and store its counts under a name drawn beforehand.

    Args:
        asked: a dict of name, declared (a JSON text), held_out, budget (a name or None) and total (its rho or None).

    Returns:
        spec: the spec for the data; outside: notes for its owner alone about data outside the declaration; recalled:
            a message if the file was read before. If reading fails, only problem: the fault, in a sentence.
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


def limit_memory() -> None:
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def main(descriptor: int) -> None:
    """Read the file that the parent process has opened, and print the answer as JSON."""
    logs.log_as("reader")
    os.nice(10)  # like workers, so that the pages' process has priority
    limit_memory()
    asked = json.loads(sys.stdin.buffer.readline())
    end_with_parent()
    with open(descriptor, "rb", buffering=2**20) as file:
        print(json.dumps(read(file, asked)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
