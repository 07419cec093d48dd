"""The compiled part of replan.py, the loop in which the learner plans again after every release of noisy counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from dprl.engine import function_type, kernel, rng_type, type_of
from dprl.learners import ALGORITHMS
from dprl.learners.tabular import planner
from dprl.mdp import planning
from dprl.mdp.planning import Logits, Policy, of_logits
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, mechanisms
from dprl.privacy.mechanisms import no_noise
from dprl.simulation import schedules
from dprl.simulation.blocks import Model, interview
from dprl.simulation.loops.play import Record, follow, lose, note, play
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints
from dprl.statistics import consistency
from dprl.statistics.counts import Counts, add_scaled
from dprl.statistics.played import cells_told, look_up


class Setup(NamedTuple):
    """The values that are fixed before a run starts.

    Attributes:
        K: the number of users; releases: the largest number of releases M; settings: the schedule's.
        splits: whether a block that spans a target is drawn in two pieces.
        batches: see privacy/mechanisms/mechanism.py; of_users: whether noise is for a stream of users, not releases.
        ends, bound, error: [B]; up to ends[b] users (if by_users) or releases, E_{eps,beta} is bound[b] and the
            learner receives error[b].
        targets: the numbers of users at or after which a point of the curve is recorded [C].
        scales: the scale of the noise in each counter of a row, in counts [B + 2].
        played: whether rows and `ends` count only users who were told to play the row, see statistics/played.py.
        hidden: the number of visits that the noise hides in such a row, even if it has few reports.
        rows: the variance of the noise in n^ as a multiple of that in m^ [H].
        V_star: the optimal value of each start state [S]; d1: [S]; alphas: [P]; walk_below: see WALK_BELOW.
        groups, shares: for users who are asked questions, see `interview`; groups is 0 if everybody reports everything.
    """

    K: int
    releases: int
    splits: bool
    settings: Array
    of_users: bool
    batches: Array
    by_users: bool
    ends: Ints
    bound: Array
    error: Array
    targets: Ints
    constants: Array
    scales: Array
    played: bool
    hidden: float
    rows: Array
    V_star: Array
    d1: Array
    alphas: Array
    walk_below: int
    groups: int
    shares: Array


class State(NamedTuple):
    """The arrays that the loop changes.

    Attributes:
        position: releases made, users so far, index of the noise bound, points recorded, targets passed [5].
        leaves: see privacy/mechanisms/mechanism.py, filled in as releases are made [M + 2].
        counts, noisy, released: the true counts, the counts with noise, and the counts that the learner receives, each
            [H, S, A, B + 2]; without noise, they are one array.
        noise: unit noise in the counts [cells]; memory: the mechanism's memory.
        Q: [H, S, A], V: [H + 1, S], policy: [H, S] or Logits, all computed by the learner.
        played: the policy whose exact values [H + 1, S] are in `value`.
        starts, here, there: [S]; pac: [P].
        totals: regret so far, and largest noise so far relative to E [2].
        errors: the E of each row that the learner receives [H, S, A]; bounds: E_{eps,beta}; pace: the E that limits
            the length of blocks, which is `errors` or, in `played` rows, at least `hidden`.
        kept, places: see statistics/played.py.
    """

    position: Ints
    leaves: Ints
    counts: Array
    noisy: Array
    released: Array
    noise: Array
    memory: Array
    Q: Array
    V: Array
    policy: Policy | Logits
    played: Policy | Logits
    value: Array
    starts: Ints
    here: Ints
    there: Ints
    totals: Array
    pac: Ints
    errors: Array
    bounds: Array
    pace: Array
    kept: Ints
    places: Ints


@kernel
def simulate(
    count: int,
    until: int,
    users_rng: np.random.Generator,
    noise_rng: np.random.Generator,
    model: Model,
    setup: Setup,
    state: State,
    record: Record,
    next_release: Callable[..., int],
    plan: Callable[..., None],
    add_noise: Callable[..., None],
    publish: Callable[..., None],
) -> None:
    """Simulate users and make up to `count` releases; stop after the first release at or beyond `until` users.

    `plan` and `next_release` receive only released counts and declared next states, which is why they are private.
    """
    ends, errors, targets = setup.ends, setup.error, setup.targets
    position = state.position
    made, users, row, point, target = position[0], position[1], position[2], position[3], position[4]
    for _ in range(count):
        if users >= until:
            break
        before = users
        left = setup.releases - made
        now = setup.K
        if left > 1:
            now = next_release(
                users, left, setup.K, setup.settings, state.released, state.pace, model.possible, state.policy
            )
        while setup.splits and targets[target] < now:
            # points of the curve are public, and nothing is released or planned there
            meet(targets[target] - users, users_rng, noise_rng, model, setup, state)
            users = targets[target]
            note(point, users, setup, state, record)
            point += 1
            target += 1
        meet(now - users, users_rng, noise_rng, model, setup, state)

        while ends[row] < (now if setup.by_users else made + 1):
            row += 1
        if setup.scales[0] > 0.0:
            state.leaves[made + 1] = now if setup.of_users else made + 1
            if setup.played:
                disturb_told(made, noise_rng, setup, state, add_noise)
                worst = look_up(now - before if setup.by_users else 1, setup, state)
                state.pace[:] = np.maximum(state.errors, setup.hidden)
            else:
                add_noise(made, state.leaves, setup.batches, state.memory, noise_rng, state.noise)
                worst = add_scaled(state.counts, state.noise, setup.scales, state.noisy)
                state.errors[:] = errors[row]
                state.bounds[:] = setup.bound[row]
                state.pace[:] = errors[row]
                worst /= setup.bound[row]
            state.totals[1] = max(state.totals[1], worst)
            publish(state.noisy, state.errors, setup.rows, state.released)
        made += 1
        users = now
        if users >= targets[target]:
            note(point, users, setup, state, record)
            point += 1
            while target < targets.shape[0] and targets[target] <= users:
                target += 1

        learn(plan, now - before, model, setup, state, state.policy)
        follow(model, state)
    position[0], position[1], position[2], position[3], position[4] = made, users, row, point, target


@kernel
def disturb_told(
    made: int, noise_rng: np.random.Generator, setup: Setup, state: State, add_noise: Callable[..., None]
) -> None:
    """Draw noise only for the counts of actions that the policy takes, because the other counts are not read."""
    told = cells_told(state.policy, state.noisy)
    noise, memory = state.noise[told], state.memory[:, told]
    add_noise(made, state.leaves, setup.batches, memory, noise_rng, noise)
    state.noise[told] = noise
    state.memory[:] = 0.0  # a mechanism with separate reports keeps nothing beyond a release


@kernel
def learn(
    plan: Callable[..., None], users: int, model: Model, setup: Setup, state: State, policy: Any
) -> None:
    """Compute the next policy from the released counts. A stochastic policy also depends on the number of its users."""
    if policy.ndim == 2:
        plan(state.released, state.errors, model.possible, setup.constants, state.Q, state.V, policy)
    else:
        plan(state.released, state.errors, model.possible, setup.constants, users, state.Q, state.V, policy)


@kernel
def meet(
    users: int,
    users_rng: np.random.Generator,
    noise_rng: np.random.Generator,
    model: Model,
    setup: Setup,
    state: State,
) -> None:
    """Simulate `users` users; if the mechanism collects randomized answers, draw them too."""
    if setup.groups == 0:
        play(users, users_rng, model, setup, state)
        return
    interview(users, users_rng, noise_rng, model, setup, state)
    lose(setup, state)


@kernel
def as_is(noisy: Array, errors: Array, tau2: Array, released: Array) -> None:
    """Do nothing: without noise, `released` and `noisy` are the same array."""


class Kernels(NamedTuple):
    """The functions that the loop calls, either all compiled or all in plain Python."""

    simulate: Callable[..., None]
    next_release: Callable[..., int]
    plan: Callable[..., None]
    add_noise: Callable[..., None]
    publish: Callable[..., None]
    evaluate: Callable[..., None]


def learner_of(spec: RunSpec) -> planner.TabularLearner:
    """Return the spec's learner, which must be one that plans from counts."""
    return cast(planner.TabularLearner, ALGORITHMS[spec.algorithm])


