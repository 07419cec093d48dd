"""The digest of what makes the module, so that one can be told that was made before a change."""

from __future__ import annotations

import hashlib
from pathlib import Path

HERE = Path(__file__).parent
MAKING = ("__main__.py", "elementary.c", "emit.py", "fma.h", "mathematics.py", "runtime.c", "unoptimised.py")


def digest() -> str:
    """Digest of the files of this folder that decide the module's bytes, 16 hex digits."""
    return hashlib.sha256(b"\0".join((HERE / name).read_bytes() for name in MAKING)).hexdigest()[:16]
