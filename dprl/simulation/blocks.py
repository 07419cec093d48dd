"""Sample the counts of a block of users who all follow one policy, with the exact distribution.

The start states of b users are Multinomial(b, d1). At each step, the actions of n users in a state are
Multinomial(n, pi), the next states of the c users who take an action are Multinomial(c, P), and their rewards add up to
Binomial(c, R). The cost does not depend on b. Small blocks are simulated user by user, which is cheaper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.mdp import TabularMDP
from dprl.mdp.planning import chance, likeliest
from dprl.mdp.sampling import binomial
from dprl.mdp.structure import Table, next_state
from dprl.mdp.tabular import Array

Ints = NDArray[np.int64]


class Model(NamedTuple):
    """The true environment, which only the simulator knows. Counts are [H, S, A, B + 2].

    Attributes:
        P: the probability of each next state in the table `possible` [H, S, A, B], see mdp/structure.py.
        R: mean rewards [H, S, A].
        cumulative_P, cumulative_d1: their running sums, inf from the last possible state on.
        conditional_P, conditional_d1: the probability of a state if no lower one was drawn.
        bernoulli: whether rewards are drawn at random; otherwise they equal their means.
    """

    P: Array
    R: Array
    cumulative_P: Array
    cumulative_d1: Array
    conditional_P: Array
    conditional_d1: Array
    bernoulli: bool
    possible: Table


_ONES, _CELLS = np.zeros(1), np.zeros((1, 1, 1, 1))
# an example with the types that kernels are compiled for
EXAMPLE = Model(_CELLS, _CELLS[0], _CELLS, _ONES, _CELLS, _ONES, True, np.zeros((1, 1, 1, 1), dtype=np.int64))


def model_of(mdp: TabularMDP, *, binary_rewards: bool = False) -> Model:
    """Prepare an MDP for sampling. With `binary_rewards`, users round rewards at random to 0 or 1, without bias."""
    return Model(
        mdp.P,
        mdp.R,
        _cumulative(mdp.P),
        _cumulative(mdp.d1),
        _conditional(mdp.P),
        _conditional(mdp.d1),
        mdp.bernoulli or binary_rewards,
        mdp.possible,
    )


def _cumulative(p: Array) -> Array:
    total = np.cumsum(p, -1)
    last = p.shape[-1] - 1 - np.argmax((p > 0)[..., ::-1], -1)
    return np.where(np.arange(p.shape[-1]) >= last[..., None], np.inf, total)


def _conditional(p: Array) -> Array:
    """Return the binomial probabilities for drawing a multinomial step by step: p[x] / sum of p[y] over y >= x."""
    rest = np.cumsum(p[..., ::-1], -1)[..., ::-1]
    return np.minimum(np.divide(p, rest, out=np.zeros_like(p), where=rest > 0), 1.0)


@kernel
def drawn_action(rng: np.random.Generator, policy: Any, h: int, s: int) -> int:
    """Draw one user's action from the policy, without using a random number if only one action is possible."""
    usual = likeliest(policy, h, s)
    if policy.ndim == 2 or chance(policy, h, s, usual) == 1.0:
        return usual
    u = rng.random()
    for a in range(policy.shape[2]):
        if a != usual:
            u -= chance(policy, h, s, a)
            if u < 0.0:
                return a
    return usual


@kernel
def walk(
    rng: np.random.Generator, model: Model, policy: Any, users: int, counts: Array, starts: Ints
) -> None:
    """Simulate `users` trajectories one by one, add them to `counts`, and write their start states to `starts`."""
    H, S = policy.shape[0], policy.shape[1]
    B = model.P.shape[3]
    for s in range(S):
        starts[s] = 0
    for _ in range(users):
        u = rng.random()
        s = 0
        while u >= model.cumulative_d1[s]:
            s += 1
        starts[s] += 1
        for h in range(H):
            a = drawn_action(rng, policy, h, s)
            u = rng.random()
            x = 0
            while u >= model.cumulative_P[h, s, a, x]:
                x += 1
            reward = model.R[h, s, a]
            if model.bernoulli and 0.0 < reward < 1.0:
                reward = 1.0 if rng.random() < reward else 0.0
            counts[h, s, a, x] += 1.0
            counts[h, s, a, B] += 1.0
            counts[h, s, a, B + 1] += reward
            s = next_state(model.possible, h, s, a, x)


@kernel
def sample(
    rng: np.random.Generator,
    model: Model,
    policy: Any,
    users: int,
    counts: Array,
    starts: Ints,
    here: Ints,
    there: Ints,
) -> None:
    """Draw `users` trajectories at once, add their counts to `counts`, and write their start states to `starts`.

    here, there: scratch arrays, int64 [S].
    """
    begin(rng, model, users, starts)
    here[:] = starts
    for h in range(policy.shape[0]):
        advance(rng, model, policy, h, here, counts, there)


@kernel
def begin(rng: np.random.Generator, model: Model, users: int, starts: Ints) -> None:
    """Draw how many of `users` users begin in each state, and write the numbers to `starts` [S]."""
    left = users
    for s in range(starts.shape[0]):
        starts[s] = binomial(rng, left, model.conditional_d1[s])
        left -= starts[s]


