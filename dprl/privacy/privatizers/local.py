"""Local privatizer: every user adds noise before anything leaves the user's device (local DP)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import numpy as np

from dprl.messages import filled
from dprl.privacy.guarantee import NOISE, SENT, WHERE, budget
from dprl.privacy.mechanisms import MECHANISMS, Stream, make_stream, open_stream
from dprl.privacy.mechanisms.unary import UNARY, asking
from dprl.privacy.privatizers.central import calibrated_scale, every
from dprl.privacy.privatizers.privatizer import Noise, Request, model, with_noise
from dprl.statistics import REPLACE_ONE
from dprl.statistics.counts import Counts

ASSUMED = "the questions that a user is asked do not depend on the user's data"


def prepare(request: Request) -> Noise:
    """Return the noise in every cell of every user's report; the algorithm adds up the reports.

    With the calibration `paper`, the noise is that of the statistic's papers. With `calibrated`, it has the smallest
    scale for (epsilon, delta) under replace-one, in units in which all parts tolerate the same noise. With the
    mechanism `unary`, users' answers are (epsilon, 0)-private (mechanisms/unary.py).
    """
    mechanism = MECHANISMS[request.mechanism]
    stream, table, events = make_stream(request.times), None, None
    if mechanism is UNARY:
        stream = asked(stream, request)
    if request.played or request.releases is not None:
        # noise is at most twice as likely to exceed a bound within an epoch as at its end (Levy); the bound on answers
        # already holds for the whole epoch
        table, events = stream, (1 if mechanism is UNARY else 2) * len(request.times)
    if request.releases is not None:
        stream = replace(stream, leaves=open_stream(request.K, request.releases).leaves)
    sent, notes = "", tuple[str, ...]()
    sources: tuple[str, ...] = (mechanism.source, "Doroshenko et al. 2022; Balle, Wang 2018")
    if mechanism is UNARY:
        statistic, scale = request.statistic.evened(), 1.0
        formula, sent = interview(stream, request)
        sources, notes = (mechanism.source,), (ASSUMED,)
    elif request.calibration == "paper":
        statistic = request.statistic
        paper = request.paper_noise("local")
        scale, formula, sources, notes = paper.scale, paper.formula, paper.sources, paper.notes
    else:
        statistic = request.statistic.evened()
        change, m = statistic.sensitivity(request.size, REPLACE_ONE), request.contribution
        scale = calibrated_scale(mechanism, change, stream, request.epsilon, request.delta, m)
        said = {"budget": budget(request.epsilon, request.delta), "moved": statistic.moved}
        formula = (
            filled(NOISE["local"], **said) if m == 1 else filled(NOISE["local_reports"], reports=m, **said)
        )

    counter = statistic.counter(scale)
    if mechanism is UNARY:  # the number of visits that each 1 in an answer about n represents
        (groups, _, _), (kept, turned, _), shares = stream.batches
        counter = float(groups / (shares[1] * (kept - turned)))

    return with_noise(
        request,
        PRIVATIZER,
        statistic,
        stream,
        scale,
        where=WHERE["local_answers"]
        if mechanism is UNARY
        else filled(WHERE["local"], numbers=every(statistic)),
        formula=formula,
        counter=counter,
        assumptions=notes,
        sources=sources,
        sent=sent,
        table=table,
        events=events,
        neighbours=(REPLACE_ONE,),  # no report is empty
    )


def asked(stream: Stream, request: Request) -> Stream:
    """Return the stream of users who answer one-hot questions, with the share of questions about each part."""
    counts, size = cast(Counts, request.statistic.evened()), request.size
    # a part that tolerates less error is asked about more often
    weights = np.array([1.0, counts.visits**2, counts.reward**2])
    epsilon = request.epsilon / request.contribution  # for each report, by pure composition
    while request.contribution * epsilon > request.epsilon:
        epsilon = math.nextafter(epsilon, 0.0)
    return replace(
        stream, batches=asking(size.H, weights / weights.sum(), epsilon), questions=counts.questions(size)
    )


def interview(stream: Stream, request: Request) -> tuple[str, str]:
    """Describe in words the noise and the messages of a user who answers one-hot questions."""
    counts, size = cast(Counts, request.statistic), request.size
    (_, _, steps), (_, turned, _), chances = stream.batches
    shares = ", ".join(f"{part} {share:.1%}" for part, share in zip("nmr", chances[[1, 0, 2]], strict=True))
    short = size.S * size.A
    longest = max(counts.declared.transitions) if counts.declared else size.S * short
    asked = {"H": size.H, "shares": shares, "turned": f"{turned:.4g}"}
    lengths = {"longest": f"{longest:,}", "short": f"{short:,}"}
    if steps > 1:
        formula = filled(NOISE["answers_steps"], steps=f"{steps:g}", **asked)
        sent = filled(SENT["answers"], answers=f"{steps:g}", **lengths)
    else:
        formula, sent = filled(NOISE["answers_step"], **asked), filled(SENT["answer"], **lengths)
    if request.contribution > 1:
        formula = filled(NOISE["answers_reports"], formula=formula, reports=request.contribution)
    return formula, sent


PRIVATIZER = model("local", mechanisms=("unary", "gaussian", "laplace"), prepare=prepare, reports="played")
