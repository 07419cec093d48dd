"""Gymnasium environments with a known model: three toy-text ones by name, and, in Python, any with a table `P`."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dprl.environments.environment import Environment, homogeneous, horizon
from dprl.fields import Field, SpecError, reject, shown
from dprl.mdp import TabularMDP
from dprl.mdp.structure import every_state, on_table, table_of
from dprl.mdp.tabular import ROUNDED, Array, as_written, probabilities
from dprl.messages import messages

IDS = ("FrozenLake-v1", "CliffWalking-v1", "Taxi-v3")
SIZES = {"FrozenLake-v1": (16, 4), "CliffWalking-v1": (48, 4), "Taxi-v3": (500, 6)}
# newer names of the same model, with rain and fickle passengers switched off
SAME_AS = {"Taxi-v3": "Taxi-v4"}
OUTCOMES = {"Taxi-v3": 1}  # the largest number of next states of one action, if it is small
STOPS = "RGYB"
GRIDS = {"FrozenLake-v1": (4, 4), "CliffWalking-v1": (4, 12)}
MARKS = {  # start, goal and pits, by row and column
    "FrozenLake-v1": {"0,0": "S", "3,3": "G", "1,1": "X", "1,3": "X", "2,3": "X", "3,0": "X"},
    "CliffWalking-v1": {"3,0": "S", "3,11": "G"} | {f"3,{c}": "X" for c in range(1, 11)},
}
ACTIONS: dict[str, tuple[str, ...]] = {
    "FrozenLake-v1": ("left", "down", "right", "up"),
    "CliffWalking-v1": ("up", "right", "down", "left"),
    "Taxi-v3": ("south", "north", "east", "west", "pick up", "drop off"),
}
SAID = messages("refusals")["gymnasium"]
WHICH = "the environment; Taxi-v3 runs only if its structure is declared"
HORIZON = horizon(20)
DIRECTIONS = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}


MOST = 10**7  # the most probabilities of a model with all S next states; a larger one is built on a table
LARGEST = 10**8  # the most probabilities that are read


class Model(NamedTuple):
    """The model of a Gymnasium environment: P [S, A, S], mean rewards R [S, A] in [0, 1], and start distribution [S].
    In the environment's units, a reward is low + (high - low) R. If `ends`, the last state is the end of an episode."""

    P: Array
    R: Array
    start: Array
    low: float
    high: float
    ends: bool


@cache
def model(id: str) -> Model:
    """Return the model of an environment in IDS. The smallest and the largest mean reward define its reward range."""
    import gymnasium  # imported here because it is slow and few runs need it

    try:
        env: Any = gymnasium.make(SAME_AS.get(id, id) if id not in gymnasium.registry else id).unwrapped
    except gymnasium.error.Error:
        raise reject("environment_params.id", SAID["id"], id=id) from None
    found = read(env)
    env.close()
    return found


def read(env: Any, start: Any = None, rewards: tuple[float, float] | None = None) -> Model:
    """Read the model in `env.P` (see `from_gymnasium`). If an episode can terminate, an extra last state is added as
    the end. It is absorbing and pays 0 in the environment's units."""
    S, A = (_count(env, name) for name in ("observation_space", "action_space"))
    if S * A * S > LARGEST:
        raise SpecError("env", f"{S * A * S:,} probabilities are too many; at most {LARGEST:,} are allowed.")
    rows = [[_outcomes(env, s, a) for a in range(A)] for s in range(S)]
    ends = any(end for row in rows for outcomes in row for *_, end in outcomes)
    P, R = np.zeros((S + ends, A, S + ends)), np.zeros((S + ends, A))
    P[S:, :, S:] = 1.0
    for s in range(S):
        for a in range(A):
            for chance, to, reward, terminated in rows[s][a]:
                P[s, a, S if terminated else to] += chance
                R[s, a] += chance * reward
    probabilities("env.P", P)
    total = P.sum(-1, keepdims=True)
    R = np.where(np.abs(total - 1) > ROUNDED, R[..., None] / total, R[..., None])[..., 0]
    first = _start(env, S, start)
    low, high = rewards or (float(R.min()), float(R.max()))
    slack = ROUNDED * (high - low)  # means are rounded
    if (
        not (low < high or (low == high and rewards is None))
        or R.min() < low - slack
        or R.max() > high + slack
    ):
        raise reject("rewards", SAID["rewards"], low=f"{R.min():g}", high=f"{R.max():g}")
    return Model(
        P / total,
        np.clip((R - low) / ((high - low) or 1.0), 0.0, 1.0),
        np.append(first, np.zeros(int(ends))),
        float(low),
        float(high),
        ends,
    )


