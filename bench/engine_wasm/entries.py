"""The list of kernels in the WebAssembly module: all that runs of learners that plan from counts may need.

They follow from the registries, so a new algorithm, schedule or mechanism is included in the next build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from dprl.engine.module import Held, own_name
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import planning
from dprl.privacy import MECHANISMS, outside
from dprl.privacy.mechanisms import no_noise, optimal
from dprl.simulation.loops.module_run import held
from dprl.simulation.loops.replan_kernels import Kernels, as_is, signatures_of, simulate
from dprl.simulation.schedules import SCHEDULES
from dprl.statistics import dataset


class Entry(NamedTuple):
    """A kernel that the WebAssembly module contains.

    Attributes:
        held: its name and its sources.
        function: its Python function.
        signature: returns its declared types, for numba.
        called: whether it is called from outside the module, not only by other kernels.
    """

    held: Held
    function: Callable[..., Any]
    signature: Callable[[], Any]
    called: bool

    @property
    def name(self) -> str:
        """Return the kernel's name in the module."""
        return self.held.name


CALLED = ("simulate", "plan", "evaluate", "add_noise")


def entries() -> tuple[Entry, ...]:
    """Return all kernels of the module, sorted by name."""
    found: dict[str, Entry] = {}
    called: list[tuple[Callable[..., Any], str]] = [
        *optimal.CALLED,
        (dataset.project, dataset.SIGNATURE),
    ]
    for function, types in called:
        kernel = Held(own_name(function), types, (function,))
        found[kernel.name] = Entry(kernel, function, partial(str, types), True)
    for stochastic, part, function in _parts_of_loops():
        kernel = held(function, part, stochastic)
        signature = partial(_signature, part, stochastic)
        found.setdefault(kernel.name, Entry(kernel, function, signature, part in CALLED))
    return tuple(found[key] for key in sorted(found))


def _signature(part: str, stochastic: bool) -> Any:
    """Return the numba types of one of the `Kernels` of a loop."""
    return signatures_of(stochastic)[Kernels._fields.index(part)]


def _parts_of_loops() -> Iterator[tuple[bool, str, Callable[..., Any]]]:
    """Yield each kernel of a loop: whether the policy is stochastic, the kernel's part in the loop, its function."""
    for learner in ALGORITHMS.values():
        if not isinstance(learner, TabularLearner):
            continue
        kind = learner.stochastic
        yield kind, "simulate", simulate
        yield kind, "evaluate", planning.evaluate
        for schedule in SCHEDULES.values():
            yield kind, "next_release", schedule.next_release
        for key in MECHANISMS:
            if not outside.is_outside(key):
                yield kind, "add_noise", MECHANISMS[key].add_noise
        yield kind, "add_noise", no_noise
        yield kind, "publish", as_is
        for bonus in learner.bonuses:
            yield kind, "plan", learner.planner(bonus).plan
            yield kind, "publish", learner.seen(bonus).publish
