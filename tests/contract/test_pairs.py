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
from dprl.fields import check_params
from dprl.learners import PUBLIC, Problem
from dprl.learners.elimination.eliminator import EliminationLearner
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp.counts import rewards, transitions, visits
from dprl.mdp.tabular import Array
from dprl.simulation import EliminationRun, SeedRun, schedules, start
from dprl.statistics import CONSISTENT
from tests.problems import fits, small_params

BONUSES = ("practical", "paper")
CALIBRATIONS = ("tight", "paper")
RUNS = [
    *product(ALGORITHMS, PRIVATIZERS, [None, *MECHANISMS], [None]),
    *product(ALGORITHMS, PRIVATIZERS, MECHANISMS, CALIBRATIONS),
]
LEARNERS = [key for key, a in ALGORITHMS.items() if a.loop == "replan"]


def goes_together(
    algorithm_key: str, privacy: str, mechanism: str | None, calibration: str | None
) -> set[str]:
    """What the registries say does not: names of fields. Without privacy mechanism and calibration are ignored."""
    if privacy not in ALGORITHMS[algorithm_key].privacies:
        return {"privacy"}
    if privacy == "none" or mechanism is None:
        return set()
    if mechanism not in PRIVATIZERS[privacy].mechanisms:
        return {"mechanism"}
    return set() if calibration in (None, *MECHANISMS[mechanism].calibrations) else {"calibration"}


def small_spec(
    environment: str,
    algorithm_key: str,
    privacy: str,
    mechanism: str | None = None,
    calibration: str | None = None,
    bonus: str = "practical",
    **more: Any,
) -> RunSpec:
    given: dict[str, Any] = {
        "environment_params": small_params(environment),
        "episodes": 5000,
        "schedule": "geometric:0.1",
        "epsilon": 5.0,
    } | more
    return RunSpec(
        environment=environment,
        algorithm=algorithm_key,
        privacy=privacy,
        mechanism=mechanism,
        calibration=calibration,
        bonus=bonus,
        seeds=1,
        **given,
    )


@pytest.mark.parametrize(("algorithm_key", "privacy", "mechanism", "calibration"), RUNS)
def test_runs_or_is_refused(
    algorithm_key: str, privacy: str, mechanism: str | None, calibration: str | None
) -> None:
    """On every environment, with every bonus; where all goes together, short, long, walked and sampled runs."""
    learner = ALGORITHMS[algorithm_key]
    wrong = goes_together(algorithm_key, privacy, mechanism, calibration)
    for environment, bonus in product(ENVIRONMENTS, BONUSES):
        refused = set(wrong)
        if bonus not in learner.bonuses:
            refused.add("bonus")
        if not fits(learner, environment, small_params(environment)):
            refused.add("algorithm")
        if refused:
            with pytest.raises(SpecError) as error:
                small_spec(environment, algorithm_key, privacy, mechanism, calibration, bonus)
            assert error.value.field in refused
            assert str(error.value).isprintable()
            assert str(error.value).endswith(".")
            continue
        for more in ways(environment, privacy, mechanism, calibration, bonus):
            if learner.schedule and more.get("episodes", 5000) < 100:
                with pytest.raises(SpecError, match="too few for a stage") as error:
                    small_spec(environment, algorithm_key, privacy, mechanism, calibration, bonus, episodes=1)
                assert error.value.field == "episodes"
                continue
            spec = small_spec(environment, algorithm_key, privacy, mechanism, calibration, bonus, **more)
            run = start(spec, 2)
            while not run.advance(60.0):
                pass
            check(spec, run.trace())


