"""The compiled part of batches.py, the loop of learners that request one regression per step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from dprl.engine import compiled, function_type, kernel, rng_type, type_of
from dprl.learners import ALGORITHMS
from dprl.learners.linear.value_iteration import (
    ValueIterationLearner,
    ValueIterationPlan,
    ValueIterationPlanner,
    next_block,
)
from dprl.mdp import planning
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, mechanisms
from dprl.simulation.blocks import EXAMPLE, Model
from dprl.simulation.loops.play import Record, follow, note_release, play_to
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints
from dprl.statistics.feature_gram import design, hide_matrices, hide_vector, moved, regressed


class BatchSetup(NamedTuple):
    """The values that are fixed before a run starts; fields not listed here are as in replan_kernels.py.

    Attributes:
        batch: the number of users in a batch; 0 without privacy, when the releases determine the blocks.
        most: the largest size of such a block, relative to the users so far.
        leaves, batches: the stream of releases, see privacy/mechanisms/mechanism.py.
        once: the leaves of a stream of one item, for noise that is drawn afresh.
        bound: the bound on a draw [M]. shift, pull: the bounds in use on the noise of a matrix and of a vector [M].
        features: [S, A, d], d1: [S], both public and passed to the learner.
        scales: the scale of the noise in each number [cells].
    """

    K: int
    releases: int
    batch: int
    most: float
    leaves: Ints
    batches: Array
    once: Ints
    bound: Array
    shift: Array
    pull: Array
    targets: Ints
    features: Array
    constants: Array
    scales: Array
    V_star: Array
    d1: Array
    alphas: Array
    walk_below: int


class BatchState(NamedTuple):
    """The arrays that the loop changes; fields not listed here are as in replan_kernels.py.

    Attributes:
        position: releases made, users so far, unused, points recorded, targets passed [5].
        counts: the curator's counts of all users [H, S, A, S + 2].
        sums, noisy: [H, 1, d, d + 1], the same array if there is no noise.
        moved: transitions of all users, without privacy [H, d, S].
        noise: unit noise of the matrices [H d (d + 1)/2]; fresh: unit noise of a vector [d].
        policy: the plan's actions [H, S].
    """

    position: Ints
    counts: Array
    sums: Array
    noisy: Array
    moved: Array
    noise: Array
    fresh: Array
    memory: Array
    plan: ValueIterationPlan
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
    setup: BatchSetup,
    state: BatchState,
    record: Record,
    step: Callable[..., None],
    add_noise: Callable[..., None],
    add_anew: Callable[..., None],
) -> None:
    """Simulate users and make up to `count` releases; stop after the first release at or beyond `until` users."""
    position = state.position
    for _ in range(count):
        made, users = position[0], position[1]
        if users >= until:
            break
        now = min(setup.K, users + setup.batch)
        if setup.batch == 0:
            moved(state.counts, setup.features, state.moved)
            now = next_block(setup.most, users, setup.K, setup.d1, setup.features, state.moved, state.plan)
        play_to(now, users_rng, model, setup, state, record)
        release_matrices(made, noise_rng, setup, state, add_noise)
        answer_steps(made, now, noise_rng, setup, state, step, add_anew)
        position[0] = made + 1
        note_release(setup, state, record)
        follow(model, state)


@kernel
def release_matrices(
    made: int,
    noise_rng: np.random.Generator,
    setup: BatchSetup,
    state: BatchState,
    add_noise: Callable[..., None],
) -> None:
    """Sum the feature matrices of all users so far, and add noise to them."""
    design(state.counts, setup.features, state.sums)
    if setup.scales[0] > 0.0:
        add_noise(made, setup.leaves, setup.batches, state.memory, noise_rng, state.noise)
        worst = hide_matrices(state.sums, state.noise, setup.scales, state.noisy)
        state.totals[1] = max(state.totals[1], worst / setup.bound[made])


@kernel
def answer_steps(
    made: int,
    users: int,
    noise_rng: np.random.Generator,
    setup: BatchSetup,
    state: BatchState,
    step: Callable[..., None],
    add_anew: Callable[..., None],
) -> None:
    """Answer the learner's regression queries, from the last step to the first.

    `step` receives only released sums and public facts, which is why it is private. users: 0 before the first release.
    """
    plan, hidden = state.plan, setup.scales[0] > 0.0 and users > 0
    shift, pull = 0.0, 0.0
    if hidden:
        shift, pull = setup.shift[made], setup.pull[made]
    for h in range(state.policy.shape[0] - 1, -1, -1):
        regressed(state.counts, h, setup.features, plan.V, plan.middle, plan.unit, state.sums)
        if hidden:
            for i in range(state.fresh.shape[0]):
                state.fresh[i] = 0.0
            add_anew(0, setup.once, setup.batches, state.memory, noise_rng, state.fresh)
            worst = hide_vector(state.sums, h, state.fresh, setup.scales, state.noisy)
            state.totals[1] = max(state.totals[1], worst / setup.bound[made])
        step(h, state.noisy, shift, pull, users, setup.features, setup.constants, plan)


class BatchKernels(NamedTuple):
    """The functions that the loop calls, either all compiled or all in plain Python."""

    simulate: Callable[..., None]
    answer: Callable[..., None]
    step: Callable[..., None]
    add_noise: Callable[..., None]
    add_anew: Callable[..., None]
    evaluate: Callable[..., None]


def planner_of(spec: RunSpec) -> ValueIterationPlanner:
    return cast(ValueIterationLearner, ALGORITHMS[spec.algorithm]).planner(spec.bonus)


def kernels_of(spec: RunSpec, plain: bool = False) -> BatchKernels:
    """Return the functions that a run's loop calls, compiled unless `plain` is true."""
    mechanism = MECHANISMS.get(spec.mechanism or "")
    found = BatchKernels(
        simulate,
        answer_steps,
        planner_of(spec).step,
        mechanism.add_noise if mechanism else mechanisms.no_noise,
        mechanisms.alone(mechanism).add_noise if mechanism else mechanisms.no_noise,
        planning.evaluate,
    )
    if plain:
        return found
    return BatchKernels(*(compiled(f, signature) for f, signature in zip(found, _signatures(), strict=True)))


