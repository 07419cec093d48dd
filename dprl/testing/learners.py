"""Checks of a tabular learner: what it is handed, what it makes of that, and that it holds nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dprl.kernels import compiled
from dprl.learners import ALGORITHMS, NEEDED, Problem
from dprl.learners.tabular import planner
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import Size
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, SeedRun, schedules
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Trace
from dprl.statistics import NOISY, REPLACE_ONE
from dprl.testing import seen
from dprl.testing.report import NOT_COMPILED, Report, offered, own_key, require, run_checks, texts

SIZE = Size(3, 2, 3)
WORLD = {"S": SIZE.S, "A": SIZE.A, "H": SIZE.H}
SCHEDULE = "geometric:0.3"
BONUSES = ("anytime", "paper", "practical", planner.OWN)
GIVEN = ("released", "errors", "possible", "constants", "Q", "V", "policy")
ROOMS = ("dprl.learners", "dprl.mdp.structure", "dprl.mdp.planning", "dprl.kernels")
SIZES = (0.0, 3.0, 10.0, 30.0, 100.0, 1e4, 1e9)  # of counts, many of which a rounding has to show in
# A long time in seconds: nothing here takes as long.
LONG = 1e9


def check_learner(learner: TabularLearner, *, compiles: bool = True) -> Report:
    """Check an online tabular learner, registered or not, in plain Python on problems of 3 states.

    - record: keys, texts, privacy models and bonuses are known.
    - arguments: `plan` and `constants` have the ones that the loop gives.
    - no other way to data: they close over nothing, and see no module or global that could hold data.
    - sensitivity: one user moves the statistic by no more than it says.
    - handed: the loop hands `plan` arrays that were released, or its own.
    - function of what was released: with other users in another environment, the same releases give the same plans.
    - scrambled counts: after a release, true counts change nothing.
    - arrays left alone: `plan` writes into Q, V and policy alone.
    - values: Q, V and policy are finite and in their ranges.
    - repeats: one seed has the same bits, whatever ran before it.
    - same bits compiled: on released counts made at random.

    Args:
        learner: its record.
        compiles: False while `plan` is still plain NumPy that numba need not know.

    Returns:
        The checks that were passed.

    Raises:
        CheckFailed: by the first check that was not, in a sentence.
        ValueError: it is no tabular learner.
    """
    if not isinstance(learner, TabularLearner):
        raise ValueError("learner: only a TabularLearner can be checked; give its record.")
    checks = [
        record, arguments, no_other_way_to_data, sensitivity, handed, function_of_what_was_released, scrambled_counts,
        arrays_left_alone, values, repeats,
    ]  # fmt: skip
    if compiles:
        checks.append(same_bits_compiled)
    own_key(ALGORITHMS, learner)
    with offered(ALGORITHMS, learner, FIELDS, "algorithm"):
        report = run_checks(learner, checks)
    return report if compiles else replace(report, left=(f"same bits compiled: {NOT_COMPILED}",))


def run_plain(spec: RunSpec) -> Trace:
    """Run every seed of a spec of a tabular learner as ordinary Python: the same bits as `dprl.run`, far slower.

    Nothing is compiled, so that a learner's `plan` may use any of NumPy while it is being written.

    Raises:
        ValueError: the algorithm is no tabular learner.
    """
    if not isinstance(ALGORITHMS[spec.algorithm], TabularLearner):
        raise ValueError(f"algorithm: {spec.algorithm} is no tabular learner; give one that is.")
    traces = []
    for seed in range(spec.seeds):
        run = SeedRun(spec, seed, plain=True)
        while not run.advance(LONG):
            pass
        traces.append(run.trace())
    return Trace(spec, tuple(traces))


# ---- what it is


def record(learner: TabularLearner) -> None:
    """Keys, texts, privacy models and bonuses are known."""
    missing = [name for name in NEEDED if not hasattr(learner, name)]
    require(not missing, f"it has no {', '.join(missing)}")
    texts(learner)
    require(learner.privacies, "privacies: give at least one")
    unknown = set(learner.privacies) - PRIVATIZERS.keys()
    require(not unknown, f"privacies: {', '.join(unknown)} is none of {', '.join(PRIVATIZERS)}")
    require("none" in learner.privacies, "privacies: none is missing, the baseline that cost is counted from")
    require(
        learner.bonuses and set(learner.bonuses) <= set(BONUSES),
        f"bonuses: give some of {', '.join(BONUSES)}",
    )
    for field in learner.fields:
        require(field.check(field.default) == field.default, f"fields: {field.name} has no allowed default")


def expected_arguments(learner: TabularLearner) -> list[str]:
    """The arguments that the loop calls `plan` with."""
    found = list(GIVEN)
    if learner.stochastic:
        found.insert(4, "users")
    return found


def arguments(learner: TabularLearner) -> None:
    """`plan` and `constants` have the arguments that the loop gives."""
    for bonus in learner.bonuses:
        plan, constants = learner.planner(bonus)
        told = ", ".join(expected_arguments(learner))
        require(
            seen.argument_names(plan) == expected_arguments(learner),
            f"plan takes ({', '.join(seen.argument_names(plan))}); give ({told})",
        )
        named = seen.argument_names(constants)
        require(len(named) == 1, f"constants takes ({', '.join(named)}); give one argument, the problem")


def no_other_way_to_data(learner: TabularLearner) -> None:
    """Nothing is closed over; globals are functions and constants."""
    functions = [function for bonus in learner.bonuses for function in learner.planner(bonus)]
    own = [f.__module__ for f in functions if not f.__module__.startswith("dprl.")]
    seen.no_other_way(functions, [*ROOMS, *(module.rpartition(".")[0] or module for module in own), *own])


def sensitivity(learner: TabularLearner) -> None:
    """One user who is replaced moves the statistic by no more than it says, of all pairs of trajectories in a small
    problem."""
    small = Size(2, 1, 2)
    for bonus in learner.bonuses:
        seen_by = learner.seen(bonus)
        stated = seen_by.sensitivity(small, REPLACE_ONE)
        users = [_user(small, seen_by.visits, seen_by.reward, *one) for one in _trajectories(small)]
        moved = [a - b for a, b in itertools.combinations(users, 2)]
        l1 = max(float(np.abs(move).sum()) for move in moved)
        l2 = max(float((move * move).sum()) for move in moved)
        for name, most, said in (("L1 norm", l1, stated.l1), ("squared L2 norm", l2, stated.l2_squared)):
            require(most <= said * (1 + 1e-12), f"one user moves an {name} of {most:g}, and it says {said:g}")


def _trajectories(size: Size) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    states = itertools.product(range(size.S), repeat=size.H + 1)
    return itertools.product(states, itertools.product((0, 1), repeat=size.H))


def _user(size: Size, visits: float, reward: float, states: tuple[int, ...], paid: tuple[int, ...]) -> Array:
    """What a user of one action adds to the counts, in the units in which they are released."""
    added = np.zeros((size.H, size.S, size.S + 2))
    for h, (s, x) in enumerate(itertools.pairwise(states)):
        added[h, s, x] += 1.0
        added[h, s, size.S] += visits
        added[h, s, size.S + 1] += reward * paid[h]
    return added


# ---- what it is handed, and what it makes of it


def small_spec(learner: TabularLearner, bonus: str, **more: Any) -> RunSpec:
    """A run of 300 users of a small problem, with the learner's first privacy model."""
    given: dict[str, Any] = {
        "environment_params": WORLD,
        "privacy": learner.privacies[0],
        "episodes": 300,
    } | more
    return RunSpec(
        environment="random", algorithm=learner.key, bonus=bonus, schedule=SCHEDULE, seeds=1, **given
    )