def _count(env: Any, name: str) -> int:
    space = getattr(env, name, None)
    if not hasattr(space, "n") or getattr(space, "start", 0) != 0:
        raise reject("env", SAID["not_discrete"], space=name)
    return int(space.n)  # type: ignore[union-attr]


def _outcomes(env: Any, s: int, a: int) -> list[tuple[float, int, float, bool]]:
    """Return (probability, next state, reward, terminated) for each outcome of an action."""
    try:
        outcomes = [(float(p), float(to), float(r), bool(end)) for p, to, r, end in env.P[s][a]]
    except AttributeError:
        raise SpecError("env", SAID["no_table"]) from None
    except (LookupError, TypeError, ValueError):
        raise reject("env", SAID["outcome"], s=s, a=a) from None
    last = int(env.observation_space.n) - 1
    for chance, to, reward, _ in outcomes:
        for name, value, right, allowed in (
            ("probability", chance, chance >= 0, "a number from 0 to 1"),
            ("next state", to, to.is_integer() and 0 <= to <= last, f"a whole number from 0 to {last}"),
            ("reward", reward, math.isfinite(reward), "a number"),
        ):
            if not right:
                raise SpecError("env", f"P[{s}][{a}] has the {name} {as_written(value)}; give {allowed}.")
    return [(chance, int(to), reward, end) for chance, to, reward, end in outcomes]


def _start(env: Any, S: int, given: Any) -> Array:
    given = getattr(env, "initial_state_distrib", None) if given is None else given
    if given is None:
        raise reject("start", SAID["no_start"], states=S)
    try:
        first = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        first = np.zeros(0)
    if first.shape != (S,):
        raise SpecError("start", f"this is not a probability distribution; give {S} probabilities.")
    probabilities("start", first)
    return np.asarray(first / first.sum())


def from_gymnasium(
    env: Any,
    H: int | None = None,
    *,
    start: Any = None,
    rewards: tuple[float, float] | None = None,
    **options: Any,
) -> TabularMDP:
    """Convert a Gymnasium environment with a known model to a finite-horizon MDP.

    The model is `env.unwrapped.P`, as in Gymnasium's toy-text environments. It is converted as follows:

    - An episode has H steps. If the environment has a time limit, H is at most that limit.
    - An episode that terminates moves to an extra last state, `end`, with reward 0 in the environment's units.
    - Mean rewards are mapped to R in [0, 1], with reward = low + (high - low) R. The result's `drawing` contains `low`
      and `high` as `reward_low` and `reward_high`. A value V is H low + (high - low) V in the environment's units.
    - A reward that depends on the next state is replaced by its mean.

    Args:
        env: an environment, or an id such as "FrozenLake8x8-v1".
        H: the number of steps in an episode, 1 to 1000; by default the time limit of the environment.
        start: the distribution of the first state [S]; by default `env.unwrapped.initial_state_distrib`.
        rewards: (low, high), which become 0 and 1; by default the least and the largest mean reward.
        options: options for `gymnasium.make`, such as is_slippery=False; allowed only with an id.

    Raises:
        SpecError: There is no such environment, it has no model, a wrapper changes it, or an argument is not allowed.

    Example:
        >>> import gymnasium
        >>> lake = dprl.from_gymnasium(gymnasium.make("FrozenLake-v1"), H=20)
        >>> lake.P.shape, dprl.RunSpec(lake, epsilon=1).environment
        ((20, 17, 4, 17), 'custom')
    """
    import gymnasium

    if isinstance(env, str):
        try:
            env = gymnasium.make(env, **options)
        except (gymnasium.error.Error, ImportError, LookupError, TypeError, ValueError) as error:
            why = " ".join(str(error).split()).rstrip(".")[:200]
            raise reject("env", SAID["not_made"], env=shown(env), why=why) from None
    elif options:
        raise reject("options", SAID["options"], options=", ".join(options))
    limit, inside = None, env
    while isinstance(inside, gymnasium.Wrapper):
        if isinstance(
            inside, gymnasium.RewardWrapper | gymnasium.ActionWrapper | gymnasium.ObservationWrapper
        ):
            raise SpecError("env", f"the wrapper {type(inside).__name__} changes the model; remove it.")
        if isinstance(inside, gymnasium.wrappers.TimeLimit):
            steps = int(inside._max_episode_steps)
            limit = steps if limit is None else min(steps, limit)
        inside = inside.env
    if H is None and limit is None:
        raise SpecError("H", "the environment has no time limit; give H, the steps in an episode.")
    H = HORIZON.check(limit if H is None else H)
    if limit is not None and H > limit:
        raise SpecError("H", f"{H} is not allowed; give at most {limit}, after which an episode ends.")
    inside = getattr(inside, "unwrapped", inside)
    if getattr(inside, "fickle_passenger", False):
        raise SpecError("options", SAID["fickle"])
    found = read(inside, start, rewards)
    P, possible, S = found.P, None, len(found.start)
    if H * P.size > MOST:
        possible = table_of(P[None] > 0)
        P = on_table(P[None], every_state(S), possible)[0][0]
    spec = getattr(inside, "spec", None)
    return homogeneous(
        f"{spec.id if spec else type(inside).__name__} (Gymnasium)"[-60:],
        P,
        found.R,
        start=found.start,
        H=H,
        state_labels=(*(f"state {s}" for s in range(S - found.ends)), *["end"] * found.ends),
        action_labels=tuple(f"action {a}" for a in range(P.shape[1])),
        drawing={"kind": "graph", "reward_low": found.low, "reward_high": found.high},
        possible=possible,
    )


