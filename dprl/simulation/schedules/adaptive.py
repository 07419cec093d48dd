"""A schedule that adapts to the counts: no block of users is longer than the releases so far justify.

Near a tie, an optimistic learner may need to try an action just once more. A block with a fixed share of all users
would then cost more than all learning before. So a block about doubles the counts of the cells that it visits, or
raises them to the size of the noise.
"""

from __future__ import annotations

from math import ceil, exp, log
from typing import Any

import numpy as np

from dprl.engine import kernel
from dprl.fields import Field
from dprl.mdp import Size
from dprl.mdp.planning import chance
from dprl.mdp.structure import Table, next_state
from dprl.mdp.tabular import Array
from dprl.simulation.schedules import geometric
from dprl.simulation.schedules.schedule import Schedule

ETA = Field(
    "schedule", "float", 0.1, "maximum growth of a block, relative to the users so far", low=0.001, high=1.0
)
MOST = Field("schedule", "int", None, "releases at most", low=2, high=10**6)


@kernel
def growth(users: int, left: int, K: int, settings: Array) -> float:
    """Return the growth allowed for the next block relative to the users so far, or minus the growth that is required.

    If blocks that grow by eta would not reach K with the remaining releases, a block may grow by the square of the
    factor that would. Large blocks, if counts justify them, then save releases for small blocks near a tie. The pace
    (the factor's logarithm) may rise as 1 / ln(K / t), up to ln 2; after that, it stays constant. settings: [eta].
    """
    most = settings[0]
    if users > 0:
        ahead = log(K / users)
        pace = ahead / left
        usual = log(1.0 + most)
        if pace >= usual:
            if pace >= min(log(2.0), usual * log(K) / ahead):
                return 1.0 - exp(pace)
            most = max(most, min(1.0, exp(2.0 * pace) - 1.0))
    return float(most)


@kernel
def next_release(
    users: int,
    left: int,
    K: int,
    settings: Array,
    released: Array,
    errors: Array,
    possible: Table,
    policy: Any,
) -> int:
    """Return the number of users at the next release; blocks grow only as fast as the released counts justify.

    It is t + max(1, floor(min(eta t, min over played (h, s, a) of max(n~, E, 1) / P~(s, a at h)))), at most K. P~
    follows from the releases: first states from the counts of the first step, and later ones from m~ / sum m~ under the
    policy, until a state has no released transitions. Before the first release, all states are equally likely. eta may
    be larger, see `growth`. settings: [eta].
    """
    H, S, A = released.shape[:3]
    B = released.shape[3] - 2
    most = growth(users, left, K, settings)
    if most < 0.0:
        return min(K, users + max(1, int(-most * users)))
    block = most * users
    here, there = np.zeros(S), np.zeros(S)
    total = 0.0
    for s in range(S):
        for a in range(A):
            here[s] += max(released[0, s, a, B], 0.0)
        total += here[s]
    for s in range(S):
        here[s] = here[s] / total if total > 0.0 else 1.0 / S
    for h in range(H):
        for x in range(S):
            there[x] = 0.0
        for s in range(S):
            if here[s] <= 0.0:
                continue
            for a in range(A):
                played = here[s] * chance(policy, h, s, a)
                if played <= 0.0:
                    continue
                block = min(block, max(released[h, s, a, B], max(errors[h, s, a], 1.0)) / played)
                mass = 0.0
                for x in range(B):
                    mass += max(released[h, s, a, x], 0.0)
                if mass > 0.0:
                    for x in range(B):
                        if released[h, s, a, x] > 0.0:
                            there[next_state(possible, h, s, a, x)] += played * released[h, s, a, x] / mass
        for x in range(S):
            here[x] = there[x]
    return min(K, users + max(1, int(block)))


def canonical(argument: str, per_release: bool) -> str:
    """Return the argument in canonical form: ETA, or ETA:M if M affects the noise. Raises ValueError."""
    eta, _, most = argument.partition(":")
    eta = f"{ETA.parse(eta or '0.1'):g}"
    return f"{eta}:{MOST.parse(most)}" if most and MOST.parse(most) and per_release else eta


def eta_of(argument: str) -> str:
    return argument.partition(":")[0]


def limit(argument: str, K: int, size: Size, per_release: bool) -> int:
    """Return the largest number of releases M <= K, as given or computed from eta, K and the number of rows H S A.

    M is rounded, so that runs can share results that depend on M alone. If the noise does not depend on M, M is several
    times the number of times that all counts can double.
    """
    most = argument.partition(":")[2]
    if most:
        return min(K, int(most))
    rows, growing = size.H * size.S * size.A, geometric.count(eta_of(argument), K)
    if per_release:
        return min(K, ceil(1.05 ** ceil(log(growing + rows / 2) / log(1.05))))
    return min(K, growing + 4 * rows * K.bit_length())


SCHEDULE = Schedule(
    key="adaptive",
    allowed=f"adaptive:ETA[:M] with ETA from {ETA.low:g} to {ETA.high:g} and at most M releases",
    fewer="give a larger ETA or a smaller M",
    canonical=canonical,
    settings=lambda argument, K: np.array([float(eta_of(argument))]),
    next_release=next_release,
    releases=lambda argument, K, size: min(
        K, geometric.count(eta_of(argument), K) + size.H * size.S * size.A
    ),
    times=lambda argument, K: geometric.times(eta_of(argument), K),  # the epochs
    growth=growth,
    limit=limit,
)
