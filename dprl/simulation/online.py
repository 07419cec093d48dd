"""Online runs, as a kind of specs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dprl.learners import ALGORITHMS
from dprl.privacy import PRIVATIZERS
from dprl.simulation import axes, cost, kinds
from dprl.simulation.cost import Estimate
from dprl.simulation.details import SeedTrace
from dprl.simulation.kinds import Kind, Run
from dprl.simulation.loops import LOOPS
from dprl.simulation.spec import AXIS, FIELDS, MEASURE, RunSpec


def start(spec: RunSpec, seed: int) -> Run:
    """One seed, in its learner's loop."""
    begin: Callable[[RunSpec, int], Run] = LOOPS[ALGORITHMS[spec.algorithm].loop]
    return begin(spec, seed)


def estimate(spec: RunSpec) -> Estimate:
    """What one seed will cost."""
    return cost.estimate(spec.work(spec.mechanism))


def warm() -> Iterator[None]:
    """A tiny run of each combination of learner, privacy model and mechanism; comes up for air before each."""
    for learner in ALGORITHMS.values():
        for privacy in learner.privacies:
            for mechanism in PRIVATIZERS[privacy].mechanisms or (None,):
                spec = RunSpec(
                    environment="random",
                    environment_params={"S": 2, "A": 2, "H": 2},
                    algorithm=learner.key,
                    privacy=privacy,
                    mechanism=mechanism,
                    episodes=50,
                    seeds=1,
                )
                yield
                start(spec, 0).advance(60.0)


kinds.register(
    Kind(
        key=RunSpec.kind,
        fields=FIELDS,
        from_dict=RunSpec.from_dict,
        start=start,
        estimate=estimate,
        warm=warm,
        trace=SeedTrace,
        axis=AXIS,
        measure=MEASURE,
        axes=axes.axes,
        along=axes.along,
    )
)
