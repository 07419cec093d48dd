"""What commands are given: arguments, files and folders."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

from dprl.fields import SpecError, read_text, shown


class Parser(argparse.ArgumentParser):
    """argparse, but an error is one line, and every number below 0 is a value."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        # argparse itself takes -1e-3 for a flag, up to Python 3.13
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)

    def error(self, message: str) -> NoReturn:
        fail(message)


def fail(message: str) -> NoReturn:
    """Say one line and leave with status 2."""
    sys.stderr.write(f"dprl: {' '.join(message.split())}\n")
    raise SystemExit(2)


def directory(given: str) -> Path:
    """The directory to write to, made if it is not there. Raises SpecError."""
    out = Path(given)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise SpecError(
            "out", f"{shown(given)} cannot be made; give a directory that can be written to."
        ) from None
    return out


def text_of(path: str) -> str:
    """What is in a file. Raises SpecError."""
    try:
        large = Path(path).stat().st_size > 10**7
    except (OSError, ValueError):  # which is said below
        large = False
    if large:
        raise SpecError("spec", "the file has more than 10 MB; no spec has.")
    return read_text("spec", path, "the path of a spec.json")
