"""A cache of compiled code on disk: one file for each kernel and signature, with a digest of its content.

It replaces numba's own cache, which fails forever once a file is damaged, and runs code even if a bit has flipped.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.experimental import function_type

log = logging.getLogger("dprl.engine")

_DIGEST = 32  # bytes


class KernelCache(NullCache):
    """A function's compiled code in `folder`. `sources` is a digest of the other code that it calls."""

    def __init__(self, function: Callable[..., Any], folder: Path, sources: str) -> None:
        self._folder = folder
        self._name = f"{function.__module__}.{function.__qualname__}"
        code = function.__code__
        captured = dumps([cell.cell_contents for cell in function.__closure__ or ()])
        python = sys.implementation.cache_tag
        file = _file_digest(code.co_filename)
        self._origin = (numba.__version__, python, sources, file, self._name, code.co_firstlineno, captured)

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Load the code compiled for this signature; return None if the code is missing or damaged."""
        target_context.refresh()
        key, path = self._place(sig, target_context.codegen())
        try:
            data = path.read_bytes()
        except OSError:
            return None
        try:
            if data[:_DIGEST] != _digest(data[_DIGEST:]):
                raise ValueError("the digest differs")
            of, code = pickle.loads(data[_DIGEST:])
            return CompileResult._rebuild(target_context, *code) if of == key else None
        except Exception:  # any exception of numba means that the file is damaged
            with contextlib.suppress(FileNotFoundError):  # another process has removed and reported it
                path.unlink()
                _say(f"Some compiled kernels in {self._folder} were damaged and will be compiled again.")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code compiled for this signature, if possible."""
        if data.lifted or data.library.has_dynamic_globals:
            return  # contains addresses in this process
        key, path = self._place(sig, data.codegen)
        code = dumps((key, data._reduce()))
        try:
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                try:
                    file.write(_digest(code) + code)
                    file.flush()
                    os.replace(file.name, path)
                except OSError:
                    os.unlink(file.name)
                    raise
        except OSError as error:
            _say(f"Compiled kernels cannot be stored in {self._folder} ({error.strerror}).")

    def _place(self, sig: Any, codegen: Any) -> tuple[Any, Path]:
        """Return the cache key (signature, origin and processor) and the path of the file with the code."""
        key = (sig, self._origin, codegen.magic_tuple())
        return key, self._folder / f"{self._name[-80:]}-{_digest(repr(key).encode()).hex()[:16]}"


@cache
def _say(sentence: str) -> None:
    """Log a sentence once per process."""
    log.warning(sentence)


@cache
def _file_digest(path: str) -> bytes:
    return _digest(Path(path).read_bytes())


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


LOOKED_UP = ("_get_wrapper_address", "_get_jit_address")  # names of functions in compiled code


def remember() -> None:
    """Cache the addresses of compiled functions that are passed to kernels. By default, numba hashes signatures to look
    up each such address twice in every call, which was 15 to 40% of a run's time. This will be unnecessary once numba
    caches an address with its overload."""
    for name in LOOKED_UP:
        look_up = getattr(function_type, name)
        if not hasattr(look_up, "__wrapped__"):
            setattr(function_type, name, remembering(look_up))


def remembering(look_up: Callable[[Any, Any], int]) -> Callable[[Any, Any], int]:
    """Wrap an address lookup in a cache. The functions must be fully compiled, as all of ours are."""
    known: dict[tuple[int, int], tuple[Any, Any, int]] = {}

    def address(function: Any, signature: Any) -> int:
        at = id(function), id(signature)
        if at not in known:
            found = look_up(function, signature)
            if getattr(function, "_can_compile", True):
                return found
            known[at] = function, signature, found  # kept alive, so that nothing else gets their ids
        return known[at][2]

    address.__wrapped__ = look_up  # type: ignore[attr-defined]
    return address


remember()  # at import, so that every compilation is covered; no result depends on it
