"""A run as the module plays it: the memory that its loop starts from, and the words that the loop is called with.

Everything that is prepared before the first user plays is prepared here, by NumPy and SciPy: the model, the noise
with its calibration and factorisation, the table of error bounds, the points of the curve, the streams of random
numbers, and the learner's first plan. The loop itself is the module's.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dprl.privacy.mechanisms import optimal
from dprl.privacy.mechanisms.gaussian import gaussian_sum
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.loops.replan_kernels import Kernels, learner_of
from dprl.simulation.prepare import streams
from dprl.wasm.kernels import MERGE, loop_kind_of, name

GENERATOR = ("next_uint64", "next_uint32", "next_double")


class Buffer(NamedTuple):
    """An array of the run. name: such as `state.Q`; of a generator, its state as five words."""

    name: str
    array: NDArray[Any]


class BufferAddress(NamedTuple):
    """A word that is the address of a buffer, by its number."""

    buffer: int


class Of(NamedTuple):
    """A word that is the address of a function of the module: a kernel's, or of the generator's."""

    function: str


Word = int | BufferAddress | Of


class DrawnByPlayer(NamedTuple):
    """Noise that whoever plays the pack draws before the first user, see privacy/mechanisms/optimal.py.

    Attributes:
        calls: kernels with their words, as `Pack` has them: one computes `keep` and `gain`, one fills the memory with
            independent draws N(0, 1).
        memory: the number of the buffer [M, cells] of the noise of each release.
        keep, gain: the numbers of the buffers [M, chains] that the draws are correlated by.
    """

    calls: tuple[tuple[str, tuple[Word, ...]], ...]
    memory: int
    keep: int
    gain: int

    def told(self) -> dict[str, Any]:
        """As JSON: see `Pack.to_json`."""
        calls = [{"kernel": kernel, "words": told(words)} for kernel, words in self.calls]
        return {**self._asdict(), "calls": calls}


class Pack(NamedTuple):
    """What is played.

    Attributes:
        kernel: which one is called.
        words: its arguments as numba flattens them, 64 bits each.
        buffers: the arrays that they point to. The kernel changes them in place.
        drawn: what is done before; None where the noise is drawn by the kernel, or is in the buffers.
    """

    kernel: str
    words: tuple[Word, ...]
    buffers: tuple[Buffer, ...]
    drawn: DrawnByPlayer | None = None

    def to_json(self) -> str:
        """For a browser: words as texts of digits, as {"buffer": 3} or as {"function": "next_double"}; the bytes of
        buffers in base64, or how many there are where all are zero."""
        return json.dumps(
            {
                "kernel": self.kernel,
                "words": told(self.words),
                "buffers": [{"name": buffer.name, **content_of(buffer.array)} for buffer in self.buffers],
                "drawn": self.drawn and self.drawn.told(),
            }
        )

    def read(self, contents: list[bytes]) -> dict[str, NDArray[Any]]:
        """The buffers by their names, when the bytes of each are these."""
        return {
            buffer.name: np.frombuffer(content, buffer.array.dtype).reshape(buffer.array.shape)
            for buffer, content in zip(self.buffers, contents, strict=True)
        }


def told(words: tuple[Word, ...]) -> list[Any]:
    """Words as JSON: see `Pack.to_json`."""
    return [str(word) if isinstance(word, int) else word._asdict() for word in words]


def content_of(array: NDArray[Any]) -> dict[str, Any]:
    """An array as JSON: its bytes in base64, or how many there are where all are zero."""
    content = array.tobytes()
    if not any(content):
        return {"zeros": len(content)}
    return {"bytes": base64.b64encode(content).decode("ascii")}


def pack(run: SeedRun) -> Pack:
    """A run as it stands, to be played to its end. Later changes of the run do not change the pack."""
    packing = _Packing()
    kind = loop_kind_of(learner_of(run.spec))
    for part, value in run.arguments(10**9, run.spec.episodes).items():
        if part in Kernels._fields:
            source = getattr(value, "py_func", value)
            packing.words += [0, 0, Of(name(source, kind, part))]
        else:
            packing.add(part, value)
    kernel = name(getattr(run.kernels.simulate, "py_func", run.kernels.simulate), kind, "simulate")
    # two words before the arguments: where numba puts what is returned, and an error
    result = packing.place("result", np.zeros(8, dtype=np.int64))
    return Pack(
        kernel, (BufferAddress(result), BufferAddress(result), *packing.words), tuple(packing.buffers)
    )


def light_pack(run: SeedRun) -> Pack:
    """A run before its first user, without the noise that the optimal factorisation has drawn beforehand: whoever plays
    the pack draws that, and gets the same bits. Other runs are packed as they stand.

    Raises ValueError where users have played.
    """
    if run.users > 0:
        raise ValueError("A light pack is made before the first user plays.")
    packed = pack(run)
    mechanism = run.noise.mechanism
    if mechanism is None or mechanism.prepare is not optimal.correlate:
        return packed
    numbers = {buffer.name: number for number, buffer in enumerate(packed.buffers)}
    rng, memory, result = (numbers[label] for label in ("noise_rng", "state.memory", "result"))
    releases = run.noise.stream.releases
    packing = _Packing(packed.buffers)
    packing.buffers[rng] = Buffer("noise_rng", _state(streams(run.spec, run.seed).noise))
    packing.buffers[memory] = Buffer("state.memory", np.zeros_like(run.state.memory))
    # what optimal.factors calls `merge` with: its result has 16 numbers a release, and its weights have one
    around = optimal.poles((math.pi / 2) ** 2, 4.0 * releases**2, optimal.CHAINS)
    empty = np.zeros((releases, optimal.CHAINS)), np.zeros((releases, optimal.CHAINS))
    packing.words += [BufferAddress(result), BufferAddress(result)]
    for label, array in zip(
        ("weights", "shift", "weight", "keep", "gain"),
        (optimal.factors(releases).p, *around, *empty),
        strict=True,
    ):
        packing.add(f"draws.{label}", array)
    merging, packing.words = packing.words, []
    placed = {buffer.name: number for number, buffer in enumerate(packing.buffers)}
    # gaussian_sum as of one item: what it adds to each cell is a draw
    packing.words += [BufferAddress(result), BufferAddress(result), 0]
    packing.add("draws.leaves", np.array([0, 1, 2]))
    packing.add("draws.batches", np.zeros((1, 1), dtype=run.setup.batches.dtype))
    packing.add("draws.none", np.zeros((1, 1)))
    packing.words += _generator(rng)
    packing.words += _array(memory, run.state.memory.reshape(-1))
    drawing = name(gaussian_sum, loop_kind_of(learner_of(run.spec)), "add_noise")
    drawn = DrawnByPlayer(
        ((MERGE, tuple(merging)), (drawing, tuple(packing.words))),
        memory,
        placed["draws.keep"],
        placed["draws.gain"],
    )
    return Pack(packed.kernel, packed.words, tuple(packing.buffers), drawn)


def _array(number: int, value: NDArray[Any]) -> list[Word]:
    """The words of an array that lies in a buffer."""
    return [0, 0, value.size, value.itemsize, BufferAddress(number), *value.shape, *value.strides]


def _generator(number: int) -> list[Word]:
    """The words of a generator whose state lies in a buffer."""
    return [0, BufferAddress(number), BufferAddress(number), *(Of(each) for each in GENERATOR), 0, 0, 0]


class _Packing:
    """Words and buffers, as they come together."""

    def __init__(self, buffers: tuple[Buffer, ...] = ()) -> None:
        self.words: list[Word] = []
        self.buffers = list(buffers)
        self._placed: dict[tuple[int, int], int] = {}
        self._held: list[NDArray[Any]] = []  # so that no later array has the place of one that is gone

    def place(self, label: str, array: NDArray[Any]) -> int:
        """The number of an array's buffer. Two names of one array share it: kernels compare nothing by place."""
        key = array.__array_interface__["data"][0], array.nbytes
        if array.nbytes == 0 or key not in self._placed:
            self._placed[key] = len(self.buffers)
            self._held.append(array)
            self.buffers.append(Buffer(label, array.copy()))
        return self._placed[key]

    def add(self, label: str, value: Any) -> None:
        """The words of one argument, which numba flattens."""
        if isinstance(value, tuple):
            for field, part in zip(cast(Any, value)._fields, value, strict=True):
                self.add(f"{label}.{field}", part)
        elif isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"{label} is not contiguous, as kernels take it.")
            self.words += _array(self.place(label, value), value)
        elif isinstance(value, np.random.Generator):
            self.words += _generator(self.place(label, _state(value)))
        elif isinstance(value, bool | int | np.integer | np.bool_):
            self.words.append(int(value))
        else:
            self.words.append(int(np.float64(value).view(np.int64)))


def _state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """[5] what SFC64 holds: three words, a counter, and half a word with whether there is one."""
    held: Any = rng.bit_generator.state
    half = int(held["has_uint32"]) | int(held["uinteger"]) << 32
    return np.array([*held["state"]["state"], half], dtype=np.uint64)
