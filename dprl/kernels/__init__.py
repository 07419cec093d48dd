"""Compiled kernels: plain Python functions that numba compiles on first use, in whoever uses them.

A function marked `@kernel` stays an ordinary Python function (tests run it as such and get the same bits).
`compiled(function, signature)` gives its machine-code baseline. Nothing is compiled, and numba is not even
imported, until then: pages import the registries of learners without paying for a compiler.

Compiled code is kept on disk (`disk`), in a directory named after a digest of all of the package's sources (`folder`):
a kernel has helpers in other files.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from dprl.fields import SpecError
from dprl.kernels.folder import hold, home, kernels, private, remove_others

__all__ = [
    "KernelError",
    "cache_folder",
    "check_compiler",
    "compiled",
    "function_type",
    "home",
    "kernel",
    "kernels",
    "private",
    "remove_others",
    "rng_type",
    "source_digest",
    "type_of",
]

log = logging.getLogger("dprl.kernels")
F = TypeVar("F", bound=Callable[..., Any])


class KernelError(Exception):
    """A function that cannot be compiled: a clause that names it, and says why and where, as numba does."""


_DISABLED = "NUMBA_DISABLE_JIT", "simulations run as compiled code; unset it, or set it to 0."
_kernels: list[Callable[..., Any]] = []
_registered: set[Callable[..., Any]] = set()

# What a simulation depends on; pages, jobs and figures may change without touching any result.
_SOURCES = (
    "fields.py",
    "kernels/__init__.py",
    "plugins.py",
    "mdp",
    "environments",
    "statistics",
    "privacy",
    "learners",
    "simulation",
)


def kernel(function: F) -> F:
    """Mark a function as usable inside compiled kernels. It is returned unchanged."""
    _kernels.append(function)
    return function


@cache
def source_digest() -> str:
    """Digest of the sources every simulated number depends on, 16 hex digits."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for name in _SOURCES:
        path = root / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(str(file.relative_to(root).as_posix()).encode() + b"\0")
            digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def _numba() -> Any:
    import numba

    return numba


def check_compiler() -> None:
    """Raise SpecError if the environment tells numba not to compile; numba is not imported for this."""
    if os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0"):
        raise SpecError(*_DISABLED)


@cache
def cache_folder() -> Path | None:
    """Where compiled code is kept: NUMBA_CACHE_DIR, else in DPRL_HOME. Held from now on; None when there is no such
    place."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(given) if given else kernels(source_digest())
    try:
        if hold(folder):
            return folder
        log.warning("Compiled kernels are not kept: %s is open to other users.", folder)
    except OSError as error:
        log.warning("Compiled kernels are not kept: %s cannot be used (%s).", folder, error.strerror)
    return None


@cache
def compiled(function: F, signature: Any) -> F:
    """`function` as machine code for the declared `signature` (a numba string or signature object). Raises KernelError,
    and SpecError if numba is told not to compile.

    Signatures are declared because only then do functions passed as arguments have a type that is the
    same in every process, without which the disk cache never hits.
    """
    numba = _numba()
    if numba.config.DISABLE_JIT:
        raise SpecError(*_DISABLED)
    for helper in _kernels:
        if helper not in _registered:
            # into its callers: handing over an array costs more than the arithmetic on a row of it
            numba.extending.register_jitable(forceinline=True)(helper)
            _registered.add(helper)
    # dividing by zero gives inf or nan, as it does for the NumPy scalars of the plain function
    machine = numba.njit(function, error_model="numpy")
    written = Path(function.__code__.co_filename).is_file()  # not typed at a prompt
    if written and (folder := cache_folder()) is not None:
        from dprl.kernels.disk import KernelCache

        machine._cache = KernelCache(function, folder, source_digest())
    try:
        machine.compile(signature)
    except (numba.core.errors.NumbaError, TypeError) as error:  # TypeError: of another number of arguments
        raise KernelError(f"{function.__module__}.{function.__qualname__}: {_reason(str(error))}") from error
    machine.disable_compile()
    compiled_function: F = machine
    return compiled_function


def _reason(message: str) -> str:
    """What numba says first of its reasons, and the line of the source that it says last."""
    said = re.sub(r"^(Failed in .*\n)+", "", message)
    first = re.split(r"\n\s*(?:There are|During:|File |$)|\n\n", said, maxsplit=1)[0]
    where = re.findall(r'File "([^"]+)", line (\d+)', message)
    line = f" ({Path(where[-1][0]).name}, line {where[-1][1]})" if where else ""
    return " ".join(first.split())[:300] + line


def function_type(signature: Any) -> Any:
    """The numba type of a compiled function with this signature, for passing it as an argument."""
    numba = _numba()
    arguments, result = numba.core.sigutils.normalize_signature(signature)
    return numba.types.FunctionType(result(*arguments))


def type_of(value: Any) -> Any:
    """The numba type of a value."""
    return _numba().typeof(value)


def rng_type() -> Any:
    """The numba type of a NumPy Generator."""
    return _numba().types.npy_rng
