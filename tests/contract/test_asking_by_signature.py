"""A learner that asks for regressions is handed released sums and what is public, and nothing else of its users.

It is answered step by step, about the values it has just planned, and about no others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.learners.linear.value_iteration import LinearProblem, ValueIterationLearner, next_block
from dprl.mdp.tabular import Array
from dprl.simulation.loops import BatchRun
from tests.contract.signatures import names, no_other_way, only_known

LEARNERS = [key for key, a in ALGORITHMS.items() if a.loop == "batches"]
PARAMS = {"stages": 1, "drugs": 2, "symptoms": 2, "H": 3}


def spec_of(key: str, **given: Any) -> RunSpec:
    return RunSpec(
        environment="linear-mdp", environment_params=PARAMS, algorithm=key, episodes=10**4, seeds=1, **given
    )


@pytest.mark.parametrize("key", LEARNERS)
def test_planner_and_constants_have_no_other_way_to_data(key: str) -> None:
    """Arguments: released sums and public numbers. Nothing is closed over; globals are functions and constants."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, ValueIterationLearner)
    planners = [learner.planner(bonus) for bonus in learner.bonuses]
    for step, constants, confidence, longest in planners:
        arguments = ["h", "released", "shift", "pull", "users", "features", "constants", "plan"]
        assert names(step) == arguments
        assert names(constants) == ["problem"]
        assert len(names(longest)) == 1
        arguments = ["released", "shift", "pull", "users", "constants"]
        assert names(confidence) == arguments
    assert list(LinearProblem.__dataclass_fields__) == ["size", "K", "beta", "bound", "norm"]
    arguments = ["most", "users", "K", "d1", "features", "moved", "plan"]
    assert names(next_block) == arguments
    no_other_way(
        [
            next_block,
            *(function for planner in planners for function in planner),
        ],
        ["dprl.learners", "dprl.mdp"],
    )


@pytest.mark.parametrize("mechanism", ["gaussian-toeplitz", "laplace-tree"])
@pytest.mark.parametrize("key", LEARNERS)
def test_the_loop_hands_the_planner_nothing_but_what_was_released(key: str, mechanism: str) -> None:
    """Every array it is called with is released, public, or the learner's own, and none shares memory with others.
    Below the step that it plans it has no vectors of this release yet."""
    run = BatchRun(spec_of(key, mechanism=mechanism), 0, plain=True)
    state, setup = run.state, run.setup
    hidden = (state.counts, state.sums, state.moved, state.noise, state.fresh, state.memory, run.model.P)
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
    assert handed == [2, 1, 0] * state.position[0]
    assert state.position[0] > 4


@pytest.mark.parametrize("key", LEARNERS)
def test_plans_are_a_function_of_what_was_released(key: str) -> None:
    """With other users, in another world of the same features, but releases that are always the same."""
    rng = np.random.default_rng(0)
    published = [rng.random((3, 1, 3, 4)) * 1.1**k for k in range(200)]
    for one in published:
        one[..., :3] = one[..., :3] @ one[..., :3].swapaxes(-1, -2)

    def learned(seed: int, world: int) -> tuple[list[Array], Array]:
        run = BatchRun(
            spec_of(key, privacy="central").replace(environment_params={**PARAMS, "seed": world}),
            seed,
            plain=True,
        )
        step = run._kernels.step
        seen: list[Array] = []

        def always(h: int, released: Array, *public: Any) -> None:
            step(h, published[len(seen) // 12], *public)
            own = run.state.plan
            seen.extend([own.Q.copy(), own.V.copy(), own.weights.copy(), own.unit.copy()])

        run._kernels = run._kernels._replace(step=always)
        run.advance(600.0)
        return seen, run.state.counts

    first, counts = learned(0, 0)
    assert len(first) > 40
    for seed, world in ((1, 0), (2, 7)):
        other, others = learned(seed, world)
        assert not np.array_equal(counts, others)
        for ours, theirs in zip(first, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("key", LEARNERS)
def test_with_privacy_the_ends_of_batches_follow_from_the_spec_alone(key: str) -> None:
    runs = [BatchRun(spec_of(key, privacy="central"), seed) for seed in (0, 1)]
    for run in runs:
        run.advance(60.0)
        assert not run.state.moved.any()  # what blocks without privacy follow from is not even computed
    assert runs[0].state.position[0] == runs[1].state.position[0] == runs[0].setup.releases
