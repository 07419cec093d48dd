"""Two users who put their heads together: one draw of noise for a whole counter hides nobody (V20 section 2.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl.privacy import MECHANISMS
from dprl.privacy.attack import unit_noise
from dprl.privacy.mechanisms import stream_of_releases
from dprl.privacy.mechanisms.tree import levels

USERS = 8
TREE = "laplace-tree"  # the repair that the paper chose


def collusion(spec: Any) -> dict[str, Any]:
    """One counter, of visits to one state, released after each of USERS users, at the epsilon of the attacked run.

    Each release is told to the user who has just been counted. Users t - 1 and t + 1 know what they were told, and the
    latter what it did itself; so release t + 1, less release t - 1, less user t + 1's own visit, is user t's, if the
    noise is the same in both.

    Returns:
        visits: [USERS] 0 or 1; one: the one draw; tree: [USERS] noise of each release of the tree; scale: of each draw.
    """
    stream = stream_of_releases(USERS)
    scale = levels(USERS) / float(spec.run.epsilon)
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([spec.root_seed, USERS])))
    visits = rng.integers(0, 2, USERS)
    tree = scale * unit_noise(MECHANISMS[TREE], stream, 1, rng)[:, 0]
    return {
        "visits": visits.tolist(),
        "one": float(rng.laplace(scale=scale)),
        "tree": tree.tolist(),
        "scale": scale,
    }
