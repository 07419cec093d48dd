"""Build assets/engine.wasm, the WebAssembly module with dprl's compiled kernels, and assets/engine.json."""
