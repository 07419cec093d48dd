"""Local privatizer: every user adds noise before anything leaves the user's device (local DP)."""

from __future__ import annotations

from dprl.privacy.guarantee import SIMULATION, Guarantee, Reading, budget
from dprl.privacy.mechanisms import MECHANISMS, make_stream
from dprl.privacy.privatizers.central import tight_scale
from dprl.privacy.privatizers.privatizer import Noise, Privatizer, Request, guarantee, replaced, with_noise

TRUST = "Nobody is trusted: each user sends noisy counts only, and the agent never sees a trajectory."


def prepare(request: Request) -> Noise:
    """Noise on every counter of n, m and r of every user; the agent adds reports up.

    paper: Laplace(3H/epsilon) (QW23-online 5.2). tight: the least scale that proves (epsilon, delta) under
    replace-one for one report, with r sent as r/4.
    """
    mechanism = MECHANISMS[request.mechanism]
    stream = make_stream(request.times)
    if request.calibration == "paper":
        reward = 1.0
        scale = 3 * request.H / request.epsilon
        formula = "Laplace(3H/epsilon) on each counter of each user"
        sources: tuple[str, ...] = ("QW23-online section 5.2",)
    else:
        reward = 0.25
        change = replaced(request.H, reward)
        scale = tight_scale(mechanism, change, stream, request.epsilon, request.delta, request.exact)
        formula = (
            f"the least scale that proves {budget(request.epsilon, request.delta)} for one report, in which another "
            f"trajectory changes 2H counters of n, 2H of m, and 2H of r/4"
        )
        sources = (mechanism.source, "dp-accounting; Balle, Wang 2018")

    def describe(readings: tuple[Reading, ...]) -> Guarantee:
        return guarantee(
            request,
            model="LDP",
            trust=TRUST,
            mechanism=mechanism,
            where="on each user's device: on every counter of n, m and r, before it is sent",
            formula=formula,
            scale=scale,
            std=float(noise.std.max()),
            claimed_delta=0.0 if request.calibration == "paper" else request.delta,
            readings=readings,
            assumptions=(SIMULATION,),
            sources=sources,
        )

    noise = with_noise(request, mechanism, stream, scale, reward, describe)
    return noise


PRIVATIZER = Privatizer(
    key="local",
    title="Local (LDP)",
    summary="Every user adds noise to their own counts before sending them; no one else needs to be trusted.",
    trust=TRUST,
    source="QW23-online section 5.2",
    mechanisms=("gaussian", "laplace"),
    prepare=prepare,
)
