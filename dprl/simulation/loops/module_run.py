"""Use the WebAssembly module to play one seed of a learner that plans from counts, bit for bit as numba does.

NumPy and SciPy prepare everything before the first user, such as the calibrated noise, and the module runs the loop.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dprl.engine.compiler import on_disk
from dprl.engine.host import WORD, Instance, ModuleKernel, missing
from dprl.engine.module import Held, lack, own_name
from dprl.engine.pack import RESULT, Pack, Packing
from dprl.simulation.cost import estimate
from dprl.simulation.details import Detail
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.loops.replan_kernels import Kernels, functions_of, learner_of, signatures_of, types_of
from dprl.simulation.spec import RunSpec
from dprl.statistics.counts import Counts

ONE_FOR_ALL = ("add_noise", "publish")  # parts whose types are the same in loops of every kind
COUNT = len(RESULT)  # the index of the word for `count`, the first argument of `simulate`
WITH_DETAILS = "counts", "noisy", "released", "noise", "Q", "V", "policy", "errors", "bounds", "pace", "kept"
FIRST = 10**9  # the most releases of a pack, which is more than any run has


def held(function: Callable[..., Any], part: str, stochastic: bool) -> Held:
    """Return the module's compiled function for an entry of `Kernels`, for a stochastic or a deterministic policy."""
    name = own_name(function)
    if part not in ONE_FOR_ALL:
        name += ":stochastic" if stochastic else ":policy"
    if part == "simulate":
        return Held(name, "", (function, signatures_of))
    return Held(name, types_of(part, stochastic), (function,))


@lru_cache(maxsize=256)
def lack_of(kernels: Kernels, stochastic: bool) -> str:
    """Explain in one sentence why the module cannot play a run with these kernels; return "" if it can."""
    return missing() or lack(held(function, part, stochastic) for part, function in kernels._asdict().items())


def pack(run: SeedRun) -> Pack:
    """Pack a copy of a run's current state, from which the module can play the rest of the run."""
    packed = _packed(run)[0]
    return packed._replace(
        buffers=tuple(buffer._replace(array=buffer.array.copy()) for buffer in packed.buffers)
    )


def _packed(run: SeedRun) -> tuple[Pack, dict[int, NDArray[Any]]]:
    """Return the pack of a run, and the arrays of its numbered buffers."""
    packing = Packing()
    stochastic = learner_of(run.spec).stochastic
    for part, value in run.arguments(FIRST, run.spec.episodes).items():
        if part in Kernels._fields:
            source = getattr(value, "py_func", value)
            packing.add_function(held(source, part, stochastic).name)
        else:
            packing.add(part, value)
    kernel = held(run.kernel, "simulate", stochastic).name
    return Pack(kernel, tuple(packing.words), tuple(packing.buffers)), packing.arrays()


class ModuleRun(SeedRun):
    """A `SeedRun` that the WebAssembly module plays if it contains the kernels; otherwise, numba or Python plays it."""

    # If a run is estimated to take more seconds than this, numba saves more time than its import costs.
    long = 2.0
    _instance: Instance | None = None

    def _kernels_of(self, plain: bool) -> Kernels:
        functions = functions_of(self.spec, cast(Counts, self.noise.statistic))
        stochastic = learner_of(self.spec).stochastic
        # numba's kernels give the same bits faster, which pays in a long run if they are already compiled
        seconds = estimate(self.spec.work(self.spec.mechanism)).seconds
        pays = seconds > self.long and all(map(on_disk, functions))
        self._by_numba = plain or pays or bool(lack_of(functions, stochastic))
        if self._by_numba:
            return super()._kernels_of(plain)
        called: dict[str, Any] = {
            part: ModuleKernel(held(function, part, stochastic).name, function)
            for part, function in functions._asdict().items()
            if part in ("plan", "evaluate")
        }
        return functions._replace(**called)

    @staticmethod
    def lack(spec: RunSpec) -> str:
        return lack_of(functions_of(spec, cast(Counts, spec.statistic)), learner_of(spec).stochastic)

    def _begin(self) -> Instance:
        packed, arrays = _packed(self)
        instance = Instance.take()
        self._kernel = packed.kernel
        self._places = instance.load([buffer.array for buffer in packed.buffers], packed.words)
        weakref.finalize(self, instance.give_back, self._places).atexit = False
        number_of = {id(array): number for number, array in arrays.items()}
        self._often = [(number_of[id(a)], a) for a in (*self._record, self.state.position)]
        seen = (getattr(self.state, name) for name in WITH_DETAILS)
        self._rarely = [(number_of[id(a)], a) for a in seen if id(a) in number_of]
        self._instance = instance
        return instance

    def _read(self, instance: Instance, arrays: list[tuple[int, NDArray[Any]]]) -> None:
        for number, array in arrays:
            instance.read(self._places[number], array)

    def _simulate(self, count: int, until: int) -> None:
        if self._by_numba:
            super()._simulate(count, until)
            return
        instance = self._instance or self._begin()
        instance.write(self._places[-1] + WORD * COUNT, np.array([count, until], dtype=np.int64))
        instance.call(self._kernel, self._places[-1])
        self._read(instance, self._often)

    def _detail(self) -> Detail:
        if self._instance is not None:
            self._read(self._instance, self._rarely)
        return super()._detail()
