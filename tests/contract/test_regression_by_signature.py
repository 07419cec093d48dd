"""A learner that regresses its own values is handed released sums and what is public, and nothing else of its users."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.learners.linear.learner import MixtureLearner, MixtureProblem, next_block
from dprl.mdp.tabular import Array
from dprl.simulation.loops import RegressionRun
from tests.contract.signatures import names, no_other_way, only_known

LEARNERS = [key for key, a in ALGORITHMS.items() if a.loop == "regress"]
PARAMS = {"d": 2, "S": 3, "H": 3}


def spec_of(key: str, **given: Any) -> RunSpec:
    return RunSpec(
        environment="linear-mixture",
        environment_params=PARAMS,
        algorithm=key,
        episodes=10**4,
        seeds=1,
        **given,
    )


@pytest.mark.parametrize("key", LEARNERS)
def test_planner_and_constants_have_no_other_way_to_data(key: str) -> None:
    """Arguments: released sums and public numbers. Nothing is closed over; globals are functions and constants."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, MixtureLearner)
    planners = [learner.planner(bonus) for bonus in learner.bonuses]
    for planner in planners:
        arguments = ["released", "error", "users", "features", "rewards", "constants", "plan"]
        assert names(planner.plan) == arguments
        assert names(planner.constants) == ["problem"]
        if planner.confidence is not None:
            told = ["released", "error", "users", "constants"]
            assert names(planner.confidence) == told
    assert list(MixtureProblem.__dataclass_fields__) == [
        "size",
        "K",
        "beta",
        "bound",
        "statistic",
        "quantile",
    ]
    assert names(next_block) == ["most", "users", "K", "d1", "features", "plan"]
    no_other_way(
        [
            next_block,
            *(function for planner in planners for function in planner if function is not None),
        ],
        ["dprl.learners", "dprl.mdp"],
    )


@pytest.mark.parametrize("privacy", ["central", "local"])
@pytest.mark.parametrize("key", LEARNERS)
def test_the_loop_hands_the_planner_nothing_but_what_was_released(key: str, privacy: str) -> None:
    """Every array it is called with is released, public, or the learner's own, and none shares memory with others."""
    run = RegressionRun(spec_of(key, privacy=privacy), 0, plain=True)
    state, setup, handed = run.state, run.setup, 0
    hidden = (state.counts, state.total, state.sums, state.noise, run.model.P, state.value)
    known = (state.noisy, setup.features, setup.rewards, setup.constants)
    plan = run._kernels.plan

    def watched(*arguments: Any) -> None:
        nonlocal handed
        handed += 1
        only_known(arguments, known, hidden)
        plan(*arguments)

    run._kernels = run._kernels._replace(plan=watched)
    assert run.advance(600.0)
    assert handed == state.position[0] > 10


@pytest.mark.parametrize("key", LEARNERS)
def test_plans_and_release_times_are_a_function_of_what_was_released(key: str) -> None:
    """With other users, of another mixture of the same types, but releases that are always the same."""
    rng = np.random.default_rng(0)
    learner = ALGORITHMS[key]
    assert isinstance(learner, MixtureLearner)
    families = learner.statistic.families
    published = [rng.random((2, families, 2, 3)) * 1.1**k for k in range(200)]
    for one in published:
        one[..., :2] = one[..., :2] @ one[..., :2].swapaxes(-1, -2)

    def learned(seed: int, world: int) -> tuple[list[Array], Array]:
        params = {**PARAMS, "seed": world}
        run = RegressionRun(
            spec_of(key, privacy="central").replace(environment_params=params), seed, plain=True
        )
        plan = run._kernels.plan
        seen: list[Array] = []

        def always(released: Array, error: float, users: int, *public: Any) -> None:
            released[...] = published[len(seen) // 4]
            plan(released, error, users, *public)
            own = run.state.plan
            seen.extend([own.Q.copy(), own.V.copy(), own.weights.copy(), np.array([float(users)])])

        run._kernels = run._kernels._replace(plan=always)
        run.setup = run.setup._replace(rewards=np.ones_like(run.setup.rewards))
        run.advance(600.0)
        return seen, run.state.total

    first, counts = learned(0, 0)
    assert len(first) > 40
    for seed, world in ((1, 0), (2, 7)):
        other, others = learned(seed, world)
        assert not np.array_equal(counts, others)
        for ours, theirs in zip(first, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)
