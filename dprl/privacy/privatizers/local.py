"""Local privatizer: every user adds noise before anything leaves the user's device (local DP)."""

from __future__ import annotations

from dprl.privacy.guarantee import REPLACE_ONE, SIMULATION, UNIT, Guarantee
from dprl.privacy.mechanisms import MECHANISMS, make_leaves
from dprl.privacy.privatizers.privatizer import Noise, Privatizer, Request, scaled

TRUST = "Nobody is trusted: each user sends noisy counts only, and the agent never sees a trajectory."


def prepare(request: Request) -> Noise:
    """Laplace(3H/epsilon) on every counter of n, m and r of every user (QW23-online 5.2); the agent adds up."""
    mechanism = MECHANISMS[request.mechanism]
    leaves = make_leaves(request.times)
    scale = 3 * request.H / request.epsilon
    bound, std = scaled(mechanism, leaves, scale, request)
    guarantee = Guarantee(
        model="LDP",
        trust=TRUST,
        unit=UNIT,
        adjacency=REPLACE_ONE,
        mechanism=mechanism.title,
        where="on each user's device: on every counter of n, m and r, before it is sent",
        noise_formula="Laplace(3H/epsilon) on each counter of each user",
        noise_scale=scale,
        noise_std=float(std.max()),
        claimed_epsilon=request.epsilon,
        claimed_delta=0.0,
        # L1 = 2H a family under replace-one, where the paper counts H (see central.py)
        proved_epsilon=2 * request.epsilon,
        proved_delta=0.0,
        assumptions=(SIMULATION,),
        sources=("QW23-online section 5.2",),
    )
    return Noise(mechanism, leaves, scale, bound, std, guarantee)


PRIVATIZER = Privatizer(
    key="local",
    title="Local (LDP)",
    summary="Every user adds noise to their own counts before sending them; no one else needs to be trusted.",
    trust=TRUST,
    source="QW23-online section 5.2",
    mechanisms=("laplace",),
    calibrations=("paper",),
    prepare=prepare,
)