def functions_of(spec: RunSpec, statistic: Counts) -> Kernels:
    """Return the functions that a run's loop calls, as plain Python."""
    mechanism = MECHANISMS.get(spec.mechanism or "")
    schedule, _ = schedules.parse(spec.schedule)
    return Kernels(
        simulate,
        schedule.next_release,
        learner_of(spec).planner(spec.bonus).plan,
        mechanism.add_noise if mechanism else no_noise,
        statistic.publish if mechanism else as_is,
        planning.evaluate,
    )


def types_of(part: str, stochastic: bool) -> str:
    """Return the numba types of one of the `Kernels` other than `simulate`."""
    return _signatures(stochastic)[Kernels._fields.index(part) - 1]


def signatures_of(stochastic: bool) -> tuple[Any, ...]:
    """Return the numba types of all `Kernels`, for a stochastic or a deterministic policy."""
    return _signature(stochastic), *_signatures(stochastic)


def _signatures(stochastic: bool) -> tuple[str, ...]:
    if stochastic:
        return (
            of_logits(schedules.SIGNATURE), planner.STOCHASTIC, mechanisms.SIGNATURE, consistency.SIGNATURE,
            of_logits(planning.EVALUATE),
        )  # fmt: skip
    return (
        schedules.SIGNATURE, planner.SIGNATURE, mechanisms.SIGNATURE,
        consistency.SIGNATURE, planning.EVALUATE,
    )  # fmt: skip


@cache
def _signature(stochastic: bool) -> Any:
    """Return the numba types of `simulate`, inferred from small example arguments."""
    f, i = np.zeros, np.zeros(1, dtype=np.int64)
    f1, f2, f3, f4, i2 = f(1), f((1, 1)), f((1, 1, 1)), f((1, 1, 1, 1)), np.zeros((1, 1), dtype=np.int64)
    table, i3 = np.zeros((1, 1, 1, 1), dtype=np.int64), np.zeros((1, 1, 1), dtype=np.int64)
    policy: Any = f3 if stochastic else i2
    model = Model(f4, f3, f4, f1, f4, f1, True, table)
    setup = Setup(
        1, 1, True, f1, True, f2, True, i, f1, f1, i, f1, f1, True, 1.0, f1, f1, f1, f1, 1, 1, f1,
    )  # fmt: skip
    state = State(
        i, i, f4, f4, f4, f1, f2, f3, f2, policy, policy, f2, i, i, i, f1, i, f3, f3, f3, i3,
        i3,
    )  # fmt: skip
    record = Record(i, f1, f1, f1, i2)
    whole = type_of(1)
    return type_of(None)(
        whole,
        whole,
        *[rng_type()] * 2,
        *(type_of(example) for example in (model, setup, state, record)),
        *(function_type(signature) for signature in _signatures(stochastic)[:-1]),
    )
