"""No privacy: the learner sees the counts themselves."""

from __future__ import annotations

import numpy as np

from dprl.privacy.guarantee import UNIT, Guarantee
from dprl.privacy.mechanisms import make_stream
from dprl.privacy.privatizers.privatizer import Noise, Privatizer, Request

TRUST = "Everybody who sees the counts or the policies may learn about a user; nothing is hidden."

CARD = Guarantee(
    model="none",
    trust=TRUST,
    unit=UNIT,
    adjacency="replace one user's whole trajectory by another",
    mechanism="none",
    where="nowhere",
    noise_formula="no noise",
    noise_scale=0.0,
    noise_std=0.0,
    claimed_epsilon=None,
    claimed_delta=None,
    proved_epsilon=None,
    proved_delta=None,
    readings=(),
    ladder=(),
    assumptions=(),
    sources=(),
)


def prepare(request: Request) -> Noise:
    """Zero noise, E = 0."""
    nothing = np.zeros(1)
    scales = request.statistic.scales(request.size, 0.0)
    return Noise(None, make_stream(request.times), scales, request.times[-1:], nothing, nothing, lambda: CARD)


PRIVATIZER = Privatizer(
    key="none",
    title="No privacy",
    summary="Raw counts: the comparison.",
    trust=TRUST,
    source="",
    mechanisms=(),
    prepare=prepare,
)
