"""The compiled loops as one WebAssembly module: what goes into it, and a run as a browser plays it.

`assets/engine.wasm` holds the kernels of learners that plan from counts. `python -m bench.engine_wasm` makes it from
their sources, with numba's and LLVM's help. Whoever plays it needs neither.
"""

from dprl.wasm.kernels import WasmKernel, entries
from dprl.wasm.module import ENGINE, MANIFEST, Manifest, manifest, stale
from dprl.wasm.pack import Pack, light_pack, pack
from dprl.wasm.replay import QUESTION, STOPS, answer, composed, replayed, stops_of, unplayable
from dprl.wasm.sources import digest

__all__ = [
    "ENGINE",
    "MANIFEST",
    "QUESTION",
    "STOPS",
    "Manifest",
    "Pack",
    "WasmKernel",
    "answer",
    "composed",
    "digest",
    "entries",
    "light_pack",
    "manifest",
    "pack",
    "replayed",
    "stale",
    "stops_of",
    "unplayable",
]
