"""The compiled part of regress.py, the loop of learners with value-targeted regression."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from dprl.engine import compiled, function_type, kernel, rng_type, type_of
from dprl.learners import ALGORITHMS
from dprl.learners.linear.learner import MixtureLearner, MixturePlan, MixturePlanner, next_block
from dprl.mdp import planning
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, mechanisms
from dprl.privacy.mechanisms import no_noise
from dprl.simulation import schedules
from dprl.simulation.blocks import EXAMPLE, Model
from dprl.simulation.loops.play import Record, follow, note_release, play, play_to
from dprl.simulation.schedules.schedule import GROWTH
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints
from dprl.statistics.value_regression import add_symmetric, gather


class RegressionSetup(NamedTuple):
    """The values that are fixed before a run starts; fields not listed here are as in replan_kernels.py.

    Attributes:
        adapts: whether the schedule decides during the run when to release.
        features: [S, A, S, d], rewards: [H, S, A], d1: [S], all public and passed to the learner.
        scales: the scale of the noise in each number [cells].
    """

    K: int
    releases: int
    adapts: bool
    settings: Array
    of_users: bool
    batches: Array
    by_users: bool
    ends: Ints
    bound: Array
    error: Array
    targets: Ints
    features: Array
    rewards: Array
    constants: Array
    scales: Array
    V_star: Array
    d1: Array
    alphas: Array
    walk_below: int


class RegressionState(NamedTuple):
    """The arrays that the loop changes; fields not listed here are as in replan_kernels.py.

    Attributes:
        counts: the counts of the block's users, emptied at its end [H, S, A, S + 2]; total: the earlier users' counts.
        sums, noisy: [H - 1, families, d, d + 1], the same array if there is no noise.
        policy: the plan's actions [H, S].
    """

    position: Ints
    leaves: Ints
    counts: Array
    total: Array
    sums: Array
    noisy: Array
    noise: Array
    memory: Array
    plan: MixturePlan
    policy: Policy
    played: Policy
    value: Array
    starts: Ints
    here: Ints
    there: Ints
    totals: Array
    pac: Ints


@kernel
def simulate(
    count: int,
    until: int,
    users_rng: np.random.Generator,
    noise_rng: np.random.Generator,
    model: Model,
    setup: RegressionSetup,
    state: RegressionState,
    record: Record,
    growth: Callable[..., float],
    next_release: Callable[..., int],
    make_plan: Callable[..., None],
    add_noise: Callable[..., None],
) -> None:
    """Simulate users and make up to `count` releases; stop after the first release at or beyond `until` users.

    `make_plan` and the schedule receive only released sums and public facts, which is why they are private.
    """
    ends, errors, position = setup.ends, setup.error, state.position
    for _ in range(count):
        made, users, row = position[0], position[1], position[2]
        if users >= until:
            break
        left = setup.releases - made
        now = setup.K
        if left > 1:
            if setup.adapts:
                most = growth(users, left, setup.K, setup.settings)
                if most < 0.0:
                    now = min(setup.K, users + max(1, int(-most * users)))
                else:
                    now = next_block(most, users, setup.K, setup.d1, setup.features, state.plan)
            else:
                now = next_release(
                    users,
                    left,
                    setup.K,
                    setup.settings,
                    state.noisy,
                    np.full(model.R.shape, errors[row]),
                    model.possible,
                    state.policy,
                )
        if setup.adapts:
            play_to(now, users_rng, model, setup, state, record)
        else:
            play(now - users, users_rng, model, setup, state)
            position[1] = now
        absorb(setup, state)

        while ends[row] < (now if setup.by_users else made + 1):
            row += 1
        if setup.scales[0] > 0.0:
            state.leaves[made + 1] = now if setup.of_users else made + 1
            add_noise(made, state.leaves, setup.batches, state.memory, noise_rng, state.noise)
            worst = add_symmetric(state.sums, state.noise, setup.scales, state.noisy)
            state.totals[1] = max(state.totals[1], worst / setup.bound[row])
        position[0], position[2] = made + 1, row
        note_release(setup, state, record)
        make_plan(state.noisy, errors[row], now, setup.features, setup.rewards, setup.constants, state.plan)
        follow(model, state)


@kernel
def absorb(setup: RegressionSetup, state: RegressionState) -> None:
    """Add the counts of the latest block of users to the running sums."""
    H, S, A, width = state.counts.shape
    for h in range(H):
        for s in range(S):
            for a in range(A):
                if state.counts[h, s, a, S] > 0.0:
                    for x in range(width):
                        state.total[h, s, a, x] += state.counts[h, s, a, x]
    plan = state.plan
    gather(state.counts, setup.features, plan.V, plan.middle, plan.unit, plan.worth, state.sums)


class RegressionKernels(NamedTuple):
    """The functions that the loop calls, either all compiled or all in plain Python."""

    simulate: Callable[..., None]
    growth: Callable[..., float]
    next_release: Callable[..., int]
    plan: Callable[..., None]
    add_noise: Callable[..., None]
    evaluate: Callable[..., None]


@kernel
def as_it_likes(users: int, left: int, K: int, settings: Array) -> float:
    """Stand in for `growth`, which the loop never calls if the schedule is fixed in advance."""
    return 1.0


def planner_of(spec: RunSpec) -> MixturePlanner:
    return cast(MixtureLearner, ALGORITHMS[spec.algorithm]).planner(spec.bonus)


def kernels_of(spec: RunSpec, plain: bool = False) -> RegressionKernels:
    """Return the functions that a run's loop calls, compiled unless `plain` is true."""
    mechanism = MECHANISMS.get(spec.mechanism or "")
    schedule, _ = schedules.parse(spec.schedule)
    found = RegressionKernels(
        simulate,
        schedule.growth or as_it_likes,
        schedule.next_release,
        planner_of(spec).plan,
        mechanism.add_noise if mechanism else no_noise,
        planning.evaluate,
    )
    if plain:
        return found
    return RegressionKernels(*(compiled(f, one) for f, one in zip(found, _signatures(), strict=True)))


@cache
def _signatures() -> tuple[Any, ...]:
    """Return the numba types of all `RegressionKernels`, inferred from small example arguments."""
    f, i = np.zeros, np.zeros(1, dtype=np.int64)
    f1, f2, f3, f4, i2 = f(1), f((1, 1)), f((1, 1, 1)), f((1, 1, 1, 1)), np.zeros((1, 1), dtype=np.int64)
    setup = RegressionSetup(1, 1, True, f1, True, f2, True, i, f1, f1, i, f4, f3, f1, f1, f1, f1, f1, 1)
    plan = MixturePlan(f3, f2, i2, f3, f3, f3, f4, f3, f4, f3, f1)
    state = RegressionState(i, i, f4, f4, f4, f4, f1, f2, plan, i2, i2, f2, i, i, i, f1, i)
    records = map(type_of, (EXAMPLE, setup, state, Record(i, f1, f1, f1, i2)))
    whole, number, rng = type_of(1), type_of(1.0), rng_type()
    public = (type_of(setup.features), type_of(setup.rewards), type_of(setup.constants))
    planned = type_of(None)(type_of(state.noisy), number, whole, *public, type_of(plan))
    called = (GROWTH, schedules.SIGNATURE, planned, mechanisms.SIGNATURE)
    loop = type_of(None)(whole, whole, rng, rng, *records, *map(function_type, called))
    return loop, *called, planning.EVALUATE
