"""Privacy by signature: a learner is handed released counts and public facts, and can get at nothing else."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.learners import PUBLIC, Problem
from dprl.learners.elimination.eliminator import EliminationLearner
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp.tabular import Array
from dprl.simulation import EliminationRun, start
from dprl.testing import check_algorithm
from tests.contract import seen
from tests.contract.seen import reachable
from tests.contract.test_pairs import LEARNERS, small_spec
from tests.problems import home


@pytest.mark.parametrize("key", LEARNERS)
def test_the_loop_hands_planner_and_schedule_nothing_but_what_was_released(key: str) -> None:
    """And the learner makes nothing else of it, has no other way to data, and repeats itself."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, TabularLearner)
    assert check_algorithm(learner) == ("record", "function of what was released")
    functions = [function for bonus in learner.bonuses for function in learner.planner(bonus)]
    seen.no_other_way(functions, ("dprl.learners", "dprl.mdp.structure", "dprl.mdp.planning", "dprl.engine"))
    seen.sensitivity(learner)
    seen.handed(learner)


def test_what_constants_may_depend_on_is_public() -> None:
    assert set(Problem.__dataclass_fields__) == {
        "H", "S", "A", "K", "beta", "epsilon", "calibration", "bonus", "params", "branching", "ellipsoid",
    }  # fmt: skip


ELIMINATORS = [key for key, a in ALGORITHMS.items() if a.loop == "eliminate"]
SIZES = {"S": 2, "A": 2, "H": 2}


def small_eliminated(key: str, **given: Any) -> RunSpec:
    """As private as it can be, with noise as in the paper where a paper states it: that takes seconds."""
    privacy = ALGORITHMS[key].privacies[0]
    calibration = "paper" if privacy == "shuffle" else None
    return small_spec("random", key, privacy, None, calibration, **{"environment_params": SIZES} | given)


@pytest.mark.parametrize("key", ELIMINATORS)
def test_nothing_an_eliminator_holds_is_the_model_or_true_counts(key: str) -> None:
    """After every call: no array of the model, nor of counts before their noise, can be got at from it."""
    learner = ALGORITHMS[key]
    spec = small_eliminated(key, episodes=500)
    run = EliminationRun(spec, 0)
    calls = 0
    while not run.done:
        run._step()
        calls += 1
        mdp, model = run.mdp, run.model
        hidden = [mdp.P, mdp.R, mdp.d1, *(x for x in model if isinstance(x, np.ndarray)), run._counts]
        held = reachable(run.learner)
        assert not any(value is run or value is mdp or value is model for value in held)
        arrays = [value for value in held if isinstance(value, np.ndarray)]
        assert len(arrays) > 3
        assert not any(np.shares_memory(value, array) for value in arrays for array in hidden)
    assert calls > 5
    problem_and_d1 = list(inspect.signature(type(run.learner).__init__).parameters)[1:]
    assert problem_and_d1 == ["problem", "d1"]
    assert "d1" in learner.public


@pytest.mark.parametrize("key", ELIMINATORS)
def test_what_an_eliminator_proposes_is_a_function_of_what_was_released(key: str) -> None:
    """Other users in another environment, with releases that are always the same: then all proposals are."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, EliminationLearner)

    def proposals(seed: int, environment_seed: int) -> tuple[list[bytes], Array]:
        run = EliminationRun(
            small_eliminated(key, environment_params={**SIZES, "seed": environment_seed}, episodes=10**6),
            seed,
        )
        run.learner = learner.begin(run.problem, np.array([0.75, 0.25]))  # d1 is public, and no other is
        rng, true = np.random.default_rng(0), []

        def release(counts: Array, batch: int) -> tuple[Array, Array]:
            true.append(counts.copy())
            published = rng.integers(0, 1000, size=counts.shape).astype(float)
            published[..., 2] = published[..., :2].sum(-1)
            return counts, published

        run._release = release  # type: ignore[method-assign]
        propose, seen = run.learner.propose, []

        def noted() -> Any:
            exploration = propose()
            for block in (*exploration.blocks, *exploration.idle) if exploration else ():
                seen.append(block.policy.tobytes() + str(block.users).encode())
            return exploration

        run.learner.propose = noted  # type: ignore[method-assign]
        assert run.advance(60.0)
        return seen, np.array(true)

    first, counts = proposals(0, 0)
    assert len(set(first)) > 5
    for seed, environment_seed in ((1, 0), (2, 7)):
        other, other_counts = proposals(seed, environment_seed)
        assert not np.array_equal(counts, other_counts)
        assert first == other


def test_what_a_learner_takes_as_public_is_on_the_card() -> None:
    for key, learner in ALGORITHMS.items():
        assert set(learner.public) <= PUBLIC.keys()
        run = start(small_spec(home(key), key, "none"), 0)
        assert run.trace().guarantee.public == tuple(PUBLIC[name] for name in learner.public)
