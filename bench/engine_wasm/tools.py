"""A digest of the files that build the WebAssembly module, which shows whether they have changed since it was built."""

from __future__ import annotations

import hashlib
from pathlib import Path

HERE = Path(__file__).parent
MAKING = ("__main__.py", "emit.py", "mathematics.py", "unoptimised.py")


def digest() -> str:
    """Return a digest, 16 hex digits, of the files in this folder on which the module's bytes depend."""
    made = sorted(HERE.glob("*.[ch]")) + [HERE / name for name in MAKING]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in made)).hexdigest()[:16]
