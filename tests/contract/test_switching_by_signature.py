"""A learner that plans rarely is handed released sums and what is public; when it looks and plans follows from that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.learners.linear import switching
from dprl.mdp.tabular import Array
from dprl.simulation.loops import SwitchRun
from tests.contract.signatures import names, no_other_way, only_known

LEARNERS = [key for key, a in ALGORITHMS.items() if a.loop == "switches"]
PARAMS = {"stages": 1, "drugs": 2, "symptoms": 2, "H": 3}


def spec_of(key: str, **given: Any) -> RunSpec:
    usual: dict[str, Any] = {"environment_params": PARAMS, "episodes": 10**6, "seeds": 1}
    return RunSpec(**usual | given, environment="linear-mdp", algorithm=key)


@pytest.mark.parametrize("key", LEARNERS)
def test_planner_and_schedule_have_no_other_way_to_data(key: str) -> None:
    """Arguments: released sums and public numbers. Nothing is closed over; globals are functions and constants."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, switching.SwitchingLearner)
    planners = [learner.planner(bonus) for bonus in learner.bonuses]
    rules: dict[Callable[..., Any], list[str]] = {
        switching.doubled: ["now", "then", "ridge"],
        switching.next_look: ["users", "distance", "ridge", "left", "K"],
        switching.may_plan: ["users", "last", "left", "K"],
        switching.plans: ["size", "K"],
        switching.looks: ["size", "K"],
    }
    for planner in planners:
        arguments = ["h", "released", "shift", "pull", "users", "features", "constants", "plan"]
        assert names(planner.step) == arguments
        assert names(planner.constants) == ["problem"]
        arguments = ["released", "shift", "pull", "users", "constants"]
        assert names(planner.confidence) == arguments
    for rule, arguments in rules.items():
        assert names(rule) == arguments
    no_other_way(
        [*rules, *(function for planner in planners for function in planner)], ["dprl.learners", "dprl.mdp"]
    )


@pytest.mark.parametrize("key", LEARNERS)
def test_the_loop_hands_the_planner_nothing_but_what_was_released(key: str) -> None:
    """Every array it is called with is released, public, or the learner's own, and none shares memory with others.
    Below the step that it plans it has no vectors of this plan yet."""
    run = SwitchRun(spec_of(key, mechanism="gaussian-toeplitz"), 0, plain=True)
    state, setup = run.state, run.setup
    hidden = (
        state.counts, state.total, state.weighted, state.looked, state.sums, state.noise, state.fresh, state.memory,
        run.model.P,
    )  # fmt: skip
    known = (state.noisy, setup.features, setup.constants)
    step, handed, before = run._kernels.step, [], state.noisy.copy()

    def watched(h: int, *arguments: Any) -> None:
        handed.append(h)
        np.testing.assert_array_equal(state.noisy[:h, :, :, -1], before[:h, :, :, -1])
        only_known(arguments, known, hidden)
        step(h, *arguments)
        if h == 0:
            before[:] = state.noisy

    run._kernels = run._kernels._replace(step=watched)
    assert run.advance(600.0)
    assert handed == [2, 1, 0] * state.position[5]
    assert state.position[5] > 4


@pytest.mark.parametrize("key", LEARNERS)
def test_plans_and_their_times_are_a_function_of_what_was_released(key: str) -> None:
    """With other users, in another world of the same features, but releases that are always the same."""

    def learned(seed: int, world: int) -> tuple[list[Array], Array]:
        spec = spec_of(key, privacy="central").replace(environment_params={**PARAMS, "seed": world})
        run = SwitchRun(spec, seed)
        state, rng = run.state, np.random.default_rng(0)
        d, H = run.setup.features.shape[-1], run.mdp.H
        seen: list[Array] = []
        position, at = state.position, 0
        # what is shown to it: matrices that grow with the users, and vectors
        while at < run.spec.episodes:
            distance = switching.next_look(
                at, int(position[8]), run.setup.ridge, run.setup.looks - int(position[0]), run.spec.episodes
            )
            at += distance
            shown = rng.random((H, 1, d, d + 1))
            shown[..., :d] = at * (np.eye(d) / d + 0.01 * shown[..., :d] @ shown[..., :d].swapaxes(-1, -2))
            state.shown[:] = shown
            position[0], position[1], position[8] = position[0] + 1, at, distance
            if not switching.may_plan(at, int(position[7]), run.setup.plans - int(position[5]), 10**6):
                continue
            if switching.doubled(state.shown, state.noisy, run.setup.ridge):
                for f in range(state.noisy.shape[1]):
                    state.noisy[:, f] = shown[:, 0]
                for h in reversed(range(H)):
                    run._kernels.step(
                        h, state.noisy, 1.0, 1.0, at, run.setup.features, run.setup.constants, state.plan
                    )
                position[5], position[7], position[8] = position[5] + 1, at, 0
                seen += [np.array(float(at)), *(np.array(part, dtype=float) for part in state.plan)]
        return seen, run.mdp.P

    first, P = learned(0, 0)
    assert len(first) >= 60  # four plans
    for seed, world in ((1, 0), (2, 7)):
        other, another = learned(seed, world)
        assert world == 0 or not np.array_equal(P, another)
        for ours, theirs in zip(first, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("key", LEARNERS)
def test_how_often_it_may_look_and_plan_follows_from_the_spec_alone(key: str) -> None:
    runs = [SwitchRun(spec_of(key, privacy="central"), seed) for seed in (0, 1)]
    for run in runs:
        run.advance(60.0)
        statistic: Any = run.noise.statistic
        assert run.noise.stream.releases == statistic.looks == run.setup.looks >= run.state.position[0]
        assert statistic.releases == run.setup.plans >= run.state.position[5]
    assert runs[0].setup.scales.tobytes() == runs[1].setup.scales.tobytes()
