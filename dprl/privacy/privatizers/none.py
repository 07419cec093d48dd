"""No privacy: the learner sees the exact counts."""

from __future__ import annotations

import numpy as np

from dprl.privacy.guarantee import UNIT, Guarantee
from dprl.privacy.mechanisms import make_stream, open_stream
from dprl.privacy.privatizers.privatizer import Noise, Request, model


def prepare(request: Request) -> Noise:
    """Return a `Noise` that adds nothing, with the error bound E = 0."""
    nothing = np.zeros(1)
    stream = (
        make_stream(request.times) if request.releases is None else open_stream(request.K, request.releases)
    )
    return Noise(
        mechanism=None,
        stream=stream,
        statistic=request.statistic,
        scales=request.statistic.scales(request.size, 0.0),
        by_users=True,
        ends=request.times[-1:],
        bound=nothing,
        std=nothing,
        radius=lambda: nothing,
        guarantee=lambda: NOTHING_PROMISED,
        losses=lambda: (),
    )


PRIVATIZER = model("none", mechanisms=(), prepare=prepare)

NOTHING_PROMISED = Guarantee(
    model="none",
    trust=PRIVATIZER.trust,
    unit=UNIT,
    adjacency="replace one user's whole trajectory by another",
    mechanism="none",
    where="nowhere",
    noise_formula="no noise",
    noise_scale=0.0,
    noise_std=0.0,
)
