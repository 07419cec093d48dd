"""Files and folders that commands are given."""

from __future__ import annotations

from pathlib import Path

from dprl.fields import SpecError, shown


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
        if Path(path).stat().st_size > 10**7:
            raise SpecError("spec", "the file has more than 10 MB; no spec has.")
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise SpecError("spec", f"{shown(path)} cannot be read; give the path of a spec.json.") from None
