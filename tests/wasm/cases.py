"""Runs that the module and numba both play: every family, mechanism and post-processing that it covers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from numpy.typing import NDArray

from dprl import ALGORITHMS, RunSpec
from dprl.engine.pack import Pack
from dprl.learners.tabular.planner import TabularLearner
from dprl.simulation.loops.module_run import ModuleRun, _packed, pack
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.pairs import calibrations_for
from tests.golden.test_golden import CASES
from tests.problems import finished

EVERYBODY = 2**62  # users are walked one by one, however many


class Case(NamedTuple):
    """A run. walk_below: see `SlicedRun`."""

    name: str
    spec: RunSpec
    walk_below: int = 0


def cases() -> Iterator[Case]:
    """Every covered algorithm with every privacy model, mechanism and bonus, in blocks and walked; then all others."""
    for key, privacy, mechanism, reports in CASES:
        if not isinstance(ALGORITHMS[key], TabularLearner):
            continue
        noise = (
            {"mechanism": mechanism, "calibration": calibrations_for(key, mechanism)[-1]} if mechanism else {}
        )
        own: dict[str, Any] = {"algorithm": key, "privacy": privacy} | noise
        bonuses = ALGORITHMS[key].bonuses
        if reports == "played":
            played = small(**own, bonus=bonuses[0], reports=reports, episodes=10**9)
            yield Case(f"{key}, {privacy}, {mechanism}, played", played)
            continue
        for bonus in bonuses:
            name = ", ".join((key, privacy, bonus, *noise.values()))
            yield Case(f"{name}, blocks", small(episodes=10**12, bonus=bonus, **own))
            yield Case(f"{name}, walked", small(episodes=2_000, bonus=bonus, **own), EVERYBODY)
    yield from others()


def others() -> Iterator[Case]:
    """The default learner under the default noise: schedules, structure, environments, users, groups of questions."""
    yield Case("three groups of five steps", small(privacy="local", epsilon=4.0, episodes=10**9))
    central: dict[str, Any] = {"algorithm": "dp-ucbvi", "privacy": "central"}
    for schedule, episodes in (("episodic", 2_000), ("geometric:0.05", 10**9), ("adaptive:0.1", 10**9)):
        yield Case(schedule, small(episodes=episodes, **central, schedule=schedule))
    for environment, params in (
        ("riverswim", {"S": 6, "H": 20}),
        ("gridworld", {"H": 8}),
        ("random", {"S": 5, "A": 3, "H": 4}),
    ):
        for episodes in (10**4, 10**9, 10**15):
            own = central | {"environment": environment, "environment_params": params, "epsilon": 1.0}
            yield Case(f"{environment}, K = {episodes:.0e}", RunSpec(**own, episodes=episodes, seeds=1))


def small(**chosen: Any) -> RunSpec:
    given = {"environment": "riverswim", "environment_params": {"S": 3, "H": 5}, "epsilon": 50.0, "seeds": 1}
    if chosen.get("privacy") == "none":
        del given["epsilon"]
    return RunSpec(**{"schedule": "geometric:0.1", **given, **chosen})


class ByModule(ModuleRun):
    """A seed that numba never plays, however long it takes."""

    long = float("inf")


def begun(case: Case) -> tuple[ByModule, Pack]:
    """A seed of a case before its first user, and the same packed."""
    run = ByModule(case.spec, 0, walk_below=case.walk_below)
    return run, pack(run)


def ended(run: SeedRun) -> dict[str, NDArray[Any]]:
    """The run's arrays at its end, by name; also those that a run in the module never reads otherwise."""
    packed, arrays = _packed(finished(run))
    if isinstance(run, ByModule):
        run._read(run._instance, [*arrays.items()])  # type: ignore[arg-type]
    return {buffer.name: buffer.array for buffer in packed.buffers}


def differing(ours: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> list[str]:
    assert ours.keys() == other.keys()
    return [name for name, array in ours.items() if array.tobytes() != other[name].tobytes()]
