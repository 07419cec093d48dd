"""Build assets/engine.wasm, and compare it with numba: see __main__.py and compare.py."""
