"""Which kernels the module holds: all that the loop over learners that plan from counts is run with.

They follow from the registries. A new algorithm, schedule or mechanism is in the module when it is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import planning
from dprl.privacy import MECHANISMS, outside
from dprl.privacy.mechanisms import no_noise, optimal
from dprl.simulation.loops.replan_kernels import Kernels, as_is, signatures_of, simulate
from dprl.simulation.schedules import SCHEDULES


class PlanKind(NamedTuple):
    """What the types of a loop's kernels depend on: see `TabularLearner`."""

    stochastic: bool

    @property
    def name(self) -> str:
        """How names of kernels of this kind end."""
        return "stochastic" if self.stochastic else "policy"


class WasmKernel(NamedTuple):
    """A kernel of the module.

    Attributes:
        name: which one, such as `learners.tabular.anytime.bernstein:policy`; what follows the colon is its kind.
        function: its source.
        kind, part: its types are those of this part of a loop of this kind, see `WasmKernel.signature`. Or of none, and
            `part` is its types.
        called: from outside the module, not only by another kernel.
    """

    name: str
    function: Callable[..., Any]
    kind: PlanKind | None
    part: str
    called: bool

    def signature(self) -> Any:
        """Its declared types, as numba takes them."""
        if self.kind is None:
            return self.part
        return signatures_of(*self.kind)[Kernels._fields.index(self.part)]


CALLED = ("simulate", "plan", "evaluate", "add_noise")
ONE_FOR_ALL = ("add_noise", "publish")  # parts whose types are the same in loops of every kind
MERGE = "privacy.mechanisms.optimal.merge"  # what noise is correlated by, computed before a loop


def name(function: Callable[..., Any], kind: PlanKind, part: str) -> str:
    """What a kernel is called in the module."""
    own = f"{function.__module__}.{function.__qualname__}".removeprefix("dprl.")
    if part in ONE_FOR_ALL:
        return own
    return f"{own}:{kind.name}"


def loop_kind_of(learner: TabularLearner) -> PlanKind:
    """The kind of the loop that plays a learner."""
    return PlanKind(learner.stochastic)


def entries() -> tuple[WasmKernel, ...]:
    """All kernels of the module, by name."""
    found: dict[str, WasmKernel] = {MERGE: WasmKernel(MERGE, optimal.merge, None, optimal.MERGE, True)}
    for kind, part, function in _parts_of_loops():
        called = name(function, kind, part)
        found.setdefault(called, WasmKernel(called, function, kind, part, part in CALLED))
    return tuple(found[key] for key in sorted(found))


def _parts_of_loops() -> Iterator[tuple[PlanKind, str, Callable[..., Any]]]:
    """Each kernel of a loop, with the kind of the loop and which part of it the kernel is."""
    for learner in ALGORITHMS.values():
        if not isinstance(learner, TabularLearner):
            continue
        kind = loop_kind_of(learner)
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
