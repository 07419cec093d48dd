"""The example data set: simulated patients of a ward, and their declaration."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from dprl.mdp import TabularMDP
from dprl.mdp.tabular import Array

_WARD = tomllib.loads(Path(__file__).with_name("example.toml").read_text("utf-8"))
EXAMPLE: dict[str, Any] = _WARD["declared"]
EXAMPLE_PEOPLE, EXAMPLE_RHO = 20_000, 0.1


def example() -> str:
    """Return the example data set as CSV text: simulated trajectories, which EXAMPLE declares."""
    H, S, A = EXAMPLE["horizon"], len(EXAMPLE["states"]), len(EXAMPLE["actions"])
    P = np.broadcast_to(_WARD["next"], (H, S, A, S)).copy()
    R = np.broadcast_to(_WARD["rewards"], (H, S, A)).copy()
    labels = tuple(EXAMPLE["states"]), tuple(EXAMPLE["actions"])
    ward = TabularMDP("ward", P, R, np.array(_WARD["start"]), *labels)
    return trajectories(
        ward, np.stack([np.array(_WARD["today"])] * H), EXAMPLE_PEOPLE, np.random.default_rng(0)
    )


def trajectories(mdp: TabularMDP, policy: Array, people: int, rng: np.random.Generator) -> str:
    """Simulate people in a model with rewards 0 and 1, and return CSV text. `policy` has probabilities [H, S, A]."""

    def drawn(chances: Array) -> np.ndarray:
        return np.asarray((rng.random(len(chances))[:, None] > chances.cumsum(-1)[:, :-1]).sum(-1))

    s = drawn(np.tile(mdp.d1, (people, 1)))
    rows = []
    for h in range(mdp.H):
        a = drawn(policy[h, s])
        x = drawn(mdp.P[h, s, a])
        rows.append((s, a, rng.random(len(s)) < mdp.R[h, s, a]))
        s = x
    states, actions = mdp.state_labels, mdp.action_labels
    lines = (
        f"{who},{h},{states[s[who]]},{actions[a[who]]},{int(r[who])}\n"
        for who in range(people)
        for h, (s, a, r) in enumerate(rows)
    )
    return "".join(["episode,step,state,action,reward\n", *lines])
