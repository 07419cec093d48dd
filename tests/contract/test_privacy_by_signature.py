"""Privacy by signature: a learner is handed released counts and public facts, and can get at nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.learners import PUBLIC, Problem
from dprl.learners.elimination.eliminator import EliminationLearner
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.simulation import EliminationRun, SeedRun, schedules, start
from dprl.simulation.online import small_problem
from tests.contract.signatures import names, no_other_way, reachable
from tests.contract.test_pairs import LEARNERS, small_spec


@pytest.mark.parametrize("key", LEARNERS)
def test_planner_and_constants_have_no_other_way_to_data(key: str) -> None:
    """Arguments: released counts and public numbers. Nothing is closed over; globals are functions and constants."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, TabularLearner)
    planners = [learner.planner(bonus) for bonus in learner.bonuses]
    for plan, constants in planners:
        arguments = ["released", "errors", "possible", "constants", "Q", "V", "policy"]
        if learner.stochastic:
            arguments.insert(4, "users")
        if learner.draws:
            arguments.insert(4, "draws")
        assert names(plan) == arguments
        assert names(constants) == ["problem"]
    assert {f.name for f in Problem.__dataclass_fields__.values()} == {
        "H",
        "S",
        "A",
        "K",
        "beta",
        "epsilon",
        "calibration",
        "bonus",
        "params",
        "branching",
        "rows",
    }
    no_other_way(
        [function for planner in planners for function in planner], ["dprl.learners", "dprl.mdp.structure"]
    )


@pytest.mark.parametrize(
    ("key", "bonus"),
    [(key, b) for key in LEARNERS for b in ("anytime", "paper") if b in ALGORITHMS[key].bonuses],
)
def test_plan_is_a_function_of_what_was_released(key: str, bonus: str) -> None:
    """The loop is run on different users in different environments, with a release step that always publishes the
    same: then everything the learner holds is the same, whatever the true counts are.
    Its own draws are the same, too."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, TabularLearner)
    rng = np.random.default_rng(0)
    spec = RunSpec(
        environment="random", environment_params={"S": 3, "A": 2, "H": 3}, algorithm=key,
        privacy=learner.privacies[0], bonus=bonus, episodes=300, schedule="geometric:0.3", seeds=1,
    )  # fmt: skip
    times = schedules.times("geometric:0.3", 300)
    publications = rng.integers(1, 100, size=(len(times), 3, 3, 2, 5)).astype(float)
    publications[..., 3] = publications[..., :3].sum(-1)

    def learner_after(seed: int, environment_seed: int) -> tuple[list[Array], Array]:
        params = {**spec.environment_params, "seed": environment_seed}
        run = SeedRun(spec.replace(environment_params=params), seed, plain=True)
        run.state = run.state._replace(released=np.zeros_like(run.state.counts))  # not the counts themselves
        run._own_rng = np.random.default_rng(0)
        number = iter(range(len(times)))

        def publish(noisy: Array, errors: Array, tau2: Array, released: Array) -> None:
            released[...] = publications[next(number)]

        seen: list[Array] = []

        def plan(*given: Any) -> None:
            learner.planner(bonus).plan(*given)
            seen.extend(learned.copy() for learned in given[-3:])

        run._kernels = run._kernels._replace(publish=publish, plan=plan)
        run.advance(1e9)
        return seen, run.state.counts

    first, counts = learner_after(0, 0)
    assert len(first) == 3 * len(times)
    for seed, environment_seed in ((1, 0), (2, 7)):
        other, other_counts = learner_after(seed, environment_seed)
        assert not np.array_equal(counts, other_counts)
        for ours, theirs in zip(first, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("key", LEARNERS)
def test_scrambled_counts_change_nothing_once_released(key: str) -> None:
    learner = ALGORITHMS[key]
    spec = small_spec("random", key, learner.privacies[0])
    run = SeedRun(spec, 0)
    run.advance(60.0)
    state, setup = run.state, run.setup
    released, draws, errors = state.released.copy(), state.draws.copy(), state.errors.copy()

    def planned() -> tuple[bytes, ...]:
        Q, V, policy = state.Q.copy(), state.V.copy(), state.policy.copy()
        own = (7,) if policy.ndim == 3 else (draws,) if len(draws) else ()
        run._kernels.plan(released, errors, every_state(2), setup.constants, *own, Q, V, policy)
        return Q.tobytes(), V.tobytes(), policy.tobytes()

    before = planned()
    for array in (state.counts, state.noisy, state.noise, state.starts, state.totals):
        array[...] = np.random.default_rng(1).permutation(array.ravel()).reshape(array.shape) + 1
    assert planned() == before


@pytest.mark.parametrize("key", LEARNERS)
def test_the_loop_hands_planner_and_schedule_nothing_but_what_was_released(key: str) -> None:
    """Every array they are called with is the loop's array of released counts, or the learner's own."""
    learner = ALGORITHMS[key]
    run = SeedRun(small_spec("random", key, learner.privacies[0], episodes=200), 0, plain=True)
    state, setup = run.state, run.setup
    private = learner.privacies[0] != "none"
    handed = {"plan": 0, "next_release": 0}

    def watched(name: str, known: list[Any], call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            handed[name] += 1
            for argument in arguments:
                if isinstance(argument, np.ndarray):
                    assert any(argument is array for array in known)
                    hidden = (state.counts, state.noisy) if private else ()
                    assert not any(np.shares_memory(argument, array) for array in hidden)
                else:
                    assert isinstance(argument, int | float | np.integer)
            return call(*arguments)

        return called

    possible = run.model.possible
    np.testing.assert_array_equal(possible, every_state(run.mdp.S))  # nothing is declared
    learned: list[Any] = [
        state.released,
        state.errors,
        possible,
        setup.constants,
        state.draws,
        state.Q,
        state.V,
        state.policy,
    ]
    run._kernels = run._kernels._replace(
        plan=watched("plan", learned, run._kernels.plan),
        next_release=watched(
            "next_release",
            [state.released, state.pace, setup.settings, possible, state.policy],
            run._kernels.next_release,
        ),
    )
    assert run.advance(60.0)
    assert handed["plan"] == state.position[0] > 10
    assert handed["next_release"] == handed["plan"] - 1  # the last release is that of the last user


ELIMINATORS = [key for key, a in ALGORITHMS.items() if a.loop == "eliminate"]
SIZES = {"S": 2, "A": 2, "H": 2}


def small_eliminated(key: str, **given: Any) -> RunSpec:
    """As private as it can be, with noise that is not calibrated where it is printed: that takes seconds."""
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
        run = start(RunSpec(algorithm=key, **small_problem(key), privacy="none", episodes=5000, seeds=1), 0)
        assert run.trace().guarantee.public == tuple(PUBLIC[name] for name in learner.public)