def ways(
    environment: str, privacy: str, mechanism: str | None, calibration: str | None, bonus: str
) -> list[dict[str, Any]]:
    """Episodes and schedules. All of them on random MDPs; one, which samples and walks, on the others. Where the
    mechanism is ignored or chosen by default one environment will do: it is run under its own name too."""
    every: list[dict[str, Any]] = [
        {},
        {"episodes": 1},
        {"episodes": 70, "schedule": "episodic"},
        {"episodes": 10**14, "schedule": "geometric:0.3"},
    ]
    ignored = privacy == "none" and (mechanism, calibration) != (None, None)
    default = privacy != "none" and None in (mechanism, calibration)
    if ignored or default:
        return every[:1] if environment == "random" else []
    if environment == "random":
        return every
    # shuffled bits take a second to account for; printed noise meets the printed bonus, tight noise the practical one
    spared = privacy == "shuffle" and (calibration == "paper") != (bonus == "paper")
    return [] if spared else every[-1:]


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
    staged = ALGORITHMS[spec.algorithm].loop == "eliminate"
    for times in (trace.episodes, trace.detail_episodes):
        assert (np.diff(times) > 0).all()
        if staged and times is trace.detail_episodes:
            assert all(len(values) == D for values in trace.series.values())
            continue  # ends of stages: of none, if K is small
        assert times[0] >= 1
        assert times[-1] == K
    assert C <= 201
    assert D <= 50
    assert bool(trace.series) == staged

    # regret
    most = float(trace.optimal_V[0].max())
    blocks = np.diff(trace.episodes, prepend=0).astype(float)
    steps = np.diff(trace.regret, prepend=0.0)
    assert (steps >= -1e-12 * trace.regret[-1]).all()
    assert (steps <= blocks * most * (1 + 1e-9)).all()
    assert ((trace.gap >= 0) & (trace.gap <= most * (1 + 1e-9))).all()
    assert trace.v_star == pytest.approx(mdp.d1 @ trace.optimal_V[0])
    assert (np.diff(trace.pac_count, axis=0) >= 0).all()
    assert (np.diff(trace.pac_count, axis=1) <= 0).all()  # fewer episodes are worse by more
    assert (trace.pac_count <= trace.episodes[:, None]).all()

    # true counts are those of as many whole episodes; in stages, of the users of one batch
    m, n, r = transitions(trace.counts), visits(trace.counts), rewards(trace.counts)
    np.testing.assert_array_equal(m.sum(-1), n)
    users = n[:, 0].sum((1, 2))
    assert (users <= trace.detail_episodes).all() if staged else (users == trace.detail_episodes).all()
    np.testing.assert_array_equal(n.sum((2, 3)), np.repeat(users[:, None], H, 1))
    np.testing.assert_array_equal(m.sum((2, 3))[:, :-1], n.sum(-1)[:, 1:])
    assert ((r >= 0) & (r <= n)).all()

    # what was released
    if spec.privacy == "none":
        assert not trace.coverage_ratio.any()
        assert not trace.error_bound.any()
        np.testing.assert_array_equal(trace.released, trace.counts)
        assert (trace.guarantee.claimed_epsilon, trace.guarantee.proved_epsilon) == (None, None)
    else:
        assert (trace.coverage_ratio >= 0).all()
        assert (trace.coverage_ratio > 0).all() or staged  # whose first users come before the first release
        assert (np.diff(trace.coverage_ratio) >= 0).all()
        assert (trace.error_bound > 0).all()
        # shuffled bits are whole numbers, and may cancel
        assert (trace.noisy != trace.counts).mean() > (0.5 if spec.privacy == "shuffle" else 0.9999) or D == 0
        if spec.privacy == "shuffle" and spec.environment != "custom":
            np.testing.assert_array_equal(rewards(trace.counts), np.round(rewards(trace.counts)))
        assert trace.guarantee.claimed_epsilon == spec.epsilon
        assert trace.guarantee.proved_epsilon is not None
        if spec.calibration == "tight":
            assert trace.guarantee.proved_epsilon <= (spec.epsilon or 0.0) * (1 + 1e-9)
        if ALGORITHMS[spec.algorithm].statistic == CONSISTENT:
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
    if staged:  # one policy, evaluated in the refined model
        chosen = np.take_along_axis(trace.Q, trace.policy[..., None].astype(int), -1)[..., 0]
        np.testing.assert_array_equal(trace.V, chosen)
    else:
        np.testing.assert_array_equal(trace.V, trace.Q.max(-1))
        np.testing.assert_array_equal(trace.policy, trace.Q.argmax(-1))
    assert trace.policy.dtype == np.int16
    np.testing.assert_allclose(trace.occupancy.sum(-1), 1.0)
    np.testing.assert_allclose(trace.optimal_occupancy.sum(-1), 1.0)
    np.testing.assert_allclose(trace.optimism, (trace.Q >= trace.optimal_Q - 1e-9).mean((1, 2, 3)))
    if spec.bonus == "paper" and not staged:
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


