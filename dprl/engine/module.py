"""The kernels that the WebAssembly module contains, with checks that it was built from their current sources."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from dprl.assets import ASSETS
from dprl.engine.sources import kernel_digest

ENGINE = ASSETS / "engine.wasm"
MANIFEST = ASSETS / "engine.json"
COMMAND = "python -m bench.engine_wasm"


class Manifest(NamedTuple):
    """The content of assets/engine.json, which describes the module."""

    tools: str  # the digest of the tools that built the module (bench/engine_wasm computes it)
    sha256: str  # the digest of the module itself, 64 hex digits
    versions: dict[str, str]  # the versions of the packages that built the module
    kernels: dict[str, str]  # the name and `kernel_digest` of each kernel, in the order of their numbers


@cache
def manifest() -> Manifest:
    """Read assets/engine.json. Raises OSError if it is missing."""
    return Manifest(**json.loads(MANIFEST.read_text(encoding="utf-8")))


@cache
def damage() -> str:
    """Explain in one sentence why the WebAssembly module's files cannot be used; return "" if they can."""
    try:
        whole = hashlib.sha256(ENGINE.read_bytes()).hexdigest() == manifest().sha256
    except OSError:
        return f"assets/engine.wasm or assets/engine.json is missing; build both with `{COMMAND}`."
    if not whole:
        return f"assets/engine.wasm is not the module that assets/engine.json describes; build both with `{COMMAND}`."
    return ""


def own_name(function: Callable[..., Any]) -> str:
    """Return a kernel's name in the WebAssembly module: its full Python name without "dprl."."""
    return f"{function.__module__}.{function.__qualname__}".removeprefix("dprl.")


class Held(NamedTuple):
    """A kernel that the WebAssembly module should contain."""

    name: str  # the kernel's name in the module
    signature: str  # the declared types of its arguments; "" if the roots determine them
    roots: tuple[Callable[..., Any], ...]  # the functions from which the kernel is built

    @property
    def digest(self) -> str:
        """Return the digest of the kernel's current sources."""
        return kernel_digest(self.signature, *self.roots)


def lack(kernels: Iterable[Held]) -> str:
    """Explain in one sentence why the WebAssembly module cannot run these kernels; return "" if it can."""
    if reason := damage():
        return reason
    for kernel in kernels:
        made_from = manifest().kernels.get(kernel.name)
        if made_from is None:
            return f"assets/engine.wasm does not contain {kernel.name}."
        if made_from != kernel.digest:
            return f"{kernel.name} has changed since assets/engine.wasm was made; rebuild it: `{COMMAND}`."
    return ""
