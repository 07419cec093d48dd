"""Local privatizer: every user adds noise before anything leaves the user's device (local DP)."""

from __future__ import annotations

from dprl.privacy.guarantee import SIMULATION, Guarantee, Reading, budget
from dprl.privacy.mechanisms import MECHANISMS, make_stream, open_stream
from dprl.privacy.privatizers.central import every, tight_scale
from dprl.privacy.privatizers.privatizer import Noise, Privatizer, Request, Words, guarantee, with_noise
from dprl.statistics import REPLACE_ONE

TRUST = "Nobody is trusted: each user sends noisy counts only, and the agent never sees a trajectory."


def prepare(request: Request) -> Noise:
    """Noise on every cell of every user's report; the agent adds reports up.

    paper: as the statistic's papers print it. tight: the least scale that proves (epsilon, delta) under
    replace-one for one report, the parts in units in which they tolerate the same noise.
    """
    mechanism = MECHANISMS[request.mechanism]
    stream, table, events = make_stream(request.times), None, None
    if request.releases is not None:
        # the largest noise in an epoch exceeds what it does at its end with at most twice the chance (Levy)
        stream, table, events = open_stream(request.K, request.releases), stream, 2 * len(request.times)
    if request.calibration == "paper":
        statistic = request.statistic
        printed = request.noise_as_printed("local")
        scale, formula, sources, notes = printed.scale, printed.formula, printed.sources, printed.notes
    else:
        statistic = request.statistic.evened()
        change = statistic.sensitivity(request.size, REPLACE_ONE)
        scale = tight_scale(mechanism, change, stream, request.epsilon, request.delta, request.exact)
        formula = (
            f"the least scale that proves {budget(request.epsilon, request.delta)} for one report, in which another "
            f"trajectory changes {statistic.moved}"
        )
        sources, notes = (mechanism.source, "Doroshenko et al. 2022; Balle, Wang 2018"), ()

    def describe(readings: tuple[Reading, ...]) -> Guarantee:
        return guarantee(
            request,
            model="LDP",
            trust=TRUST,
            mechanism=mechanism,
            where=f"on each user's device: on {every(statistic)}, before it is sent",
            formula=formula,
            scale=statistic.counter(scale),
            std=float(noise.std.max()),
            claimed_delta=request.claimed_delta,
            readings=readings,
            assumptions=(*notes, SIMULATION),
            sources=sources,
        )

    noise = with_noise(
        request,
        statistic,
        mechanism,
        stream,
        scale,
        describe,
        table=table,
        events=events,
        neighbours=(REPLACE_ONE,),  # a report is as good as any other: none is empty
    )
    return noise


PRIVATIZER = Privatizer(
    key="local",
    title="Local (LDP)",
    words=Words(
        model="LDP",
        promise="Local differential privacy",
        who="nobody trusted",
        given="nobody trusted",
        stations=("users", "agent", "policies"),
        raw=1,
        noise=0,
        trusted=None,
        mixes=None,
        alt="Users add noise on their own devices; neither the agent nor anybody else sees raw data, and nobody is "
        "trusted.",
        blanked="",
        seen="the user's own message",
    ),
    summary="Every user adds noise to their own counts before sending them; no one else needs to be trusted.",
    trust=TRUST,
    source="QW23-online section 5.2",
    mechanisms=("gaussian", "laplace"),
    prepare=prepare,
)