@pytest.mark.parametrize("key", LEARNERS)
def test_planner_and_constants_have_no_other_way_to_data(key: str) -> None:
    """Arguments: released counts and public numbers. Nothing is closed over; globals are functions and constants."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, TabularLearner)
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
        "epsilon",
        "calibration",
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
                assert value.__module__.split(".")[:2] == ["dprl", "learners"], name
                pending.append(value)


@pytest.mark.parametrize("key", LEARNERS)
def test_plan_is_a_function_of_what_was_released(key: str) -> None:
    """The loop is run on different users in different environments, with a release step that always publishes the
    same: then everything the learner holds is the same, whatever the true counts are."""
    learner = ALGORITHMS[key]
    assert isinstance(learner, TabularLearner)
    rng = np.random.default_rng(0)
    spec = RunSpec(
        environment="random", environment_params={"S": 3, "A": 2, "H": 3}, algorithm=key,
        privacy=learner.privacies[0], episodes=300, schedule="geometric:0.3", seeds=1,
    )  # fmt: skip
    times = schedules.times("geometric:0.3", 300)
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


@pytest.mark.parametrize("key", LEARNERS)
def test_scrambled_counts_change_nothing_once_released(key: str) -> None:
    learner = ALGORITHMS[key]
    spec = small_spec("random", key, learner.privacies[0])
    run = SeedRun(spec, 0)
    run.advance(60.0)
    state, setup = run.state, run.setup
    released = state.released.copy()

    def planned() -> tuple[bytes, ...]:
        Q, V, policy = state.Q.copy(), state.V.copy(), state.policy.copy()
        run._kernels.plan(released, setup.error[-1], setup.constants, Q, V, policy)
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

    learned: list[Any] = [state.released, setup.constants, state.Q, state.V, state.policy]
    run._kernels = run._kernels._replace(
        plan=watched("plan", learned, run._kernels.plan),
        next_release=watched(
            "next_release", [state.released, setup.settings, state.policy], run._kernels.next_release
        ),
    )
    assert run.advance(60.0)
    assert handed["plan"] == state.position[0] > 10
    assert handed["next_release"] == handed["plan"] - 1  # the last release is that of the last user


ELIMINATORS = [key for key, a in ALGORITHMS.items() if a.loop == "eliminate"]


def reachable(root: Any) -> list[Any]:
    """Everything that can be got at from an object: attributes, items, what functions close over."""
    found: list[Any] = []
    seen: set[int] = set()
    pending = [root]
    while pending:
        value = pending.pop()
        if (
            id(value) in seen
            or inspect.ismodule(value)
            or isinstance(value, type | str | bytes | int | float)
        ):
            continue
        seen.add(id(value))
        found.append(value)
        if isinstance(value, np.ndarray):
            if value.base is not None:
                pending.append(value.base)
            continue
        if isinstance(value, dict):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            pending += value
        elif inspect.isfunction(value):
            pending += [cell.cell_contents for cell in value.__closure__ or ()]
        elif inspect.ismethod(value):
            pending.append(value.__self__)
        if type(value).__module__.startswith("dprl."):
            pending += vars(value).values() if hasattr(value, "__dict__") else []
    return found


@pytest.mark.parametrize("key", ELIMINATORS)
def test_nothing_an_eliminator_holds_is_the_model_or_true_counts(key: str) -> None:
    """After every call: no array of the model, nor of counts before their noise, can be got at from it."""
    learner = ALGORITHMS[key]
    spec = small_spec(
        "random", key, learner.privacies[0], environment_params={"S": 2, "A": 2, "H": 2}, episodes=500
    )
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
    sizes = {"S": 2, "A": 2, "H": 2}

    def proposals(seed: int, environment_seed: int) -> tuple[list[bytes], Array]:
        params = {**sizes, "seed": environment_seed}
        run = EliminationRun(
            small_spec("random", key, learner.privacies[0], environment_params=params, episodes=10**6), seed
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
        run = start(small_spec("random", key, "none", environment_params={"S": 2, "A": 2, "H": 2}), 0)
        assert run.trace().guarantee.public == tuple(PUBLIC[name] for name in learner.public)


def test_parameters_of_algorithms_take_effect() -> None:
    """Every field of every learner changes its constants under some bonus, and under no other that `when` says."""
    for key, learner in ALGORITHMS.items():
        if not isinstance(learner, TabularLearner):
            continue  # see tests/simulation/test_stages.py
        for field in learner.fields:
            other = (
                next(c for c in field.choices if c != field.default) if field.choices else field.default * 2
            )
            changed = False
            both: list[Array]
            for bonus in learner.bonuses:
                both = [
                    learner.constants(
                        Problem(
                            3,
                            4,
                            2,
                            100,
                            0.1,
                            1.0,
                            "tight",
                            bonus,
                            check_params("p", key, learner.fields, given),
                        )
                    )
                    for given in ({}, {field.name: other})
                ]
                assert both[0].dtype == np.float64
                assert both[0].ndim == 1
                differ = not np.array_equal(both[0], both[1])
                assert not differ or not field.when or bonus == "practical", (key, field.name)
                changed |= differ
            assert changed, (key, field.name)
            if learner.noise_weight:
                assert (
                    learner.noise_weight(
                        Problem(
                            3,
                            4,
                            2,
                            100,
                            0.1,
                            1.0,
                            "tight",
                            "paper",
                            {**check_params("p", key, learner.fields, {})},
                        )
                    )
                    > 0
                )
