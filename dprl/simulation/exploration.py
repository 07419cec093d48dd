"""Whether a learner's own draws hide a user: a game of scripted users with RLSVI, and what its drawn values reveal.

Joint privacy is about any users, whatever they do next. The HUB has been visited by a crowd, so that its value has in
it what there is to hope for later on; DULL has not, and nothing is hoped for after it. At every other step the target
chooses at the FORK and goes on to the HUB after one action, to DULL after the other: which after which is what the
attacker wants to know. The next user, the witness, comes by the FORK, too; the attacker sees what it is told to do.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np

from dprl.fields import SpecError
from dprl.kernels import compiled, kernel, rng_type, type_of
from dprl.learners import Problem
from dprl.learners.tabular import rlsvi
from dprl.mdp.counts import empty
from dprl.mdp.planning import Policy
from dprl.mdp.structure import Table, every_state
from dprl.mdp.tabular import Array
from dprl.simulation.prepare import problem_of, size_of
from dprl.simulation.spec import RunSpec
from dprl.simulation.trace import Ints

EXECUTIONS = 4000  # in each world; thresholds are chosen on one half, and shares measured on the other
STATES, ACTIONS = 4, 2
HUB, IDLE, FORK, DULL = range(STATES)
CROWD, TARGET, WITNESS = range(3)


class Held(NamedTuple):
    """What the learner holds: released [H, S, A, S + 2], draws and Q [H, S, A], V [H + 1, S], policy [H, S]."""

    released: Array
    draws: Array
    Q: Array
    V: Array
    policy: Policy


@kernel
def visit(who: int, turned: int, held: Held) -> int:
    """One user follows the policy, and what it did is counted. How often, at a fork, it was told to take action 0."""
    H = held.policy.shape[0]
    state = IDLE if who == CROWD else FORK
    first = 0
    for h in range(H):
        action = held.policy[h, state]
        after = FORK
        if h % 2 == 0:
            first += 1 - action
            after = DULL
            if who == CROWD or (who == TARGET and action == turned):
                after = HUB
        elif who == CROWD:
            after = IDLE
        held.released[h, state, action, after] += 1.0
        held.released[h, state, action, STATES] += 1.0
        state = after
    return first


@kernel
def play_told(
    rng: np.random.Generator,
    users: int,
    turned: int,
    possible: Table,
    constants: Array,
    held: Held,
    told: Ints,
) -> None:
    """Executions [len(told)] with so many users: a crowd, then the target, then the witness, who is told `told`."""
    draws = held.draws.reshape(-1)
    no_noise = np.zeros(held.Q.shape)
    for i in range(told.shape[0]):
        held.released[:] = 0.0
        for user in range(users):
            for j in range(draws.shape[0]):
                draws[j] = rng.standard_normal()
            rlsvi.plan(held.released, no_noise, possible, constants, held.draws, held.Q, held.V, held.policy)
            who = CROWD if user < users - 2 else TARGET if user == users - 2 else WITNESS
            told[i] = visit(who, turned, held)


def exploration(spec: RunSpec) -> dict[str, Any]:
    """What is claimed of RLSVI's draws for the size and users of a run, what others are told, and what values reveal.

    The users are scripted; of the run only sizes, K and where random numbers start matter.

    Returns:
        claimed, delta: (epsilon, delta) as stated.
        told: [2, 2, B], in each half of the executions, in each world, how many witnesses were told action 0 at
            0, 1, ... forks. None where the problem has not four states and two actions.
        values: the epsilon at delta that the published draws of one row, at the last step, alone reveal.
    """
    if spec.algorithm != rlsvi.ALGORITHM.key:
        raise SpecError("algorithm", f"{spec.algorithm} does not explore by draws of its own; give rlsvi.")
    size, K = size_of(spec), spec.episodes
    found: dict[str, Any] = {
        "claimed": rlsvi.claimed_epsilon(size, K, rlsvi.DELTA),
        "delta": rlsvi.DELTA,
        "told": None,
        "values": of_one_row(K - 1, rlsvi.DELTA),
    }
    if (size.S, size.A) == (STATES, ACTIONS) and K >= 2:
        found["told"] = told(problem_of(spec, size, K), spec.root_seed)
    return found


def told(problem: Problem, root_seed: int) -> list[list[list[int]]]:
    """See `exploration`."""
    H, K = problem.H, problem.K
    counts = empty(H, STATES, ACTIONS, STATES)
    cells = np.zeros(counts.shape[:3])
    held = Held(counts, cells, cells.copy(), np.zeros((H + 1, STATES)), np.zeros((H, STATES), dtype=np.int64))
    constants, possible, seen = (
        rlsvi.constants(problem),
        every_state(STATES),
        np.zeros(EXECUTIONS, dtype=np.int64),
    )
    machine = compiled(
        play_told,
        type_of(None)(
            rng_type(), type_of(1), type_of(1), *(type_of(one) for one in (possible, constants, held, seen))
        ),
    )
    halves: list[list[list[int]]] = [[], []]
    for turned in range(2):
        rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([root_seed, H, K, turned])))
        machine(rng, K, turned, possible, constants, held, seen)
        for half, some in zip(halves, (seen[::2], seen[1::2]), strict=True):
            half.append(np.bincount(some, minlength=-(-H // 2) + 1).tolist())
    return halves


def of_one_row(releases: int, delta: float) -> float:
    """The epsilon that so many published draws of a value reveal, when one user alone was there or nobody.

    At the last step Q has mean 0 (there is no reward), and variance beta/2 after one visit, beta after none; beta is
    public. The sum of squares over beta is chi-square with as many degrees of freedom, times 1/2 or 1, and tells the
    two best; epsilon is where the larger of the two hockey-stick divergences is delta.
    """
    from scipy.optimize import brentq
    from scipy.stats import chi2

    if releases < 1:
        return 0.0

    def divergence(epsilon: float) -> float:
        few, many = max(releases * log(2) - 2 * epsilon, 0.0), releases * log(2) + 2 * epsilon
        with np.errstate(divide="ignore"):  # a chance too small to be told from 0
            narrow = chi2.cdf(2 * few, releases) - np.exp(epsilon + chi2.logcdf(few, releases))
            wide = chi2.sf(many, releases) - np.exp(epsilon + chi2.logsf(2 * many, releases))
        return float(max(narrow, wide))

    if divergence(0.0) <= delta:
        return 0.0
    return float(brentq(lambda epsilon: divergence(epsilon) - delta, 0.0, 50.0 + releases))
