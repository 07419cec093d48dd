"""A learner that regresses is handed released sums and what is public, and nothing else of its users: one that plans
values it has asked for before, and one that asks step by step about the values it has just planned.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.learners.linear import learner as mixture
from dprl.learners.linear import value_iteration
from dprl.mdp.tabular import Array
from dprl.simulation.loops import LOOPS
from tests.contract.seen import no_other_way, only_known
from tests.problems import loop

STEP = ["h", "released", "shift", "pull", "users", "features", "constants", "plan"]
BELIEF = ["released", "shift", "pull", "users", "constants"]
LINEAR = ["size", "K", "beta", "bound", "norm"]


class Way(NamedTuple):
    """How a loop plays its learners.

    Attributes:
        environment, params: a small world for them.
        planner: what a planner's functions are told.
        rules: what those are told that say when it releases, looks or plans.
        problem: what its constants follow from.
        hidden, known: of the loop's state, and of its setup: what is not released, and what is public.
        noises: the runs that are watched.
    """

    environment: str
    params: dict[str, Any]
    planner: dict[str, list[str]]
    rules: dict[Callable[..., Any], list[str]]
    problem: tuple[type, list[str]]
    hidden: tuple[str, ...]
    known: tuple[str, ...]
    noises: tuple[dict[str, Any], ...]


DRUGS: dict[str, Any] = {"stages": 1, "drugs": 2, "symptoms": 2, "H": 3}
WAYS = {
    "regress": Way(
        "linear-mixture",
        {"d": 2, "S": 3, "H": 3},
        {
            "plan": ["released", "error", "users", "features", "rewards", "constants", "plan"],
            "constants": ["problem"],
            "confidence": ["released", "error", "users", "constants"],
        },
        {mixture.next_block: ["most", "users", "K", "d1", "features", "plan"]},
        (mixture.MixtureProblem, ["size", "K", "beta", "bound", "statistic", "quantile"]),
        ("counts", "total", "sums", "noise", "value"),
        ("features", "rewards", "constants"),
        ({"privacy": "central"}, {"privacy": "local"}),
    ),
    "batches": Way(
        "linear-mdp",
        DRUGS,
        {"step": STEP, "constants": ["problem"], "confidence": BELIEF},
        {value_iteration.next_block: ["most", "users", "K", "d1", "features", "moved", "plan"]},
        (value_iteration.LinearProblem, LINEAR),
        ("counts", "sums", "moved", "noise", "fresh", "memory"),
        ("features", "constants"),
        ({"mechanism": "gaussian-toeplitz"}, {"mechanism": "laplace-tree"}),
    ),
}
LEARNERS = [key for key in ALGORITHMS if loop(key) in WAYS]
WATCHED = [(key, noise) for key in LEARNERS for noise in WAYS[loop(key)].noises]


def begun(key: str, seed: int, *, plain: bool = False, world: int = 0, **given: Any) -> Any:
    """A run of it; world: another one, of the same features."""
    way, run = WAYS[loop(key)], dict[str, Any](LOOPS)[loop(key)]
    given |= {"environment_params": way.params | ({"seed": world} if world else {}), "episodes": 10**4}
    return run(RunSpec(environment=way.environment, algorithm=key, seeds=1, **given), seed, plain=plain)


@pytest.mark.parametrize("key", LEARNERS)
def test_planner_rules_and_constants_have_no_other_way_to_data(key: str) -> None:
    """Arguments: released sums and public numbers. Nothing is closed over; globals are functions and constants."""
    way, learner = WAYS[loop(key)], ALGORITHMS[key]
    planners: list[Any] = [learner.planner(bonus) for bonus in learner.bonuses]  # type: ignore[attr-defined]
    functions = [function for planner in planners for function in planner if function is not None]
    for planner in planners:
        for name, told in way.planner.items():
            function = getattr(planner, name)
            assert (function is None and name == "confidence") or [*signature(function).parameters] == told
        for name in {*planner._fields} - {*way.planner}:
            assert len([*signature(getattr(planner, name)).parameters]) == 1  # a size, or the problem
    for rule, told in way.rules.items():
        assert [*signature(rule).parameters] == told
    problem, facts = way.problem
    assert list(problem.__dataclass_fields__) == facts  # type: ignore[attr-defined]
    no_other_way([*way.rules, *functions], ["dprl.learners", "dprl.mdp"])


@pytest.mark.parametrize(("key", "noise"), WATCHED)
def test_the_loop_hands_the_planner_nothing_but_what_was_released(key: str, noise: dict[str, Any]) -> None:
    """Every array it is called with is released, public, or the learner's own, and none shares memory with others.
    Below the step that it plans it has no vectors of this release yet."""
    way, run = WAYS[loop(key)], begun(key, 0, plain=True, **noise)
    state = run.state
    hidden = (*(getattr(state, name) for name in way.hidden), run.model.P)
    known = (state.noisy, *(getattr(run.setup, name) for name in way.known))
    stepped = "step" in way.planner
    name = "step" if stepped else "plan"
    plan, before = getattr(run._kernels, name), state.noisy.copy()
    handed: list[int] = []

    def watched(*arguments: Any) -> None:
        h = arguments[0] if stepped else 0
        handed.append(h)
        if stepped:
            np.testing.assert_array_equal(state.noisy[:h, :, :, -1], before[:h, :, :, -1])
        only_known(arguments, known, hidden)
        plan(*arguments)
        if h == 0:
            before[:] = state.noisy

    run._kernels = run._kernels._replace(**{name: watched})
    assert run.advance(600.0)
    plans = state.position[0]
    assert handed == ([2, 1, 0] if stepped else [0]) * plans
    assert plans > (4 if stepped else 10)


@pytest.mark.parametrize("key", LEARNERS)
def test_plans_and_their_times_are_a_function_of_what_was_released(key: str) -> None:
    """With other users, in another world of the same features, but releases that are always the same."""
    first, users = learned(key, 0, 0)
    assert len(first) > 40
    for seed, world in ((1, 0), (2, 7)):
        other, others = learned(key, seed, world)
        assert not np.array_equal(users, others)
        for ours, theirs in zip(first, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def published(*shape: int) -> list[Array]:
    """Releases that grow: matrices, [.., d, d], with a vector beside each."""
    rng = np.random.default_rng(0)
    found = [rng.random(shape) * 1.1**k for k in range(200)]
    for one in found:
        one[..., :-1] = one[..., :-1] @ one[..., :-1].swapaxes(-1, -2)
    return found


def learned(key: str, seed: int, world: int) -> tuple[list[Array], Array]:
    """All that is learned, and the users or their world; where all steps are planned at once, when that was, too."""
    run: Any = begun(key, seed, plain=True, world=world, privacy="central")
    stepped = loop(key) == "batches"
    learner: Any = ALGORITHMS[key]
    releases = published(3, 1, 3, 4) if stepped else published(2, learner.statistic.families, 2, 3)
    name = "step" if stepped else "plan"
    plan, seen = getattr(run._kernels, name), list[Array]()

    def always(*given: Any) -> None:
        given[stepped][...] = releases[len(seen) // (12 if stepped else 4)]
        plan(*given)
        own = run.state.plan
        last = own.unit if stepped else np.array(float(given[2]))
        seen.extend([own.Q.copy(), own.V.copy(), own.weights.copy(), last.copy()])

    run._kernels = run._kernels._replace(**{name: always})
    if not stepped:
        run.setup = run.setup._replace(rewards=np.ones_like(run.setup.rewards))
    run.advance(600.0)
    return seen, run.state.counts if stepped else run.state.total


@pytest.mark.parametrize("key", [key for key in LEARNERS if loop(key) == "batches"])
def test_with_privacy_the_ends_of_batches_follow_from_the_spec_alone(key: str) -> None:
    runs = [begun(key, seed, privacy="central") for seed in (0, 1)]
    for run in runs:
        run.advance(60.0)
        assert not run.state.moved.any()  # what blocks without privacy follow from is not even computed
    assert runs[0].state.position[0] == runs[1].state.position[0] == runs[0].setup.releases