def make(id: str = "FrozenLake-v1", H: int = 20) -> TabularMDP:
    """Build a toy-text environment with H steps. An affine map, stored in `drawing`, maps mean rewards to [0, 1]. Taxi,
    in which every action has one outcome, is built on the table of its next states."""
    P, R, start, low, high, _ = model(id)
    S = len(start) - 1
    possible = None
    if id in OUTCOMES:
        possible = table_of(P[None] > 0)
        P, _ = on_table(P[None], every_state(S + 1), possible)
        P = P[0]
    grid = GRIDS.get(id)
    drawing: dict[str, Any] = {"kind": "graph"}
    if grid:
        drawing = {
            "kind": "grid",
            "rows": grid[0],
            "columns": grid[1],
            "cells": [[s // grid[1], s % grid[1]] for s in range(S)],
            "marks": MARKS[id],
            "moves": [DIRECTIONS[a] for a in ACTIONS[id]],
        }
    names = [f"({s // grid[1]}, {s % grid[1]})" if grid else _taxi(s) for s in range(S)]
    return homogeneous(
        f"{id} (Gymnasium)",
        P,
        R,
        start=start,
        H=H,
        state_labels=(*names, "end"),
        action_labels=ACTIONS[id],
        drawing={**drawing, "reward_low": low, "reward_high": high},
        possible=possible,
    )


def _size(id: str, H: int) -> tuple[int, int, int]:
    S, A = SIZES[id]
    return S + 1, A, H


def _branching(id: str, H: int) -> int:
    return OUTCOMES.get(id, SIZES[id][0] + 1)


def _taxi(s: int) -> str:
    """Describe a state of Taxi by its row and column and by the passenger's place and goal."""
    s, goal = divmod(s, 4)
    s, passenger = divmod(s, 5)
    row, column = divmod(s, 5)
    return f"({row}, {column}) {'taxi' if passenger == 4 else STOPS[passenger]}→{STOPS[goal]}"


def _name(id: str, **_: object) -> str:
    return id.partition("-v")[0]


ENVIRONMENT = Environment(
    key="gymnasium",
    title="Gymnasium",
    summary="FrozenLake, CliffWalking or Taxi from Gymnasium, as finite-horizon environments.",
    source="Gymnasium toy-text",
    fields=(Field("id", "choice", "FrozenLake-v1", WHICH, choices=IDS), HORIZON),
    make=make,
    size=_size,
    smaller="give FrozenLake-v1, CliffWalking-v1, or structure=environment with an H of at most 27",
    branching=_branching,
    name=_name,
)
