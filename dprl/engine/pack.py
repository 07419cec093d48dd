"""A call to a WebAssembly kernel as data: its arguments as 64-bit words, and the arrays that the words refer to."""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

GENERATOR = ("next_uint64", "next_uint32", "next_double")


class Buffer(NamedTuple):
    """A named array of a run, such as `state.Q`. A random generator's state is an array of five words."""

    name: str
    array: NDArray[Any]


class BufferAddress(NamedTuple):
    """An argument that is the address of a buffer, given by the buffer's number."""

    buffer: int


class Of(NamedTuple):
    """An argument that is the address of a function in the module (a kernel, or part of the random generator)."""

    function: str


Word = int | BufferAddress | Of
# The first words of a call: where numba puts a returned value, and an error.
RESULT = BufferAddress(0), BufferAddress(0)


class DrawnByPlayer(NamedTuple):
    """Noise that a web page draws before it plays a pack (see privacy/mechanisms/optimal.py)."""

    # kernels and their words: one computes `keep` and `gain`, the other fills `memory` with independent N(0, 1) draws
    calls: tuple[tuple[str, tuple[Word, ...]], ...]
    memory: int  # the number of the buffer [M, cells] with the noise of each release
    # keep, gain: the numbers of the buffers [M, chains] with the weights that correlate the draws
    keep: int
    gain: int

    def told(self) -> dict[str, Any]:
        """Return this record as data for JSON. Arguments are encoded as in `Pack.to_json`."""
        calls = [{"kernel": kernel, "words": told(words)} for kernel, words in self.calls]
        return {**self._asdict(), "calls": calls}


class Pack(NamedTuple):
    """All the data that a kernel needs to run outside this process, for example in a browser."""

    kernel: str  # the name of the kernel
    words: tuple[Word, ...]  # the kernel's arguments as numba flattens them, 64 bits each
    buffers: tuple[Buffer, ...]  # the arrays that the words refer to, which the kernel changes in place
    # noise to draw first; None if the kernel draws it or the buffers contain it
    drawn: DrawnByPlayer | None = None

    def to_json(self) -> str:
        """Return the pack as JSON for a browser. Arguments are digits, {"buffer": 3} or {"function": "next_double"}.
        Buffers are base64 text, or only the number of bytes if all bytes are zero."""
        return json.dumps(
            {
                "kernel": self.kernel,
                "words": told(self.words),
                "buffers": [{"name": buffer.name, **content_of(buffer.array)} for buffer in self.buffers],
                "drawn": self.drawn and self.drawn.told(),
            }
        )

    def read(self, contents: list[bytes]) -> dict[str, NDArray[Any]]:
        """Convert the buffers' contents, as the browser returns them, to arrays keyed by buffer name."""
        return {
            buffer.name: np.frombuffer(content, buffer.array.dtype).reshape(buffer.array.shape)
            for buffer, content in zip(self.buffers, contents, strict=True)
        }


def told(words: tuple[Word, ...]) -> list[Any]:
    """Return the words of arguments as data for JSON, in the form of `Pack.to_json`."""
    return [str(word) if isinstance(word, int) else word._asdict() for word in words]


def content_of(array: NDArray[Any]) -> dict[str, Any]:
    """Encode an array as JSON: its bytes in base64, or only the number of bytes if all are zero."""
    content = array.tobytes()
    if not any(content):
        return {"zeros": len(content)}
    return {"bytes": base64.b64encode(content).decode("ascii")}


def array_words(number: int, value: NDArray[Any]) -> list[Word]:
    """Return the words with which numba passes an array as an argument. `number` is the number of its buffer."""
    return [0, 0, value.size, value.itemsize, BufferAddress(number), *value.shape, *value.strides]


def generator_words(number: int) -> list[Word]:
    """Return the words with which numba passes a random generator, whose state is in the buffer `number`."""
    return [0, BufferAddress(number), BufferAddress(number), *(Of(each) for each in GENERATOR), 0, 0, 0]


class Packing:
    """A builder that collects the words and buffers of one call. Given buffers must begin with the one for RESULT."""

    def __init__(self, buffers: tuple[Buffer, ...] = ()) -> None:
        self.words: list[Word] = [*RESULT]
        self.buffers = list(buffers) or [Buffer("result", np.zeros(8, dtype=np.int64))]
        self._placed: dict[tuple[int, int], int] = {}
        self._held: dict[int, NDArray[Any]] = {}  # kept alive, so that no other array gets the same address

    def place(self, label: str, array: NDArray[Any]) -> int:
        """Add an array, and return the number of its buffer. An array with several names has only one buffer."""
        key = array.__array_interface__["data"][0], array.nbytes
        if array.nbytes == 0 or key not in self._placed:
            self._placed[key] = len(self.buffers)
            self._held[len(self.buffers)] = array
            self.buffers.append(Buffer(label, array))
        return self._placed[key]

    def arrays(self) -> dict[int, NDArray[Any]]:
        """Return the added arrays by buffer number."""
        return self._held

    def add_function(self, name: str) -> None:
        """Add a kernel of the module as an argument, in the form in which numba passes it."""
        self.words += [0, 0, Of(name)]

    def add(self, label: str, value: Any) -> None:
        """Add an argument, flattened into words as numba does: a record, an array, a number or a generator."""
        if isinstance(value, tuple):
            for field, part in zip(cast(Any, value)._fields, value, strict=True):
                self.add(f"{label}.{field}", part)
        elif isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"{label} is not contiguous, but kernels need contiguous arrays.")
            self.words += array_words(self.place(label, value), value)
        elif isinstance(value, bool | int | np.integer | np.bool_):
            self.words.append(int(value))
        elif isinstance(value, float):
            self.words.append(int(np.float64(value).view(np.int64)))
        else:
            self.words += generator_words(self.place(label, generator_state(value)))


def generator_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return an SFC64 generator's state [5]: three words, a counter, and an unused half word with its flag."""
    held: Any = rng.bit_generator.state
    half = int(held["has_uint32"]) | int(held["uinteger"]) << 32
    return np.array([*held["state"]["state"], half], dtype=np.uint64)
