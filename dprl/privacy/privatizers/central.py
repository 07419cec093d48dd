"""Central privatizer: a trusted curator sees trajectories and releases noisy counts (joint DP)."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import numpy as np

from dprl.mdp import Size
from dprl.messages import filled
from dprl.privacy.accounting import calibrated
from dprl.privacy.guarantee import ASSUMED, NOISE, WHERE, LadderStep, budget
from dprl.privacy.losses import Losses
from dprl.privacy.mechanisms import (
    MECHANISMS,
    Mechanism,
    Stream,
    make_stream,
    open_stream,
    stream_of_releases,
)
from dprl.privacy.mechanisms.gaussian import MAX_RELEASES
from dprl.privacy.mechanisms.optimal import excess
from dprl.privacy.mechanisms.tree import levels
from dprl.privacy.privatizers.privatizer import (
    REFERENCE_DELTA,
    Noise,
    Request,
    losses_of_user,
    model,
    proved,
    with_noise,
)
from dprl.statistics import BLANK_ONE, REPLACE_ONE, Change, Statistic
from dprl.statistics.counts import Counts


def prepare(request: Request) -> Noise:
    """Return the noise for the running sums that a trusted curator releases.

    With the calibration `paper`, the noise is that of the statistic's papers, in a tree over the users. With
    `calibrated`, its scale is the least for (epsilon, delta) under replace-one, in units in which all parts tolerate
    the same noise.
    """
    mechanism = MECHANISMS[request.mechanism]
    table, events = None, None
    if request.calibration == "paper":
        stream, statistic = make_stream(request.times), request.statistic
        if request.releases is not None:
            # any number of users may become a release, chosen after earlier noise has been seen
            stream, table, events = open_stream(request.K, request.releases), stream, request.K
        paper = request.paper_noise("central")
        if not paper.of_users:
            stream = stream_of_releases(len(request.times))
        scale, formula, notes = paper.scale, paper.formula, paper.notes
        sources: tuple[str, ...] = (*paper.sources, mechanism.source)
    else:
        stream = stream_of_releases(request.releases or len(request.times))
        statistic = request.statistic.evened()
        change, m = statistic.sensitivity(request.size, REPLACE_ONE), request.contribution
        scale = calibrated_scale(mechanism, change, stream, request.epsilon, request.delta, m)
        formula = smallest(request, statistic.moved, change.at_once(m), stream.releases)
        sources, notes = (mechanism.source, "Doroshenko et al. 2022; Balle, Wang 2018"), ()

    M = request.releases or len(request.times)
    asked = request.epsilon, request.delta or REFERENCE_DELTA, request.contribution
    return with_noise(
        request,
        PRIVATIZER,
        statistic,
        stream,
        scale,
        where=filled(WHERE["central"], numbers=every(statistic)),
        formula=formula,
        counter=statistic.counter(scale),
        assumptions=(*ASSUMED["joint"], *notes),
        sources=sources,
        ladder=lambda: (
            ladder(cast(Counts, request.statistic), request.size, request.K, M, *asked)
            if request.statistic.counted
            else ()
        ),
        table=table,
        events=events,
    )


def smallest(request: Request, moved: str, change: Change, releases: int) -> str:
    """Describe the size of calibrated noise in words. `moved` describes the effect of replacing one episode, and
    `change` is the effect of replacing all of a user's episodes."""
    said: dict[str, object] = {
        "budget": budget(request.epsilon, request.delta),
        "releases": f"{releases:,}",
        "norm": length(change, request.delta),
        "moved": moved,
    }
    if change.anew:
        said["anew"] = length(change.once, request.delta)
    if request.contribution > 1:
        said["times"] = request.contribution
    name = "anew" if change.anew else "central"
    return filled(NOISE[f"{name}_times" if request.contribution > 1 else name], **said)


def length(change: Change, delta: float) -> str:
    """Describe the size of a change in words, in the norm that the proof uses at this delta."""
    return f"{change.l1:g} in L1 norm" if delta == 0 else f"{change.l2_squared:g} in squared L2 norm"


def every(statistic: Statistic) -> str:
    """Return a phrase that names the numbers to which noise is added."""
    return filled(WHERE["counters" if statistic.counted else "sums"], parts=statistic.parts)


def calibrated_scale(
    mechanism: Mechanism, change: Change, stream: Stream, epsilon: float, delta: float, contribution: int = 1
) -> float:
    """Return the least noise scale for which we can prove (epsilon, delta) if up to `contribution` episodes change."""

    def losses_at(scale: float) -> Losses:
        return losses_of_user(mechanism, change, scale, stream, contribution)[0]

    return calibrated(losses_at, epsilon, delta)


@lru_cache(maxsize=256)
def ladder(
    statistic: Counts, size: Size, K: int, M: int, epsilon: float, delta: float, contribution: int
) -> tuple[LadderStep, ...]:
    """Return several kinds of noise, from the paper's to the smallest, one improvement at a time. Each states the
    standard deviation of a visit counter's noise at the worst of M releases for K users. Beyond MAX_RELEASES, the
    optimal factorisation is left out, because we do not offer it there."""
    plain = statistic.sensitivity(size, REPLACE_ONE)
    users, releases = make_stream(np.array([K])), stream_of_releases(M)
    laplace = MECHANISMS["laplace-tree"]
    paper = statistic.sensitivity(size, BLANK_ONE).l1 * levels(users.items) / epsilon

    def std(mechanism: Mechanism, stream: Stream, scale: float, seen: Statistic = statistic) -> float:
        return float(seen.counter(scale) * mechanism.std(stream).max())

    twice = proved(laplace, plain, paper, users, 0.0, contribution)
    steps = [
        LadderStep("as in the paper: Laplace tree over the users", std(laplace, users, paper), twice, 0.0),
        LadderStep(
            "the same, scaled so that the claim is proved",
            std(laplace, users, paper * twice / epsilon),
            epsilon,
            0.0,
        ),
    ]
    evened = statistic.evened()
    ideas = [
        ("the same tree, accounted tightly", "accounting at that δ", "laplace-tree", users, statistic),
        ("a Laplace tree over the release times", "fewer releases", "laplace-tree", releases, statistic),
        ("a Gaussian tree over the release times", "Gaussian noise", "gaussian-tree", releases, statistic),
        (
            "Gaussian noise, Toeplitz factorisation",
            "the Toeplitz factorisation",
            "gaussian-toeplitz",
            releases,
            statistic,
        ),
        (statistic.evening, statistic.briefly, "gaussian-toeplitz", releases, evened),
        ("the optimal factorisation", "the optimal factorisation", "gaussian-optimal", releases, evened),
    ]
    for what, idea, key, stream, seen in ideas if M <= MAX_RELEASES else ideas[:-1]:
        mechanism = MECHANISMS[key]
        change = seen.sensitivity(size, REPLACE_ONE)
        scale = calibrated_scale(mechanism, change, stream, epsilon, delta, contribution=contribution)
        steps.append(LadderStep(what, std(mechanism, stream, scale, seen), epsilon, delta, idea))
    if M <= MAX_RELEASES:
        least = steps[-1].std / excess(M)
        steps.append(LadderStep("lower bound for any factorisation", least, epsilon, delta))
    return tuple(steps)


PRIVATIZER = model(
    "central",
    mechanisms=("gaussian-optimal", "gaussian-toeplitz", "gaussian-blt", "gaussian-tree", "laplace-tree"),
    prepare=prepare,
    per_release=True,
)