@kernel
def advance(
    rng: np.random.Generator, model: Model, policy: Any, h: int, here: Ints, counts: Array, there: Ints
) -> None:
    """Move the users in the states `here` [S] by step h, and add the step to `counts`.

    there: a scratch array, int64 [S]. Rare actions are drawn first, so that their probabilities keep all digits, and
    the remaining users take the likeliest action.
    """
    S, A = model.R.shape[1:]
    for x in range(S):
        there[x] = 0
    for s in range(S):
        waiting = here[s]
        if waiting == 0:
            continue
        usual = likeliest(policy, h, s)
        rest = 1.0
        for i in range(1, A + 1):
            a = (usual + i) % A
            c = waiting
            if a != usual:
                share = chance(policy, h, s, a)
                c = binomial(rng, waiting, share / rest)
                rest -= share
            if c > 0:
                move(rng, model, h, s, a, c, counts, there)
            waiting -= c
    for x in range(S):
        here[x] = there[x]


@kernel
def move(
    rng: np.random.Generator, model: Model, h: int, s: int, a: int, c: int, counts: Array, there: Ints
) -> None:
    """Draw the next states of c users who take the same action. Add them to `there`, and the steps to `counts`."""
    B = model.P.shape[3]
    left = c
    for x in range(B):
        if left == 0:
            break
        moved = binomial(rng, left, model.conditional_P[h, s, a, x])
        if moved == 0:
            continue
        left -= moved
        there[next_state(model.possible, h, s, a, x)] += moved
        counts[h, s, a, x] += moved
    counts[h, s, a, B] += c
    reward = model.R[h, s, a]
    counts[h, s, a, B + 1] += binomial(rng, c, reward) if model.bernoulli else c * reward


@kernel
def interview(
    users: int, rng: np.random.Generator, asking: np.random.Generator, model: Model, setup: Any, state: Any
) -> None:
    """Draw trajectories and the users' randomized answers. In the loop's state, add them to `counts` and `memory` (see
    privacy/mechanisms/unary.py), and write `starts`.

    Users fall into groups at random. At every step h with h mod groups = g, the users of group g are asked about the
    transition, the visit or the reward, with probabilities `shares`. In each cell, rewards are drawn separately for the
    users who are asked about rewards and for the others.

    A user's group is drawn at its first question, because it affects nothing earlier, and users who are not asked again
    are drawn together. The distribution is the same as if every group were drawn by itself.

    rng, asking: the random generators of trajectories and of questions. setup, state: see loops/replan_kernels.py.
    """
    groups, shares, counts, memory = setup.groups, setup.shares, state.counts, state.memory
    H, S, A, B = model.P.shape
    # counts of the users who are asked at a step, of those who are not, and of those asked about a cell who are in it
    answering, silent, inside = np.zeros(counts.shape), np.zeros(counts.shape), np.zeros(counts.shape)
    asked = np.zeros((H, 3))
    # users by group and state; `waiting` includes all whose group is not drawn yet, and `done` are not asked again
    crowds = np.zeros((groups + 1, S), dtype=np.int64)
    waiting, done = crowds[groups - 1], crowds[groups]
    begin(rng, model, users, state.starts)
    waiting[:] = state.starts
    for h in range(H):
        due = crowds[h % groups]
        if h < groups - 1:
            for s in range(S):
                due[s] = binomial(asking, waiting[s], 1.0 / (groups - h))
                waiting[s] -= due[s]
        for g in range(groups + 1):
            seen = answering if g == h % groups else silent
            advance(rng, model, state.policy, h, crowds[g], seen, state.there)
        if h + groups >= H:
            for s in range(S):
                done[s] += due[s]
                due[s] = 0
        for s in range(S):
            for a in range(A):
                visits = int(answering[h, s, a, B])
                if visits == 0:
                    continue
                of_rewards = 0
                for x in range(B):
                    c = int(answering[h, s, a, x])
                    of_m = binomial(asking, c, shares[0])
                    of_n = binomial(asking, c - of_m, shares[1] / (shares[1] + shares[2]))
                    inside[h, s, a, x] += of_m
                    inside[h, s, a, B] += of_n
                    of_rewards += c - of_m - of_n
                    asked[h, 0] += of_m
                    asked[h, 1] += of_n
                asked[h, 2] += of_rewards
                ones = binomial(asking, of_rewards, model.R[h, s, a])
                inside[h, s, a, B + 1] += ones
                if model.bernoulli:
                    answering[h, s, a, B + 1] = ones + binomial(rng, visits - of_rewards, model.R[h, s, a])
    i = 0
    for h in range(H):
        for s in range(S):
            for a in range(A):
                for x in range(B + 2):
                    truth = answering[h, s, a, x] + silent[h, s, a, x]
                    counts[h, s, a, x] += truth
                    if x < B and next_state(model.possible, h, s, a, x) < 0:
                        continue  # this transition has no counter
                    part = max(0, x - B + 1)
                    memory[0, i] += inside[h, s, a, x]
                    memory[1, i] += asked[h, part]
                    memory[2, i] += truth
                    memory[3, i] = shares[part] / groups
                    memory[4, i] = np.sqrt(shares[part] / shares[0])
                    i += 1
