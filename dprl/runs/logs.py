"""The logs of a dashboard's processes: plain lines for a terminal, or with DPRL_LOG=json an object a line.

An object has `at` (UTC), `level`, `part` (server, worker or reader), `pid` and `says`; of work that was asked
for also `run` and `key`, digests of the spec and of the unit of work, and `seed`. Of an error it has the type and the
places it passed through, not its text, in which a visitor's names might stand.
"""

from __future__ import annotations

import json
import logging
import os
import traceback
from datetime import UTC, datetime
from typing import Any

OF_WORK = ("run", "key", "seed", "seeds", "seconds")
_FRAMES = 12  # of an error's places the innermost


def as_json() -> bool:
    """Whether lines are objects."""
    return os.environ.get("DPRL_LOG", "").strip() == "json"


def log_as(part: str) -> None:
    """Set this process to log to standard error, in the name of `part`."""
    handler = logging.StreamHandler()
    if as_json():
        handler.setFormatter(Lines(part))
        logging.captureWarnings(True)
    else:
        handler.setFormatter(logging.Formatter(f"dprl {part}: %(message)s"))
    # That a seed began or ended is for whoever collects logs: at a terminal, the page shows it.
    logging.basicConfig(level=logging.INFO if as_json() else logging.WARNING, handlers=[handler])


class Lines(logging.Formatter):
    """A record as a JSON object on one line."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part

    def format(self, record: logging.LogRecord) -> str:
        """Write the line of one record."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "part": self._part,
            "pid": os.getpid(),
            "says": record.getMessage(),
        }
        line |= {name: vars(record)[name] for name in OF_WORK if name in vars(record)}
        if record.exc_info and record.exc_info[0] is not None:
            places = traceback.extract_tb(record.exc_info[2])[-_FRAMES:]
            line["error"] = record.exc_info[0].__name__
            line["where"] = [f"{place.filename}:{place.lineno} {place.name}" for place in places]
        return json.dumps(line)
