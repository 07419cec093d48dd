"""Simulation: from a spec to a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dprl.learners import ALGORITHMS
from dprl.learners.elimination.sdp_pe import PolicyElimination
from dprl.simulation import cost
from dprl.simulation.cost import Estimate
from dprl.simulation.loops.eliminate import StagedRun
from dprl.simulation.loops.eliminate import stages as stages_of
from dprl.simulation.loops.relaxed import RelaxedRun
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.outlook import Outlook, outlook
from dprl.simulation.spec import FIELDS, RunSpec, spec_from_json
from dprl.simulation.trace import SeedTrace, Trace


def start(spec: RunSpec, seed: int) -> SeedRun | StagedRun:
    """Begin one seed of a spec; call `advance` on the result until it is done."""
    learner = ALGORITHMS[spec.algorithm]
    if isinstance(learner, PolicyElimination):
        return StagedRun(spec, seed) if learner.listed else RelaxedRun(spec, seed)
    return SeedRun(spec, seed)


def estimate(spec: RunSpec) -> Estimate:
    """What one seed of a spec will cost."""
    from dprl.environments import ENVIRONMENTS

    S, A, H = ENVIRONMENTS[spec.environment].size(**spec.environment_params)
    found = cost.estimate(S, A, H, spec.episodes, spec.schedule, spec.mechanism, spec.calibration)
    learner = ALGORITHMS[spec.algorithm]
    planning = learner.seconds(H, S, A) if isinstance(learner, PolicyElimination) else 0.0
    return replace(found, seconds=found.seconds + planning * len(stages_of(spec.episodes, H * S * A)))


def run(spec: RunSpec, progress: Callable[[float], None] | None = None) -> Trace:
    """Run every seed of a spec in this process. `progress` is called with the share done, 0 to 1."""
    traces = []
    for seed in range(spec.seeds):
        work = start(spec, seed)
        while not work.advance():
            if progress:
                progress((seed + work.progress) / spec.seeds)
        traces.append(work.trace())
    if progress:
        progress(1.0)
    return Trace(spec, tuple(traces))


def warm() -> Iterator[None]:
    """Compile, or load from the disk cache, every kernel there is, by a tiny run of each combination; comes up for air
    before each."""
    from dprl.privacy import PRIVATIZERS

    for algorithm in ALGORITHMS.values():
        for privacy in algorithm.privacies:
            for mechanism in PRIVATIZERS[privacy].mechanisms or (None,):
                spec = RunSpec(
                    environment="random",
                    environment_params={"S": 2, "A": 2, "H": 2},
                    algorithm=algorithm.key,
                    privacy=privacy,
                    mechanism=mechanism,
                    episodes=50,
                    seeds=1,
                )
                yield
                start(spec, 0).advance(60.0)


__all__ = [
    "FIELDS",
    "Estimate",
    "Outlook",
    "RunSpec",
    "SeedRun",
    "SeedTrace",
    "StagedRun",
    "Trace",
    "estimate",
    "outlook",
    "run",
    "spec_from_json",
    "start",
    "warm",
]
