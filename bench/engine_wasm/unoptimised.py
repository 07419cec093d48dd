"""Get numba's LLVM code of a kernel before any optimisation.

numba optimises for the processor that it runs on: loops become that processor's vector instructions, which no other
target has. Code for WebAssembly is therefore taken before, and optimised for WebAssembly. numba has no public way to
do so. Two private methods of its code library are switched off meanwhile; nothing else of numba's inside is touched.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import CPUCodeLibrary

# What numba runs on each function as it is added, and on the whole before machine code is made of it.
SWITCHED_OFF = ("_optimize_functions", "_optimize_final_module")
# Digest of the sources of both, in numba 0.68. A test compares it.
KNOWN = "31f46b054558d167"


def digest() -> str:
    """Return a digest, 16 hex digits, of the sources of the methods in the installed numba. Raises AttributeError if
    numba no longer has them."""
    sources = "".join(inspect.getsource(getattr(CPUCodeLibrary, name)) for name in SWITCHED_OFF)
    return hashlib.sha256(sources.encode()).hexdigest()[:16]


@contextmanager
def unoptimised() -> Iterator[None]:
    """Switch off numba's optimisation within the context. Code compiled in it is correct but slow."""

    def only_the_layout(library: Any, module: Any) -> None:
        # of all that the method does, the part that later steps rely on
        module.data_layout = library._codegen._data_layout

    kept = {name: getattr(CPUCodeLibrary, name) for name in SWITCHED_OFF}
    try:
        setattr(CPUCodeLibrary, SWITCHED_OFF[0], only_the_layout)
        setattr(CPUCodeLibrary, SWITCHED_OFF[1], lambda library: None)
        yield
    finally:
        for name, method in kept.items():
            setattr(CPUCodeLibrary, name, method)
