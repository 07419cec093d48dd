"""Files and folders that commands are given."""

from __future__ import annotations

from pathlib import Path

from dprl.fields import SpecError, read_text, shown


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
