"""The module in wasmtime: a run that is packed is played as a browser plays it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import wasmtime
from numpy.typing import NDArray

from dprl.wasm import ENGINE, Pack, manifest
from dprl.wasm.pack import GENERATOR, BufferAddress


@cache
def _compiled() -> tuple[wasmtime.Engine, wasmtime.Module]:
    engine = wasmtime.Engine()
    return engine, wasmtime.Module.from_file(engine, str(ENGINE))


class Host:
    """An instance of the module, with a run in its memory: one that `pack` has written down. Raises ValueError for a
    light pack, whose noise a browser draws."""

    def __init__(self, pack: Pack) -> None:
        if pack.drawn is not None:
            raise ValueError("This pack is a light one: assets/web/engine.js plays it.")
        engine, module = _compiled()
        self._store = wasmtime.Store(engine)
        exports: Any = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._exports = exports
        exports["_initialize"](self._store)
        self._pack = pack
        kernels = manifest().kernels
        numbers = {name: number for number, name in enumerate((*kernels, *GENERATOR))}
        self._kernel = numbers[pack.kernel]
        places = [self._placed(buffer.array.tobytes()) for buffer in pack.buffers]
        self._places = places

        def word(value: Any) -> int:
            if isinstance(value, int):
                return value
            if isinstance(value, BufferAddress):
                return places[value.buffer]
            return int(self._exports["address"](self._store, numbers[value.function]))

        words = np.array([word(value) & (2**64 - 1) for value in pack.words], dtype=np.uint64)
        self._words = self._placed(words.tobytes())

    def _placed(self, content: bytes) -> int:
        place = int(self._exports["allocate"](self._store, max(len(content), 8)))
        self._exports["memory"].write(self._store, content, place)
        return place

    def play(self) -> None:
        """Play the run to its end. Raises RuntimeError where the kernel says that something is wrong."""
        if self._exports["call"](self._store, self._kernel, self._words) != 0:
            raise RuntimeError(f"{self._pack.kernel} did not end well.")

    def read(self) -> dict[str, NDArray[Any]]:
        """The run's arrays as they are now, by name."""
        memory = self._exports["memory"]
        return self._pack.read(
            [
                bytes(memory.read(self._store, place, place + buffer.array.nbytes))
                for place, buffer in zip(self._places, self._pack.buffers, strict=True)
            ]
        )

    @property
    def bytes(self) -> int:
        """How much memory the instance has taken."""
        return int(self._exports["memory"].data_len(self._store))
