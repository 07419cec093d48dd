"""Values that all sessions share, read or made once: as many as a number of bytes has room for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
import streamlit as st

ENTRY_BYTES = 1_000  # about what keeping a small value takes, with its key

T = TypeVar("T")


class SizedCache(Generic[T]):
    """Values with a version; the least recently used go beyond that many bytes.

    A version of None is final: it is right whatever version is asked for.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: OrderedDict[Hashable, tuple[str | None, T, int]] = OrderedDict()
        self._total = 0

    def get(self, key: Hashable) -> tuple[str | None, T] | None:
        """Return version and value, if there is one."""
        with self._lock:
            found = self._found.get(key)
            if found is None:
                return None
            self._found.move_to_end(key)
            return found[:2]

    def put(self, key: Hashable, version: str | None, value: T, size: int) -> T:
        """Cache the value, of that many bytes, and return it."""
        with self._lock:
            if (before := self._found.pop(key, None)) is not None:
                self._total -= before[2]
            self._found[key] = (version, value, size)
            self._total += size
            while self._total > self._most and len(self._found) > 1:
                _, (_, _, gone) = self._found.popitem(last=False)
                self._total -= gone
        return value

    def cached(
        self,
        key: Hashable,
        load: Callable[[str | None], T],
        size: Callable[[T], int],
        version: Callable[[], str] | None = None,
        final: Callable[[T], bool] = lambda value: False,
    ) -> T:
        """Return the cached value if it is final or of the present version; else load it, which is told the version.

        key: the facts it depends on, without the version's. size: about how many bytes it has. version: None if the
        value never changes. final: whether this value never changes again.
        """
        found = self.get(key)
        if found is not None and found[0] is None:
            return found[1]
        now = version() if version else None
        if found is not None and found[0] == now:
            return found[1]
        value = load(now)
        return self.put(key, None if final(value) else now, value, size(value))


@st.cache_resource(show_spinner=False)
def cache_of(name: str, most: int) -> SizedCache[Any]:
    """Return the cache of this name, of at most that many bytes, one for the whole server."""
    return SizedCache(most)


def bytes_of(*found: Any) -> int:
    """Return their approximate size in memory: their arrays, which are nearly all of it."""
    return ENTRY_BYTES + sum(
        part.nbytes for one in found for part in vars(one).values() if isinstance(part, np.ndarray)
    )