def handed(learner: TabularLearner) -> None:
    """Every array that plan and schedule are called with is the loop's array of released counts, or the learner's own;
    with privacy none shares memory with true counts."""
    run = SeedRun(small_spec(learner, learner.bonuses[-1]), 0, plain=True)
    state, setup = run.state, run.setup
    private = learner.privacies[0] != "none"
    calls = {"plan": 0, "next_release": 0}

    def watched(name: str, known: list[Any], call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            calls[name] += 1
            hidden = (state.counts, state.noisy) if private else ()
            seen.only_known((x for x in given if isinstance(x, np.ndarray)), known, hidden)
            others = [x for x in given if not isinstance(x, np.ndarray | int | float | np.integer)]
            kinds = ", ".join(type(x).__name__ for x in others)
            require(not others, f"{name} is handed a {kinds}; constants have to be an array of floats")
            return call(*given)

        return called

    possible = run.model.possible
    np.testing.assert_array_equal(possible, every_state(run.mdp.S))  # nothing is declared
    own = [state.errors, possible, setup.constants, state.Q, state.V, state.policy]
    pace = [state.released, state.pace, setup.settings, possible, state.policy]
    run._kernels = run._kernels._replace(
        plan=watched("plan", [state.released, *own], run._kernels.plan),
        next_release=watched("next_release", pace, run._kernels.next_release),
    )
    while not run.advance(LONG):
        pass
    require(calls["plan"] == state.position[0] > 5, "it was not asked for a plan at each release")
    require(calls["next_release"] == calls["plan"] - 1, "the last release is not that of the last user")


def function_of_what_was_released(learner: TabularLearner) -> None:
    """The loop is run on other users in other environments, with releases that are always the same: then everything
    the learner holds is the same, whatever the true counts are."""
    for bonus in learner.bonuses:
        first, counts = _plans(learner, bonus, 0, 0)
        for seed, world in ((0, 0), (1, 0), (2, 7)):
            other, others = _plans(learner, bonus, seed, world)
            require((seed, world) == (0, 0) or not np.array_equal(counts, others), "users are alike")
            for ours, theirs in zip(first, other, strict=True):
                require(
                    np.array_equal(ours, theirs, equal_nan=True),
                    f"{_with(learner, bonus)}the same releases gave two plans: it depends on something else",
                )


def _with(learner: TabularLearner, bonus: str) -> str:
    """Which of several bonuses it was."""
    return f"with bonus {bonus}, " if len(learner.bonuses) > 1 else ""


def _plans(learner: TabularLearner, bonus: str, seed: int, world: int) -> tuple[list[Array], Array]:
    """What is planned from releases that are always the same, and the true counts in the end."""
    rng = np.random.default_rng(0)
    times = schedules.times(SCHEDULE, 300)
    publications = rng.integers(1, 100, size=(len(times), SIZE.H, SIZE.S, SIZE.A, SIZE.S + 2)).astype(float)
    publications[..., SIZE.S] = publications[..., : SIZE.S].sum(-1)
    run = SeedRun(small_spec(learner, bonus, environment_params={**WORLD, "seed": world}), seed, plain=True)
    run.state = run.state._replace(released=np.zeros_like(run.state.counts))  # not the counts themselves
    number = iter(range(len(times)))

    def publish(noisy: Array, errors: Array, tau2: Array, released: Array) -> None:
        released[...] = publications[next(number)]

    found: list[Array] = []
    plans = learner.planner(bonus).plan

    def plan(*given: Any) -> None:
        plans(*given)
        found.extend(learned.copy() for learned in given[-3:])

    run._kernels = run._kernels._replace(publish=publish, plan=plan)
    while not run.advance(LONG):
        pass
    require(len(found) == 3 * len(times), "it was not asked for a plan at each release")
    return found, run.state.counts


def scrambled_counts(learner: TabularLearner) -> None:
    """Once counts are released, the true ones change nothing about a plan."""
    run = SeedRun(small_spec(learner, learner.bonuses[-1]), 0, plain=True)
    while not run.advance(LONG):
        pass
    state, setup = run.state, run.setup
    released, errors = state.released.copy(), state.errors.copy()

    def planned() -> tuple[bytes, ...]:
        Q, V, policy = state.Q.copy(), state.V.copy(), state.policy.copy()
        own = (7,) if policy.ndim == 3 else ()
        run._kernels.plan(released, errors, every_state(SIZE.S), setup.constants, *own, Q, V, policy)
        return Q.tobytes(), V.tobytes(), policy.tobytes()

    before = planned()
    for array in (state.counts, state.noisy, state.noise, state.starts, state.totals):
        array[...] = np.random.default_rng(1).permutation(array.ravel()).reshape(array.shape) + 1
    require(planned() == before, "true counts that were scrambled after their release changed the plan")


def _cases(learner: TabularLearner) -> Iterator[tuple[str, list[Any]]]:
    """Arguments of `plan`, for each bonus: counts of several sizes, some of them below one, and with noise, which are
    no whole numbers and, as they are released, may be below 0."""
    rng = np.random.default_rng(3)
    noises = (0.0,) if set(learner.privacies) <= {"none"} else (0.0, 5.0)
    for bonus, much, error in itertools.product(learner.bonuses, SIZES, noises):
        H, S, A = SIZE.H, SIZE.S, SIZE.A
        m = np.floor(rng.exponential(much, size=(H, S, A, S)))
        if error:
            noise = rng.normal(0.0, 2.0, size=m.shape)
            m = m + noise if learner.seen(bonus) is NOISY else np.maximum(m + noise, 0.0)
        n = m.sum(-1, keepdims=True)
        r = n * rng.random(n.shape)
        released = np.ascontiguousarray(np.concatenate([m, n, r if error else np.floor(r)], axis=-1))
        params = {field.name: field.default for field in learner.fields}
        private = error > 0
        problem = Problem(
            H, S, A, 10**6, 0.1, 1.0 if private else None, "tight" if private else None, bonus, params,
            None, (1.0, 1.0) if private else (),
        )  # fmt: skip
        policy: Any = np.zeros((H, S), dtype=np.int64)
        own: list[Any] = []
        if learner.stochastic:
            policy, own = np.full((H, S, A), -np.log(A)), [7]
        constants = learner.planner(bonus).constants(problem)
        given = [released, np.full((H, S, A), error), every_state(S), constants, *own]
        yield bonus, [*given, np.full((H, S, A), float(H)), np.zeros((H + 1, S)), policy]


def arrays_left_alone(learner: TabularLearner) -> None:
    """`plan` writes into Q, V and policy alone."""
    for bonus, given in _cases(learner):
        before = [x.copy() if isinstance(x, np.ndarray) else x for x in given[:-3]]
        learner.planner(bonus).plan(*given)
        for name, ours, theirs in zip(expected_arguments(learner), before, given, strict=False):
            require(np.array_equal(ours, theirs), f"plan writes into {name}")


def values(learner: TabularLearner) -> None:
    """Constants are floats in one row; Q and V are finite, actions there are, and no step after the last is worth
    something."""
    for (bonus, given), (_, again) in zip(_cases(learner), _cases(learner), strict=True):
        constants = given[3]
        require(
            np.array_equal(constants, again[3], equal_nan=True),
            "constants: the same problem gave two answers; compute them from the problem alone",
        )
        flat = isinstance(constants, np.ndarray) and constants.dtype == np.float64 and constants.ndim == 1
        require(flat, "constants: give an array of floats with one axis")
        require(np.isfinite(constants).all(), "constants: a number is missing or infinite")
        learner.planner(bonus).plan(*given)
        Q, V, policy = given[-3:]
        require(np.isfinite(Q).all() and np.isfinite(V).all(), "a value is missing or infinite")
        require((V[-1] == 0).all(), "V of the step after the last is not 0")
        if learner.stochastic:
            require(np.allclose(np.exp(policy).sum(-1), 1.0), "chances of actions do not sum to 1")
            continue
        require(((policy >= 0) & (policy < SIZE.A)).all(), f"an action is none of 0 to {SIZE.A - 1}")
        require(Q.min() >= 0 and Q.max() <= SIZE.H, "a value of Q is below 0 or above H")
        require(np.array_equal(V[:-1], Q.max(-1)), "V is not the largest Q of each state")
        require(np.array_equal(policy, Q.argmax(-1)), "the policy is not the lowest action of the largest Q")


def repeats(learner: TabularLearner) -> None:
    """A seed has the same bits, whatever ran before it."""
    bonus = learner.bonuses[0]

    def bits(seed: int) -> tuple[bytes, ...]:
        run = SeedRun(small_spec(learner, bonus), seed, plain=True)
        while not run.advance(LONG):
            pass
        trace = run.trace()
        return trace.regret.tobytes(), trace.Q.tobytes(), trace.policy.tobytes()

    first = bits(0)
    bits(1)
    require(bits(0) == first, "a seed gave other numbers after another seed had run")


def same_bits_compiled(learner: TabularLearner) -> None:
    """Compiled, `plan` has the bits that it has as plain Python."""
    signature = planner.STOCHASTIC if learner.stochastic else planner.SIGNATURE
    for bonus, given in _cases(learner):
        plan = learner.planner(bonus).plan
        machine = compiled(plan, signature)
        again = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
        plan(*given)
        machine(*again)
        for name, ours, theirs in zip(expected_arguments(learner)[-3:], given[-3:], again[-3:], strict=True):
            require(ours.tobytes() == theirs.tobytes(), f"compiled and plain Python differ in {name}")
