"""Build assets/engine.wasm and assets/engine.json from the current kernels.

    pip install -e ".[web]"
    python -m bench.engine_wasm

It takes a minute or two on one core. Only sources and versions decide the module's bytes: made twice, it is the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

# Before numba is imported: numba lays out its code by sets of names, whose order is each process's own.
if __name__ == "__main__" and os.environ.get("PYTHONHASHSEED") != "0":
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", "bench.engine_wasm"])
# And what it knows of this processor must not be in the module.
os.environ["NUMBA_CPU_NAME"] = "generic"
os.environ["NUMBA_LOOP_VECTORIZE"] = "0"

from bench.engine_wasm import emit, mathematics
from bench.engine_wasm.entries import entries
from bench.engine_wasm.tools import digest as tools
from dprl.engine.module import ENGINE, MANIFEST, Manifest

EXPORTED = (
    "address",
    "call",
    "allocate",
    "release",
    "gnu_log",
    "gnu_exp",
    "gnu_log1p",
    "gnu_expm1",
    "gnu_fused",
)
STACK = 1 << 18  # bytes; arrays are on the heap


def main() -> None:
    kernels = entries()
    print(f"Compiling {len(kernels)} kernels (a minute or two).", flush=True)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "kernels.o").write_bytes(emit.object_of(kernels, emit.target()))
        routines = [str(path) for path in mathematics.routines(folder)]
        runtime = str(Path(__file__).parent / "runtime.c")
        mathematics.zig(
            "-mexec-model=reactor",
            "-O2",
            "-s",
            "-Wno-override-module",
            *(f"-Wl,--export={name}" for name in EXPORTED),
            f"-Wl,-z,stack-size={STACK}",
            str(folder / "kernels.o"),
            *routines,
            runtime,
            "-o",
            str(folder / "engine.wasm"),
        )
        module = (folder / "engine.wasm").read_bytes()
    written = Manifest(
        tools(),
        hashlib.sha256(module).hexdigest(),
        {name: version(name) for name in ("numba", "llvmlite", "numpy", "ziglang")},
        {entry.name: entry.held.digest for entry in kernels},
    )
    ENGINE.write_bytes(module)
    MANIFEST.write_text(json.dumps(written._asdict(), indent=1) + "\n", encoding="utf-8")
    print(f"Wrote {ENGINE.name} ({len(module):,} bytes) and {MANIFEST.name}.")


if __name__ == "__main__":
    main()
