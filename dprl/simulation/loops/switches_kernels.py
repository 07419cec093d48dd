"""The compiled part of the loop of learners that plan rarely, with its records of arrays.

The curator keeps the counts of all users. At a look it releases the matrices; where the learner then plans, it answers,
step by step, what the learner asks for, computed anew from these counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from dprl.kernels import kernel
from dprl.learners import ALGORITHMS
from dprl.learners.linear.switching import (
    SwitchingLearner,
    SwitchingPlan,
    SwitchingPlanner,
    doubled,
    may_plan,
    next_look,
)
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.simulation.blocks import Model
from dprl.simulation.loops import asking
from dprl.simulation.loops.asking import AskingKernels
from dprl.simulation.loops.play import Record, follow, note_release, play_to
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints
from dprl.statistics.feature_gram import design, hide_matrices
from dprl.statistics.switched_gram import answered, count, hide_vectors, matrices


class SwitchSetup(NamedTuple):
    """What is fixed before the run starts; what is not said here is as in batches_kernels.py.

    Attributes:
        looks, plans: how often matrices may be released, and how often there may be a plan after the first.
        ridge: of the matrices that are compared.
        shift, pull: [looks] bounds in use on the noise of a matrix and of a vector.
    """

    K: int
    looks: int
    plans: int
    ridge: float
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


class SwitchState(NamedTuple):
    """What the loop changes; what is not said here is as in batches_kernels.py.

    Attributes:
        position: [9], looks made, users so far, not used, points recorded, targets passed, plans made after the first,
            looks made and users so far at the last plan, and the last distance between looks, 0 right after a plan.
        counts: [H, S, A, S + 2], of the users since the last look; total: of all; weighted: what they count.
        looked, shown: [H, 1, d, d + 1], matrices of the last look, without and with noise.
        sums, noisy: [H, families, d, d + 1], what the last plan was made from, without and with noise.
        fresh: [families d] unit noise of the vectors of a step.
    """

    position: Ints
    counts: Array
    total: Array
    weighted: Array
    looked: Array
    shown: Array
    sums: Array
    noisy: Array
    noise: Array
    fresh: Array
    memory: Array
    plan: SwitchingPlan
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
    most: int,
    until: int,
    users_rng: np.random.Generator,
    noise_rng: np.random.Generator,
    model: Model,
    setup: SwitchSetup,
    state: SwitchState,
    record: Record,
    step: Callable[..., None],
    add_noise: Callable[..., None],
    add_anew: Callable[..., None],
) -> None:
    """Look up to `most` times, not again after the first that is at or beyond `until` users.

    When it looks and whether it plans follows from matrices that were released, and from public numbers.
    """
    position = state.position
    for _ in range(most):
        made, users = position[0], position[1]
        if users >= until:
            break
        position[8] = next_look(users, position[8], setup.ridge, setup.looks - made, setup.K)
        now = users + position[8]
        play_to(now, users_rng, model, setup, state, record)
        count(state.counts, state.plan.worth, state.weighted, state.total)
        release_matrices(made, noise_rng, setup, state, add_noise)
        position[0] = made + 1
        note_release(setup, state, record)
        may = may_plan(now, position[7], setup.plans - position[5], setup.K)
        if may and doubled(state.shown, state.noisy, setup.ridge):
            replan(made + 1, now, noise_rng, setup, state, step, add_anew)
            position[5] += 1
            position[8] = 0
            follow(model, state)


@kernel
def release_matrices(
    made: int,
    noise_rng: np.random.Generator,
    setup: SwitchSetup,
    state: SwitchState,
    add_noise: Callable[..., None],
) -> None:
    """Release the matrices of all users so far."""
    design(state.weighted, setup.features, state.looked)
    if setup.scales[0] > 0.0:
        add_noise(made, setup.leaves, setup.batches, state.memory, noise_rng, state.noise)
        worst = hide_matrices(state.looked, state.noise, setup.scales, state.shown)
        state.totals[1] = max(state.totals[1], worst / setup.bound[made])


@kernel
def replan(
    made: int,
    users: int,
    noise_rng: np.random.Generator,
    setup: SwitchSetup,
    state: SwitchState,
    step: Callable[..., None],
    add_anew: Callable[..., None],
) -> None:
    """Plan with the matrices of the last look, and answer the learner step by step.

    `step` is handed released sums, and what is public; that is the privacy of it. made, users: 0 before the first look.
    """
    plan, hidden = state.plan, setup.scales[0] > 0.0 and users > 0
    shift, pull = 0.0, 0.0
    matrices(state.looked, state.sums)
    if hidden:
        shift, pull = setup.shift[made - 1], setup.pull[made - 1]
        matrices(state.shown, state.noisy)
    for h in range(state.policy.shape[0] - 1, -1, -1):
        answered(state.weighted, h, plan.asked, setup.features, state.sums)
        if hidden:
            for i in range(state.fresh.shape[0]):
                state.fresh[i] = 0.0
            add_anew(0, setup.once, setup.batches, state.memory, noise_rng, state.fresh)
            worst = hide_vectors(state.sums, h, state.fresh, setup.scales, state.noisy)
            state.totals[1] = max(state.totals[1], worst / setup.bound[made - 1])
        step(h, state.noisy, shift, pull, users, setup.features, setup.constants, plan)
    state.position[6], state.position[7] = made, users


def planner_of(spec: RunSpec) -> SwitchingPlanner:
    """How the learner of a spec that this loop plays plans."""
    return cast(SwitchingLearner, ALGORITHMS[spec.algorithm]).planner(spec.bonus)


def kernels_of(spec: RunSpec, plain: bool = False) -> AskingKernels:
    """What a spec's loop is run with."""
    return asking.asking_kernels(spec, simulate, replan, planner_of(spec).step, _switch_examples, plain)


def _switch_examples() -> tuple[Model, SwitchSetup, SwitchState, Record]:
    f, i = np.zeros, np.zeros(1, dtype=np.int64)
    f1, f2, f3, f4, i2 = f(1), f((1, 1)), f((1, 1, 1)), f((1, 1, 1, 1)), np.zeros((1, 1), dtype=np.int64)
    table = np.zeros((1, 1, 1, 1), dtype=np.int64)
    model = Model(f4, f3, f4, f1, f4, f1, True, table)
    setup = SwitchSetup(1, 1, 1, 1.0, i, f2, i, f1, f1, f1, i, f3, f1, f1, f1, f1, f1, 1)
    plan = SwitchingPlan(f3, f2, i2, f3, f2, f3, f3, f1, f1, f4, f4, f3, f3, f1)
    state = SwitchState(i, f4, f4, f4, f4, f4, f4, f4, f1, f1, f2, plan, i2, i2, f2, i, i, i, f1, i)
    return model, setup, state, Record(i, f1, f1, f1, i2)
