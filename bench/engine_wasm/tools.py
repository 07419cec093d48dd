"""A digest of the sources of the module, which shows whether the module was built before a change."""

from __future__ import annotations

import hashlib
from pathlib import Path

HERE = Path(__file__).parent
MAKING = ("__main__.py", "emit.py", "mathematics.py", "unoptimised.py")


def digest() -> str:
    """Return a digest, 16 hex digits, of the files in this folder that decide the module's bytes."""
    made = sorted(HERE.glob("*.[ch]")) + [HERE / name for name in MAKING]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in made)).hexdigest()[:16]
