"""Logging for the dashboard's processes, as plain lines for a terminal or, if DPRL_LOG=json, as JSON.

An object has `at` (UTC), `level`, `part` (server, worker or reader), `pid` and `says`; for requested work also `run`
(a digest of the spec), `key` and `seed`. An error appears as its type and traceback, without its text, which might
contain a visitor's names.
"""

from __future__ import annotations

import json
import logging
import os
import traceback
from datetime import UTC, datetime
from typing import Any

OF_WORK = ("run", "key", "seed", "seeds", "seconds")
_FRAMES = 12  # the innermost frames of an error's traceback


def as_json() -> bool:
    """Return whether log lines are JSON objects, as DPRL_LOG decides."""
    return os.environ.get("DPRL_LOG", "").strip() == "json"


def log_as(part: str) -> None:
    """Make this process log to standard error. `part` is the name of the process in the log."""
    handler = logging.StreamHandler()
    if as_json():
        handler.setFormatter(Lines(part))
        logging.captureWarnings(True)
    else:
        handler.setFormatter(logging.Formatter(f"dprl {part}: %(message)s"))
    # Only log collectors need the start and end of each seed; others see them on the page.
    logging.basicConfig(level=logging.INFO if as_json() else logging.WARNING, handlers=[handler])


class Lines(logging.Formatter):
    """A formatter that writes each log record as a JSON object on one line."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part

    def format(self, record: logging.LogRecord) -> str:
        """Return one log record as a line of JSON."""
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
