"""Run kernels of the WebAssembly module with wasmtime, so that Python needs no compiler."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dprl.engine.compiler import compiled
from dprl.engine.module import ENGINE, Held, lack, manifest, own_name
from dprl.engine.pack import GENERATOR, BufferAddress, Of, Packing, Word

WORD = 8  # bytes
LINE = 64  # bytes; each array starts at a multiple of this number
MOST = 2**31  # bytes that one call to `place` may reserve, half of a module's largest memory


@cache
def missing() -> str:
    """Explain in one sentence why this process cannot run the WebAssembly module; return "" if it can."""
    try:
        import wasmtime  # noqa: F401
    except (ImportError, OSError, RuntimeError) as error:  # wasmtime is not available for every processor
        return f"wasmtime cannot be imported here ({error})."
    return ""


@cache
def _loaded() -> tuple[Any, Any, dict[str, int], dict[str, int]]:
    """Return wasmtime's engine, the module, each function's number, and its address, the same in all instances."""
    import wasmtime

    engine = wasmtime.Engine()
    module = wasmtime.Module.from_file(engine, str(ENGINE))
    for thing in (engine, module):
        atexit.register(thing.close)  # before the interpreter destroys objects needed for closing
    numbers = {name: number for number, name in enumerate((*manifest().kernels, *GENERATOR))}
    store = wasmtime.Store(engine)
    address = cast(Any, wasmtime.Instance(store, module, []).exports(store)["address"])
    return engine, module, numbers, {name: int(address(store, number)) for name, number in numbers.items()}


IDLE, SMALL = 2, 2**24  # the most instances that are kept for other runs, and the most bytes of each
_idle: list[Instance] = []


class Instance:
    """A running copy of the WebAssembly module with its own memory, for one thread at a time."""

    def __init__(self) -> None:
        import wasmtime

        engine, module, self._numbers, self._addresses = _loaded()
        self._sound = True  # whether no call has failed, after which the memory may be in disorder
        self._store = wasmtime.Store(engine)
        weakref.finalize(self, self._store.close)
        self._exports = cast(Any, wasmtime.Instance(self._store, module, []).exports(self._store))
        self._exports["_initialize"](self._store)
        self._memory: Any = self._exports["memory"]
        self._refresh()

    @classmethod
    def take(cls) -> Instance:
        """Return an instance that nobody else uses; `give_back` it afterwards."""
        try:
            return _idle.pop()
        except IndexError:
            return cls()

    def give_back(self, places: Sequence[int]) -> None:
        """Free the memory that `place` reserved, and keep the instance for others if it is small and sound."""
        if self._sound and len(_idle) < IDLE and self._content.nbytes <= SMALL:
            self._exports["release"](self._store, places[0])
            _idle.append(self)

    def place(self, arrays: Sequence[NDArray[Any]]) -> list[int]:
        """Copy contiguous arrays into the memory, and return their addresses. Raises MemoryError if it is full."""
        ends = np.cumsum([max(-(-array.nbytes // LINE), 1) * LINE for array in arrays]).tolist()
        first = int(self._exports["allocate"](self._store, ends[-1])) if ends[-1] < MOST else 0
        if first == 0:
            raise MemoryError("The run needs more memory than a WebAssembly module has.")
        self._refresh()
        addresses = [first, *(first + end for end in ends[:-1])]
        for address, array in zip(addresses, arrays, strict=True):
            self.write(address, array)
        return addresses

    def write(self, address: int, array: NDArray[Any]) -> None:
        """Copy a contiguous array to an address in the instance's memory."""
        if array.nbytes:
            self._content[address : address + array.nbytes] = array.reshape(-1).view(np.uint8)

    def read(self, address: int, array: NDArray[Any]) -> None:
        """Fill a contiguous array with the bytes at an address in the instance's memory."""
        if array.nbytes:
            array.reshape(-1).view(np.uint8)[:] = self._content[address : address + array.nbytes]

    def _refresh(self) -> None:
        """Locate the instance's memory again, because it may have grown and moved."""
        self._content = np.frombuffer(self._memory.get_buffer_ptr(self._store), dtype=np.uint8)

    def load(self, arrays: Sequence[NDArray[Any]], words: Sequence[Word]) -> list[int]:
        """Place arrays and the arguments of a call, and return their addresses; that of the arguments is the last."""
        places = self.place([*arrays, np.empty(len(words), dtype=np.uint64)])
        found = [
            places[word.buffer]
            if isinstance(word, BufferAddress)
            else self._addresses[word.function]
            if isinstance(word, Of)
            else word
            for word in words
        ]
        self.write(places[-1], np.array([word & (2**64 - 1) for word in found], dtype=np.uint64))
        return places

    def call(self, kernel: str, words: int) -> None:
        """Call a kernel whose arguments are stored at `words`. Raises RuntimeError if it reports an error."""
        sound, self._sound = self._sound, False
        status = self._exports["call"](self._store, self._numbers[kernel], words)
        self._refresh()
        if status != 0:
            raise RuntimeError(f"the kernel {kernel} reported an error.")
        self._sound = sound


class ModuleKernel:
    """A callable kernel of the WebAssembly module; arguments are copied to the module, and arrays are copied back."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.py_func, self._name = function, name

    def __call__(self, *arguments: Any) -> None:
        """Call the kernel, which changes the arrays in place."""
        packing = Packing()
        for number, argument in enumerate(arguments):
            packing.add(str(number), argument)
        instance = Instance.take()
        places = instance.load([buffer.array for buffer in packing.buffers], packing.words)
        instance.call(self._name, places[-1])
        for number, array in packing.arrays().items():
            if array.flags.writeable:
                instance.read(places[number], array)
        instance.give_back(places)


@cache
def ready(function: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """Return a function that runs the kernel: in the WebAssembly module if that contains the current version, otherwise
    compiled by numba for `signature`. The kernel must not return anything or draw random numbers."""
    kernel = Held(own_name(function), signature, (function,))
    if missing() or lack([kernel]):
        machine: Callable[..., Any] = compiled(function, signature)
        return machine
    return ModuleKernel(kernel.name, function)
