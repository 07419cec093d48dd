"""The digest of what makes the module, so that one can be told that was made before a change."""

from __future__ import annotations

import hashlib
from pathlib import Path

HERE = Path(__file__).parent
MAKING = ("__main__.py", "emit.py", "mathematics.py", "unoptimised.py")


def digest() -> str:
    """Digest of the files of this folder that decide the module's bytes, 16 hex digits."""
    made = sorted(HERE.glob("*.[ch]")) + [HERE / name for name in MAKING]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in made)).hexdigest()[:16]
