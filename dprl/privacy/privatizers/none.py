"""No privacy: the learner sees the exact counts."""

from __future__ import annotations

import numpy as np

from dprl.privacy.guarantee import UNIT, Guarantee
from dprl.privacy.mechanisms import make_stream, open_stream
from dprl.privacy.privatizers.privatizer import Noise, Privatizer, Request, Words

TRUST = "Everybody who sees the counts or the policies may learn about a user; nothing is hidden."

NOTHING_PROMISED = Guarantee(
    model="none",
    trust=TRUST,
    unit=UNIT,
    adjacency="replace one user's whole trajectory by another",
    mechanism="none",
    where="nowhere",
    noise_formula="no noise",
    noise_scale=0.0,
    noise_std=0.0,
)


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


PRIVATIZER = Privatizer(
    key="none",
    title="No privacy",
    words=Words(
        model="none",
        promise="No privacy guarantee",
        given="no privacy",
        stations=("users", "algorithm", "policies"),
        raw=3,
        noise=None,
        trusted=None,
        mixes=None,
        alt="Users send raw data to the algorithm, whose policies may reveal them to everybody; nothing is hidden.",
        blanked="",
        seen="everything",
    ),
    summary="Raw counts without noise, for comparison.",
    trust=TRUST,
    source="",
    mechanisms=(),
    prepare=prepare,
)
