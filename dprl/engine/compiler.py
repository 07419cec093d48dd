"""Compile kernels with numba on first use, in the process that needs them.

A function marked `@kernel` stays an ordinary Python function; tests run it as one and get the same bits. `compiled`
returns its machine code and stores it (`disk`) in a folder named after a digest of all sources (`folder`), because a
kernel may call functions in other files.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from dprl.engine.folder import SAID, hold, kernels, remove_others
from dprl.engine.sources import source_digest
from dprl.fields import SpecError

log = logging.getLogger("dprl.engine")
F = TypeVar("F", bound=Callable[..., Any])


class KernelError(Exception):
    """Raised when numba cannot compile a function; the message gives its name, the reason and the source line."""


_DISABLED = "NUMBA_DISABLE_JIT", "simulations run as compiled code; unset it, or set it to 0."
_kernels: list[Callable[..., Any]] = []
_registered: set[Callable[..., Any]] = set()


def kernel(function: F) -> F:
    """Mark a function as a kernel, which other compiled kernels may call, and return it unchanged."""
    _kernels.append(function)
    return function


TOGETHER = 60.0  # seconds; processes that begin to compile within this time count as started together


@cache
def _numba() -> Any:
    import numba

    return numba


@cache
def cache_folder() -> Path | None:
    """Lock and return the folder for compiled code (NUMBA_CACHE_DIR, or one in DPRL_HOME), or None if it cannot be
    used. In DPRL_HOME, also remove code compiled from other sources, unless a process has locked it."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(given) if given else kernels(source_digest())
    try:
        if hold(folder):
            if not given:
                remove_others(source_digest())
            return folder
        log.warning("Compiled kernels are not stored, because other users can access %s.", folder)
    except OSError as error:
        log.warning(
            "Compiled kernels are not stored, because %s cannot be used (%s).", folder, error.strerror
        )
    return None


def on_disk(function: Callable[..., Any]) -> bool:
    """Return whether a kernel has been compiled on this machine before, for any signature."""
    folder = cache_folder()
    name = f"{function.__module__}.{function.__qualname__}"[-80:]  # as in disk.KernelCache
    return folder is not None and any(folder.glob(f"{name}-*"))


@cache
def _announce() -> None:
    """Log once per process that numba is compiling, but only once if several workers start together."""
    folder = cache_folder()
    if folder is not None:
        mark = folder / "announced"
        with contextlib.suppress(OSError):
            if time.time() - mark.stat().st_mtime < TOGETHER:
                return
        with contextlib.suppress(OSError):
            mark.touch()
    log.warning(SAID["compiles"])


@cache
def compiled(function: F, signature: Any) -> F:
    """Compile `function` to machine code for the declared `signature` (a numba string or signature object). Raises
    KernelError, and SpecError if numba's compiler is switched off. Without declared signatures, the types of functions
    passed as arguments differ between processes, and the disk cache is never used."""
    numba = _numba()
    if numba.config.DISABLE_JIT:
        raise SpecError(*_DISABLED)
    for helper in _kernels:
        if helper not in _registered:
            # always inlined: passing an array costs more than the arithmetic on a row of it
            numba.extending.register_jitable(forceinline=True)(helper)
            _registered.add(helper)
    # division by zero gives inf or nan, as it does for NumPy scalars in plain Python
    machine = numba.njit(function, error_model="numpy")
    written = Path(function.__code__.co_filename).is_file()  # and not typed at a prompt
    if written and (folder := cache_folder()) is not None:
        from dprl.engine.disk import KernelCache

        machine._cache = KernelCache(function, folder, source_digest())
    if not on_disk(function):
        _announce()
    try:
        machine.compile(signature)
    except (numba.core.errors.NumbaError, TypeError) as error:  # TypeError: wrong number of arguments
        raise KernelError(f"{function.__module__}.{function.__qualname__}: {_reason(str(error))}") from error
    machine.disable_compile()
    compiled_function: F = machine
    return compiled_function


def _reason(message: str) -> str:
    """Return the first reason in numba's error message, with the last source line that the message mentions."""
    said = re.sub(r"^(Failed in .*\n)+", "", message)
    first = re.split(r"\n\s*(?:There are|During:|File |$)|\n\n", said, maxsplit=1)[0]
    where = re.findall(r'File "([^"]+)", line (\d+)', message)
    line = f" ({Path(where[-1][0]).name}, line {where[-1][1]})" if where else ""
    return " ".join(first.split())[:300] + line


def function_type(signature: Any) -> Any:
    """Return the numba type of a compiled function with this signature, so that it can be passed as an argument."""
    numba = _numba()
    arguments, result = numba.core.sigutils.normalize_signature(signature)
    return numba.types.FunctionType(result(*arguments))


def type_of(value: Any) -> Any:
    """Return the numba type of a value."""
    return _numba().typeof(value)


def rng_type() -> Any:
    """Return the numba type of a NumPy Generator."""
    return _numba().types.npy_rng
