"""A data set of people in the two rooms of the environment `custom`, and what is declared of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl.environments import custom
from dprl.simulation import datasets
from dprl.simulation.uploads.model import trajectories

EXAMPLE: dict[str, Any] = {
    "states": custom.EXAMPLE["state_labels"],
    "actions": custom.EXAMPLE["action_labels"],
    "horizon": 2,
    "rewards": custom.EXAMPLE["R"],
    "reward_range": [0, 1],
    "start": "hall",
}


def example() -> str:
    """The CSV of 20,000 people who act at random."""
    mdp = custom.make(H=2)
    return trajectories(mdp, datasets.uniform_policy(mdp), 20_000, np.random.default_rng(0))
