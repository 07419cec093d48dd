"""Makes assets/engine.wasm, and compares it with numba: see __main__.py and compare.py."""
