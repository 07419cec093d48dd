"""Where the module is, and whether it was made from the kernels as they are."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from dprl.assets import ASSETS
from dprl.wasm.sources import digest

ENGINE = ASSETS / "engine.wasm"
MANIFEST = ASSETS / "engine.json"
COMMAND = "python -m bench.engine_wasm"


class Manifest(NamedTuple):
    """What is known of the module.

    Attributes:
        sources: `digest` of the kernels that it was made from.
        tools: digest of what made it, see bench/engine_wasm.
        sha256: of the module itself, 64 hex digits.
        versions: what it was made with.
        kernels: names, in the order of their numbers.
    """

    sources: str
    tools: str
    sha256: str
    versions: dict[str, str]
    kernels: tuple[str, ...]


def manifest() -> Manifest:
    """The module's. Raises OSError where there is none."""
    read: dict[str, Any] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return Manifest(**{**read, "kernels": tuple(read["kernels"])})


def stale() -> str | None:
    """Why the module cannot stand for the kernels, and what to do, in one sentence; None when it can."""
    try:
        made = manifest()
        same = hashlib.sha256(ENGINE.read_bytes()).hexdigest() == made.sha256
    except OSError:
        return f"assets/engine.wasm or assets/engine.json is missing; make both with `{COMMAND}`."
    if not same:
        return f"assets/engine.wasm is not the module that assets/engine.json describes; make both with `{COMMAND}`."
    if made.sources != digest():
        return f"The kernels have changed since assets/engine.wasm was made; make it anew with `{COMMAND}`."
    return None
