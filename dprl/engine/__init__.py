"""The engine runs kernels, which are plain Python functions, as machine code or WebAssembly.

`assets/engine.wasm` contains the compiled kernels of learners that plan from counts (`host`). numba compiles all others
on first use (`compiler`). Both give the same results, bit for bit. wasmtime and numba are imported only when needed.
"""

from dprl.engine.compiler import KernelError, cache_folder, compiled, function_type, kernel, rng_type, type_of
from dprl.engine.folder import home, kernels, make_inside, private, settle, write_whole
from dprl.engine.host import ready
from dprl.engine.sources import source_digest