@cache
def _signatures() -> tuple[Any, ...]:
    """Return the numba types of all `BatchKernels`, inferred from small example arguments."""
    f, i = np.zeros, np.zeros(1, dtype=np.int64)
    f1, f2, f3, f4, i2 = f(1), f((1, 1)), f((1, 1, 1)), f((1, 1, 1, 1)), np.zeros((1, 1), dtype=np.int64)
    setup = BatchSetup(1, 1, 1, 1.0, i, f2, i, f1, f1, f1, i, f3, f1, f1, f1, f1, f1, 1)
    plan = ValueIterationPlan(f3, f2, i2, f1, f1, f4, f4, f3, f3, f1)
    state = BatchState(i, f4, f4, f4, f3, f1, f1, f2, plan, i2, i2, f2, i, i, i, f1, i)
    model, record = type_of(EXAMPLE), type_of(Record(i, f1, f1, f1, i2))
    whole, number, rng = type_of(1), type_of(1.0), rng_type()
    public = (type_of(setup.features), type_of(setup.constants))
    step = type_of(None)(whole, type_of(state.noisy), number, number, whole, *public, type_of(plan))
    called, noise = function_type(step), function_type(mechanisms.SIGNATURE)
    records = (type_of(setup), type_of(state))
    return (
        type_of(None)(whole, whole, rng, rng, model, *records, record, called, noise, noise),
        type_of(None)(whole, whole, rng, *records, called, noise),
        step,
        mechanisms.SIGNATURE,
        mechanisms.SIGNATURE,
        planning.EVALUATE,
    )
