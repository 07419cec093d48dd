"""No privacy: the learner sees the counts themselves."""

from __future__ import annotations

import numpy as np

from dprl.privacy.guarantee import REPLACE_ONE, UNIT, Guarantee
from dprl.privacy.mechanisms import make_leaves
from dprl.privacy.privatizers.privatizer import Noise, Privatizer, Request

TRUST = "Everybody who sees the counts or the policies may learn about a user; nothing is hidden."


def prepare(request: Request) -> Noise:
    """Zero noise, E = 0."""
    zeros = np.zeros(len(request.times))
    guarantee = Guarantee(
        model="none",
        trust=TRUST,
        unit=UNIT,
        adjacency=REPLACE_ONE,
        mechanism="none",
        where="nowhere",
        noise_formula="no noise",
        noise_scale=0.0,
        noise_std=0.0,
        claimed_epsilon=None,
        claimed_delta=None,
        proved_epsilon=None,
        proved_delta=None,
        assumptions=(),
        sources=(),
    )
    return Noise(None, make_leaves(request.times), 0.0, zeros, zeros, guarantee)


PRIVATIZER = Privatizer(
    key="none",
    title="No privacy",
    summary="Raw counts: the comparison.",
    trust=TRUST,
    source="",
    mechanisms=(),
    calibrations=(),
    prepare=prepare,
)
