"""Toy-text environments of Gymnasium that expose their model."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dprl.environments.environment import Environment, homogeneous, horizon
from dprl.fields import Field, SpecError
from dprl.mdp import TabularMDP
from dprl.mdp.structure import every_state, on_table, table_of
from dprl.mdp.tabular import Array

IDS = ("FrozenLake-v1", "CliffWalking-v1", "Taxi-v3")
SIZES = {"FrozenLake-v1": (16, 4), "CliffWalking-v1": (48, 4), "Taxi-v3": (500, 6)}
# the name of the same model in newer versions, whose rain and fickle passengers are off
SAME_AS = {"Taxi-v3": "Taxi-v4"}
OUTCOMES = {"Taxi-v3": 1}  # next states of one action at most, where these are few
STOPS = "RGYB"
GRIDS = {"FrozenLake-v1": (4, 4), "CliffWalking-v1": (4, 12)}
MARKS = {  # start, goal, and what to keep out of, at row,column
    "FrozenLake-v1": {"0,0": "S", "3,3": "G", "1,1": "X", "1,3": "X", "2,3": "X", "3,0": "X"},
    "CliffWalking-v1": {"3,0": "S", "3,11": "G"} | {f"3,{c}": "X" for c in range(1, 11)},
}
ACTIONS: dict[str, tuple[str, ...]] = {
    "FrozenLake-v1": ("left", "down", "right", "up"),
    "CliffWalking-v1": ("up", "right", "down", "left"),
    "Taxi-v3": ("south", "north", "east", "west", "pick up", "drop off"),
}
DIRECTIONS = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}


@cache
def model(id: str) -> tuple[Array, Array, Array, float, float]:
    """P [S + 1, A, S + 1], mean rewards [S + 1, A] in [0, 1], start [S + 1], and the map reward = low + (high - low) R.

    State S is the end: an episode that terminates stays there, and its remaining steps pay 0 in Gymnasium's units.
    """
    import gymnasium  # here, because it takes a while and few runs need it

    try:
        env: Any = gymnasium.make(SAME_AS.get(id, id) if id not in gymnasium.registry else id).unwrapped
    except gymnasium.error.Error:
        raise SpecError(
            "environment_params.id", f"{id} is not in the Gymnasium that is installed; give another."
        ) from None
    S, A = int(env.observation_space.n), int(env.action_space.n)
    P, R = np.zeros((S + 1, A, S + 1)), np.zeros((S + 1, A))
    P[S, :, S] = 1.0
    for s in range(S):
        for a in range(A):
            for chance, to, reward, terminated in env.P[s][a]:
                P[s, a, S if terminated else to] += chance
                R[s, a] += chance * reward
    start = np.append(np.asarray(env.initial_state_distrib, dtype=float), 0.0)
    env.close()
    low, high = float(R.min()), float(R.max())
    return P / P.sum(-1, keepdims=True), (R - low) / ((high - low) or 1.0), start / start.sum(), low, high


def make(id: str = "FrozenLake-v1", H: int = 20) -> TabularMDP:
    """A toy-text environment for H steps, with mean rewards mapped affinely to [0, 1]; the map is in `drawing`.

    Taxi, where every action has one outcome, is made on the table of these.
    """
    P, R, start, low, high = model(id)
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
    """A state of Taxi: row and column, and the passenger's place and goal."""
    s, goal = divmod(s, 4)
    s, passenger = divmod(s, 5)
    row, column = divmod(s, 5)
    return f"({row}, {column}) {'taxi' if passenger == 4 else STOPS[passenger]}→{STOPS[goal]}"


ENVIRONMENT = Environment(
    key="gymnasium",
    title="Gymnasium",
    summary="FrozenLake, CliffWalking or Taxi from Gymnasium, as finite-horizon problems.",
    source="Gymnasium toy-text",
    fields=(
        Field(
            "id",
            "choice",
            "FrozenLake-v1",
            "which one; Taxi-v3 runs where its structure is declared",
            choices=IDS,
        ),
        horizon(20),
    ),
    make=make,
    size=_size,
    smaller="even H=1 is too much for it; with structure=environment (what is possible is declared) H up to 27 fits, "
    "and without it FrozenLake-v1 and CliffWalking-v1 fit",
    branching=_branching,
)
