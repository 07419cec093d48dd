"""Online runs, as a kind of specs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.kernels import KernelError
from dprl.learners import ALGORITHMS
from dprl.mdp import planning
from dprl.simulation import axes, cost, kinds
from dprl.simulation.cost import Estimate
from dprl.simulation.details import SeedTrace
from dprl.simulation.kinds import Kind, Run
from dprl.simulation.loops import LOOPS
from dprl.simulation.outlook import outlook
from dprl.simulation.pairs import mechanisms_for, runs_in
from dprl.simulation.prepare import guarantee_of
from dprl.simulation.promise import promise
from dprl.simulation.spec import AXIS, MEASURE, RunSpec
from dprl.simulation.table import FIELDS


def start(spec: RunSpec, seed: int) -> Run:
    """One seed, in its learner's loop. Raises SpecError where a kernel of the learner cannot be compiled."""
    try:
        return LOOPS[ALGORITHMS[spec.algorithm].loop](spec, seed)
    except KernelError as error:
        raise SpecError("algorithm", f"{spec.algorithm} cannot run: numba cannot compile {error}.") from None


def estimate(spec: RunSpec) -> Estimate:
    """What one seed will cost."""
    return cost.estimate(spec.work(spec.mechanism))


def expected(spec: RunSpec) -> dict[str, Any] | None:
    """What to expect of the run: an Outlook, where there is one."""
    found = outlook(spec)
    return None if found is None else asdict(found)


def guarantee(spec: RunSpec) -> dict[str, Any]:
    """What the run claims and proves."""
    loop = LOOPS[ALGORITHMS[spec.algorithm].loop]
    return guarantee_of(spec, loop.noise_of_run(spec)).to_dict()


def v_star(spec: RunSpec) -> float:
    """The value of an optimal episode, exactly."""
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    return float(planning.start_value(mdp, planning.optimum(mdp).V))


def small_problem(algorithm: str) -> dict[str, Any]:
    """The fields of a spec that make a tiny problem for a learner: a random one, if that is any for it."""
    if runs_in(algorithm, "random"):
        return {"environment": "random", "environment_params": {"S": 2, "A": 2, "H": 2}}
    return {"environment": next(key for key in ENVIRONMENTS if runs_in(algorithm, key))}


def _run(spec: RunSpec) -> None:
    start(spec, 0).advance(60.0)


def warm() -> Iterator[Callable[[], object]]:
    """A tiny run of each combination of learner, privacy model and mechanism, of each learner with each of its bonuses
    and each of its schedules."""
    for learner in ALGORITHMS.values():
        tiny = RunSpec(**small_problem(learner.key), algorithm=learner.key, episodes=50, seeds=1)
        for privacy in learner.privacies:
            for mechanism in mechanisms_for(learner.key, privacy) or (None,):
                yield partial(_run, tiny.replace(privacy=privacy, mechanism=mechanism))
        for bonus in learner.bonuses:
            yield partial(_run, tiny.replace(bonus=bonus))
        for schedule in () if learner.schedule else ("episodic", "geometric:0.3", "adaptive:0.1"):
            yield partial(_run, tiny.replace(schedule=schedule))


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
        questions={
            "outlook": expected,
            "guarantee": guarantee,
            "v_star": v_star,
            "promise": promise,
        },
    )
)
