"""Every algorithm with every privacy model, mechanism, environment and bonus runs as promised, or is refused.

All of it comes from the registries: what is added there is tested here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, ENVIRONMENTS, MECHANISMS, PRIVATIZERS, RunSpec, SeedTrace, SpecError
from dprl.algorithms import Problem, algorithm
from dprl.fields import check_params
from dprl.mdp.counts import rewards, transitions, visits
from dprl.mdp.tabular import Array
from dprl.simulation import engine, start
from dprl.simulation.engine import SeedRun
from tests.problems import small_params

BONUSES = ("practical", "paper")
RUNS = [(a, p, m, b) for a, p, b in product(ALGORITHMS, PRIVATIZERS, BONUSES) for m in [*MECHANISMS, None]]


def fits(algorithm_key: str, privacy: str, mechanism: str | None, bonus: str) -> bool:
    """What the registry says goes together. Without privacy a mechanism is ignored."""
    learner = ALGORITHMS[algorithm_key]
    takes = privacy == "none" or mechanism is None or mechanism in PRIVATIZERS[privacy].mechanisms
    return privacy in learner.privacies and bonus in learner.bonuses and takes


def small_spec(
    environment: str, algorithm_key: str, privacy: str, mechanism: str | None, bonus: str, **more: Any
) -> RunSpec:
    given: dict[str, Any] = {"episodes": 5000, "schedule": "geometric:0.1", "epsilon": 5.0} | more
    return RunSpec(
        environment=environment,
        environment_params=small_params(environment),
        algorithm=algorithm_key,
        privacy=privacy,
        mechanism=mechanism,
        bonus=bonus,
        seeds=1,
        **given,
    )


@pytest.mark.parametrize(("algorithm_key", "privacy", "mechanism", "bonus"), RUNS)
def test_runs_or_is_refused(algorithm_key: str, privacy: str, mechanism: str | None, bonus: str) -> None:
    for environment in ENVIRONMENTS:
        if not fits(algorithm_key, privacy, mechanism, bonus):
            with pytest.raises(SpecError) as error:
                small_spec(environment, algorithm_key, privacy, mechanism, bonus)
            assert error.value.field in ("privacy", "mechanism", "bonus")
            assert str(error.value).isprintable()
            assert str(error.value).endswith(".")
            continue
        for more in (
            {},
            {"episodes": 1},
            {"episodes": 70, "schedule": "episodic"},
            {"episodes": 10**14, "schedule": "geometric:0.3"},
        ):
            spec = small_spec(environment, algorithm_key, privacy, mechanism, bonus, **more)
            run = start(spec, 2)
            while not run.advance(60.0):
                pass
            check(spec, run.trace())


def check(spec: RunSpec, trace: SeedTrace) -> None:
    """Everything that is true of any run."""
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    H, S, A = mdp.H, mdp.S, mdp.A
    K, C, D, P = spec.episodes, len(trace.episodes), len(trace.detail_episodes), len(trace.pac_alpha)
    assert trace.complete
    assert trace.spec == spec
    for name, shape in {
        "episodes": (C,), "regret": (C,), "gap": (C,), "coverage_ratio": (C,), "pac_count": (C, P),
        "counts": (D, H, S, A, S + 2), "noisy": (D, H, S, A, S + 2), "released": (D, H, S, A, S + 2),
        "policy": (D, H, S), "Q": (D, H, S, A), "V": (D, H, S), "occupancy": (D, H, S), "error_bound": (D,),
        "error_used": (D,), "optimism": (D,), "optimal_policy": (H, S), "optimal_Q": (H, S, A), "optimal_V": (H, S),
        "optimal_occupancy": (H, S),
    }.items():  # fmt: skip
        array = getattr(trace, name)
        assert array.shape == shape, name
        assert np.isfinite(array).all(), name

    # checkpoints
    for times in (trace.episodes, trace.detail_episodes):
        assert (np.diff(times) > 0).all()
        assert times[0] >= 1
        assert times[-1] == K
    assert C <= 201
    assert D <= 41

    # regret
    most = float(trace.optimal_V[0].max())
    blocks = np.diff(trace.episodes, prepend=0).astype(float)
    steps = np.diff(trace.regret, prepend=0.0)
    assert (steps >= 0).all()
    assert (steps <= blocks * most * (1 + 1e-9)).all()
    assert ((trace.gap >= 0) & (trace.gap <= most * (1 + 1e-9))).all()
    assert trace.v_star == pytest.approx(mdp.d1 @ trace.optimal_V[0])
    assert (np.diff(trace.pac_count, axis=0) >= 0).all()
    assert (np.diff(trace.pac_count, axis=1) <= 0).all()  # fewer episodes are worse by more
    assert (trace.pac_count <= trace.episodes[:, None]).all()

    # true counts are those of as many whole episodes
    m, n, r = transitions(trace.counts), visits(trace.counts), rewards(trace.counts)
    np.testing.assert_array_equal(m.sum(-1), n)
    np.testing.assert_array_equal(n.sum((2, 3)), np.repeat(trace.detail_episodes[:, None], H, 1))
    np.testing.assert_array_equal(m.sum((2, 3))[:, :-1], n.sum(-1)[:, 1:])
    assert ((r >= 0) & (r <= n)).all()

    # what was released
    if spec.privacy == "none":
        assert not trace.coverage_ratio.any()
        assert not trace.error_bound.any()
        np.testing.assert_array_equal(trace.released, trace.counts)
        assert (trace.guarantee.claimed_epsilon, trace.guarantee.proved_epsilon) == (None, None)
    else:
        assert (trace.coverage_ratio > 0).all()
        assert (np.diff(trace.coverage_ratio) >= 0).all()
        assert (trace.error_bound > 0).all()
        assert (trace.noisy != trace.counts).all()
        assert trace.guarantee.claimed_epsilon == spec.epsilon
        assert trace.guarantee.proved_epsilon is not None
        if ALGORITHMS[spec.algorithm].input == "consistent":
            E = trace.error_used[:, None, None, None]
            released = visits(trace.released)
            np.testing.assert_allclose(transitions(trace.released).sum(-1), released, rtol=1e-9)
            assert (transitions(trace.released) >= 0).all()
            feasible = visits(trace.noisy) + E / 4 >= 0
            off = np.abs(released - E / 2 - visits(trace.noisy))
            tiny = 1e-9 * (E + K)
            assert (off[feasible] <= (E / 4 + tiny + 0 * released)[feasible]).all()
        else:
            np.testing.assert_array_equal(trace.released, trace.noisy)
    if spec.bonus == "paper":
        np.testing.assert_array_equal(trace.error_used, trace.error_bound)

    # what was learned
    cap = H - np.arange(H) if spec.algorithm_params.get("cap") == "H-h" else np.full(H, H)
    assert (trace.Q >= 0).all()
    assert (trace.Q <= cap[:, None, None]).all()
    np.testing.assert_array_equal(trace.V, trace.Q.max(-1))
    np.testing.assert_array_equal(trace.policy, trace.Q.argmax(-1))
    assert trace.policy.dtype == np.int16
    np.testing.assert_allclose(trace.occupancy.sum(-1), 1.0)
    np.testing.assert_allclose(trace.optimal_occupancy.sum(-1), 1.0)
    np.testing.assert_allclose(trace.optimism, (trace.Q >= trace.optimal_Q - 1e-9).mean((1, 2, 3)))
    if spec.bonus == "paper":
        # proved to be optimistic w.p. 1 - beta; with the printed constants it never fails
        assert (trace.optimism == 1.0).all()


@pytest.mark.parametrize("key", ALGORITHMS)
def test_algorithm_record(key: str) -> None:
    learner = ALGORITHMS[key]
    assert learner.key == key
    assert learner.privacies
    assert set(learner.privacies) <= PRIVATIZERS.keys()
    assert learner.bonuses
    assert set(learner.bonuses) <= set(BONUSES)
    for text in (learner.title, learner.summary, learner.source):
        assert text
        assert "\n" not in text
    if learner.privacies != ("none",):
        assert "none" in learner.privacies  # the twin


# --- the planner cannot see raw data


@pytest.mark.parametrize("key", ALGORITHMS)
def test_planner_and_constants_have_no_other_way_to_data(key: str) -> None:
    """Arguments: released counts and public numbers. Nothing is closed over; globals are functions and constants."""
    learner = ALGORITHMS[key]
    assert list(inspect.signature(learner.plan).parameters) == [
        "released",
        "error",
        "constants",
        "Q",
        "V",
        "policy",
    ]
    assert list(inspect.signature(learner.constants).parameters) == ["problem"]
    assert {f.name for f in Problem.__dataclass_fields__.values()} == {
        "H",
        "S",
        "A",
        "K",
        "beta",
        "bonus",
        "params",
    }
    pending: list[Callable[..., Any]] = [learner.plan, learner.constants]
    seen: set[Callable[..., Any]] = set()
    while pending:
        function = pending.pop()
        if function in seen:
            continue
        seen.add(function)
        found = inspect.getclosurevars(function)
        assert not found.nonlocals
        for name, value in found.globals.items():
            assert inspect.ismodule(value) or callable(value) or isinstance(value, int | float), name
            if inspect.isfunction(value):
                assert value.__module__.split(".")[:2] == ["dprl", "algorithms"], name
                pending.append(value)


@pytest.mark.parametrize("key", ALGORITHMS)
def test_plan_is_a_function_of_what_was_released(key: str) -> None:
    """The loop is run on different users in different environments, with a release step that always publishes the
    same: then everything the learner holds is the same, whatever the true counts are."""
    learner = ALGORITHMS[key]
    rng = np.random.default_rng(0)
    spec = RunSpec(
        environment="random", environment_params={"S": 3, "A": 2, "H": 3}, algorithm=key,
        privacy=learner.privacies[0], episodes=300, schedule="geometric:0.3", seeds=1,
    )  # fmt: skip
    times = SeedRun(spec, 0, plain=True).times
    publications = rng.integers(1, 100, size=(len(times), 3, 3, 2, 5)).astype(float)
    publications[..., 3] = publications[..., :3].sum(-1)

    def learner_after(seed: int, environment_seed: int) -> tuple[list[Array], Array]:
        params = {**spec.environment_params, "seed": environment_seed}
        run = SeedRun(spec.replace(environment_params=params), seed, plain=True)
        run.state = run.state._replace(released=np.zeros_like(run.state.counts))  # not the counts themselves
        number = iter(range(len(times)))

        def publish(noisy: Array, error: float, released: Array) -> None:
            released[...] = publications[next(number)]

        seen: list[Array] = []

        def plan(released: Array, error: float, constants: Array, Q: Array, V: Array, policy: Array) -> None:
            learner.plan(released, error, constants, Q, V, policy)
            seen.extend([Q.copy(), V.copy(), policy.copy()])

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


@pytest.mark.parametrize("key", ALGORITHMS)
def test_scrambled_counts_change_nothing_once_released(key: str) -> None:
    learner = ALGORITHMS[key]
    spec = small_spec("random", key, learner.privacies[0], None, "practical")
    run = start(spec, 0)
    run.advance(60.0)
    state, course = run.state, run.course
    released = state.released.copy()

    def planned() -> tuple[bytes, ...]:
        Q, V, policy = state.Q.copy(), state.V.copy(), state.policy.copy()
        run._kernels.plan(released, course.error[-1], course.constants, Q, V, policy)
        return Q.tobytes(), V.tobytes(), policy.tobytes()

    before = planned()
    for array in (state.counts, state.noisy, state.noise, state.starts, state.totals):
        array[...] = np.random.default_rng(1).permutation(array.ravel()).reshape(array.shape) + 1
    assert planned() == before


def test_the_loop_hands_the_planner_released_counts() -> None:
    """Line by line: `plan` is called once in the loop, and `state.counts` is not among its arguments."""
    calls = [
        line.strip()
        for line in inspect.getsource(engine.simulate).splitlines()
        if line.strip().startswith("plan(")
    ]
    assert calls == [
        "plan(state.released, course.error[i], course.constants, state.Q, state.V, state.policy)"
    ]
    assert "counts" not in algorithm.SIGNATURE


def test_parameters_of_algorithms_take_effect() -> None:
    """Every field of every algorithm changes its constants under some bonus; nothing is offered that does nothing."""
    for key, learner in ALGORITHMS.items():
        for field in learner.fields:
            other = (
                next(c for c in field.choices if c != field.default) if field.choices else field.default * 2
            )
            changed = False
            both: list[Array]
            for bonus in learner.bonuses:
                both = [
                    learner.constants(
                        Problem(3, 4, 2, 100, 0.1, bonus, check_params("p", key, learner.fields, given))
                    )
                    for given in ({}, {field.name: other})
                ]
                assert both[0].dtype == np.float64
                assert both[0].ndim == 1
                changed |= not np.array_equal(both[0], both[1])
            assert changed, (key, field.name)
