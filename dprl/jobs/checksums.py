"""Results and answers behind a digest, which damage does not pass."""

from __future__ import annotations

import hashlib
from typing import Any

_DIGEST_BYTES = 16


def add_checksum(key: str, data: bytes) -> bytes:
    """`data` behind a digest of it, and of the key that it is stored under."""
    return digest(key, data) + data


def without_checksum(key: str, stored: Any) -> bytes | None:
    """What `add_checksum` was given; None where something else is stored."""
    if not isinstance(stored, bytes):
        return None
    data = stored[_DIGEST_BYTES:]
    return data if stored[:_DIGEST_BYTES] == digest(key, data) else None


def digest(key: str, data: bytes) -> bytes:
    """Of a result, and of the key that it is stored under."""
    return hashlib.blake2b(key.encode() + data, digest_size=_DIGEST_BYTES).digest()


def link_digest(page: str, query: str) -> bytes:
    """Of a link: the same one has the same, and one that was damaged has another."""
    return digest(f"{page}?", query.encode())
