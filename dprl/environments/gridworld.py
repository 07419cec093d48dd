"""A grid with walls, a goal and pits, in which moves may slip."""

from __future__ import annotations

import numpy as np

from dprl.environments.environment import Environment, homogeneous, horizon
from dprl.fields import Field, SpecError, shown
from dprl.mdp import TabularMDP

MOVES = (("up", -1, 0), ("right", 0, 1), ("down", 1, 0), ("left", 0, -1))
DEFAULT = "S---/-WX-/---G"
MAX_MAP = 10_000  # characters
ALLOWED = "rows of equal length joined by /: S (start), - (free), W (wall), G (goal), X (pit)"


def cells(map: str) -> tuple[list[str], dict[tuple[int, int], int]]:
    """Return a map's rows, and the state of each (row, column) without a wall. Raises SpecError for an invalid map."""
    if len(map) > MAX_MAP:
        raise SpecError(
            "environment_params.map", f"{len(map):,} characters are too many; give at most {MAX_MAP:,}."
        )
    rows = map.split("/")
    wide = {len(row) for row in rows}
    letters = set(map) - {"/"}
    if len(wide) != 1 or 0 in wide or not letters <= set("S-WGX") or "S" not in letters:
        raise SpecError(
            "environment_params.map", f"{shown(map)} is not allowed; give {ALLOWED}, with at least one S."
        )
    places = [(r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter != "W"]
    return rows, {place: s for s, place in enumerate(places)}


def make(map: str = DEFAULT, H: int = 12, slip: float = 0.1) -> TabularMDP:
    """Build the grid drawn by `map`. A move goes in its direction, or with probability `slip` to one of the two sides.
    Walls and edges block moves. The goal and the pits are absorbing, and each step in the goal pays 1."""
    rows, state = cells(map)
    S = len(state)
    P = np.zeros((S, 4, S))
    R = np.zeros((S, 4))
    for (r, c), s in state.items():
        if rows[r][c] in "GX":
            P[s, :, s] = 1.0
            R[s] = 1.0 if rows[r][c] == "G" else 0.0
            continue
        for a in range(4):
            for turn, chance in ((0, 1 - slip), (1, slip / 2), (3, slip / 2)):
                _, dr, dc = MOVES[(a + turn) % 4]
                P[s, a, state.get((r + dr, c + dc), s)] += chance
    starts = np.array([rows[r][c] == "S" for r, c in state], dtype=float)
    return homogeneous(
        "Gridworld",
        P,
        R,
        start=starts / starts.sum(),
        H=H,
        state_labels=tuple(f"({r}, {c})" for r, c in state),
        action_labels=tuple(name for name, _, _ in MOVES),
        drawing={
            "kind": "grid",
            "rows": len(rows),
            "columns": len(rows[0]),
            "cells": [[r, c] for r, c in state],
            "marks": {f"{r},{c}": rows[r][c] for r, c in state if rows[r][c] in "SGX"},
            "moves": [[dr, dc] for _, dr, dc in MOVES],
        },
    )


ENVIRONMENT = Environment(
    key="gridworld",
    title="Gridworld",
    summary="A grid with walls, a goal that pays every step, and pits; moves may slip sideways.",
    source="a standard test bed; not from the papers",
    fields=(
        Field("map", "text", DEFAULT, ALLOWED, rows="S start, G goal, X pit, W wall, - free"),
        horizon(12),
        Field("slip", "float", 0.1, "chance that a move goes sideways", low=0.0, high=1.0),
    ),
    make=make,
    size=lambda map, H, slip: (len(cells(map)[1]), 4, H),
)
