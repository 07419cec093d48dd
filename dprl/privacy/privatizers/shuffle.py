"""Shuffle privatizer: users add random bits, and a trusted shuffler mixes the messages of a batch (shuffle DP)."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.fields import reject
from dprl.mdp.tabular import Array
from dprl.messages import filled
from dprl.privacy.accounting import for_each, gaussian_mu, least_scale
from dprl.privacy.guarantee import ASSUMED, NOISE, SENT, WHERE, Reading, budget
from dprl.privacy.losses import SAID, Binomial, Losses
from dprl.privacy.mechanisms import Stream, make_stream, open_stream, stream_of_releases
from dprl.privacy.mechanisms.binomial import AS_IN_PAPER, BINOMIAL_TREE, VARIANCE
from dprl.privacy.mechanisms.tree import levels
from dprl.privacy.privatizers.privatizer import Noise, Request, model, with_noise
from dprl.statistics import REPLACE_ONE, Change

MOST_USERS = 10**15
LEAST_DELTA = 1e-18  # the accountant ignores outcomes with a probability of about 1e-30 in each counter
MOST_BITS = 4e10  # in a batch; with more, the accountant would have to compute too many outcomes


def check(
    change: Change,
    mechanism: str,
    releases: int,
    calibration: str,
    epsilon: float,
    delta: float,
    contribution: int = 1,
) -> None:
    """Raise SpecError if this budget needs more random bits than the accountant can handle."""
    if delta < LEAST_DELTA:
        raise reject("delta", SAID["small_delta"], delta=delta, least=LEAST_DELTA)
    if calibration != "paper":
        epsilon, delta = for_each(epsilon, delta, contribution)
    if delta < LEAST_DELTA:
        raise reject("contribution", SAID["small_delta_each"], episodes=contribution, delta=delta)
    if calibration == "paper":
        bits = paper_tau(change.raised, epsilon, delta)
    else:
        times = levels(releases) if mechanism == BINOMIAL_TREE.key else 1
        bits = 4 * guessed(change.raised * times, epsilon, delta)
    if bits > MOST_BITS:
        raise reject("epsilon", SAID["bits"], epsilon=epsilon)


class Drawn(NamedTuple):
    """The random bits of a run. `sent` describes one user's messages, and `where` is the key of the text that says
    where bits are mixed. The bounds are tabulated at the releases of the stream `table`."""

    stream: Stream
    formula: str
    sources: tuple[str, ...]
    sent: str
    where: str
    assumed: str
    table: Stream | None = None


def prepare(request: Request) -> Noise:
    """Return Binomial noise for every counter, in each batch (a block of the schedule) or in each node of a tree."""
    change = request.statistic.sensitivity(request.size, REPLACE_ONE)
    releases = request.releases or len(request.times)
    asked = request.calibration, request.epsilon, request.delta, request.contribution
    check(change, request.mechanism, releases, *asked)
    drawn = (in_nodes if request.mechanism == BINOMIAL_TREE.key else in_batches)(request, change)

    one_each, e, d = request.contribution == 1, request.epsilon, request.delta
    stated: tuple[Reading, ...] = ()
    if request.calibration == "paper" and one_each and e <= change.raised:  # the lemma requires eps' <= 1
        how = "the lemma of Bai et al. 2025, basic composition"
        stated = (Reading(REPLACE_ONE, 2 * e, 2 * change.raised * d, how),)
    return with_noise(
        request,
        PRIVATIZER,
        request.statistic,
        drawn.stream,
        1.0,
        where=filled(WHERE[drawn.where], parts=request.statistic.parts),
        formula=drawn.formula,
        counter=1.0,
        assumptions=(drawn.assumed, *ASSUMED["bits"]),
        sources=drawn.sources,
        sent=drawn.sent,
        stated=stated,
        table=drawn.table,
    )


def in_batches(request: Request, change: Change) -> Drawn:
    """Choose the random bits that give each batch its own noise.

    With the calibration `paper`, eps' = epsilon/(3H) and tau = 96 ln(2/delta)/eps'^2 (Bai et al. 2025, Algorithm 4).
    With `calibrated`, the variance is the least for which a change of 3H counters by +1 and 3H by -1 is (epsilon,
    delta)-private.
    """
    if request.batches is None:
        # the number of users in each batch, if it is known
        users = np.diff(request.times, prepend=0) if request.releases is None else np.ones(1, dtype=np.int64)
        raised = np.full(len(users), change.raised, dtype=np.int64)
    else:
        users = np.array([batch.users for batch in request.batches], dtype=np.int64)
        raised = np.array([batch.raised for batch in request.batches], dtype=np.int64)
    if request.calibration == "paper":
        tau = paper_tau(change.raised, request.epsilon, request.delta)
        bits = paper_bits(users, tau)
        formula = filled(NOISE["paper_bits"], tau=f"{tau:,.0f}")
        sources: tuple[str, ...] = ("B25 Algorithm 4 and section V-A",)
    else:
        bits = np.empty((len(users), 2))
        each = for_each(request.epsilon, request.delta, request.contribution)
        for count in np.unique(raised):
            fair, variance = least_bits(int(count), *each)
            bits[raised == count] = calibrated_bits(users[raised == count], fair, variance)
        said: dict[str, object] = {
            "fair": f"{4 * variance:,.0f}",
            "variance": f"{variance:,.0f}",
            "budget": budget(*each),
            "counters": 2 * count,
        }
        if request.releases is None:
            formula = together(filled(NOISE["bits"], bits=f"{fair:,}", **said), request)
        else:
            formula = together(filled(NOISE["bits_released"], **said), request)
        sources = ("B25 Algorithm 4", "Doroshenko et al. 2022")
    cells = request.statistic.cells(request.size)
    sent = messages(users, bits[:, 0], cells if request.batches is None else None)
    if request.releases is not None:  # for a batch of any size
        most = math.ceil(tau if request.calibration == "paper" else 4 * variance)
        sent = messages(np.array([1, most]), np.array([most, most]), cells)
    drawn = np.column_stack([bits, raised])
    # which batches a row counts may be decided during the run, so all of them may have the largest variance
    largest = float((drawn[:, 0] * drawn[:, 1] * (1 - drawn[:, 1])).max())
    stream, table = make_stream(request.times, drawn, forgotten=request.batches is not None), None
    if request.releases is not None:
        rule = (AS_IN_PAPER, tau) if request.calibration == "paper" else (VARIANCE, variance)
        drawn = np.tile([*rule, change.raised], (request.releases, 1))
        stream = open_stream(request.K, request.releases, drawn)
        table = replace(stream_of_releases(request.releases), batches=drawn)
    elif request.played:
        rows = np.tile([VARIANCE, largest, change.raised], (len(users), 1))
        table = replace(stream_of_releases(len(users)), batches=rows)
    assumed = "the shuffler is trusted and every user of a batch adds their bits"
    return Drawn(stream, formula, sources, sent, "batches", assumed, table)


def in_nodes(request: Request, change: Change) -> Drawn:
    """Choose the random bits of each node in a tree over the batches.

    At level l (from 0), each of a node's 2^l batches adds a share of 2^-l, whatever its size. The bits are the fewest
    for which a change of 3H counters by +1 and 3H by -1 in one node per level is (epsilon, delta)-private.
    """
    releases = request.releases or len(request.times)
    L = levels(releases)
    each = for_each(request.epsilon, request.delta, request.contribution)
    fair, _ = least_bits(change.raised * L, *each)
    whole = 2 ** (L - 1)  # batches in the largest node, which share its bits evenly
    bits = whole * math.ceil(fair / whole)
    stream = replace(stream_of_releases(releases), batches=np.array([[bits, 0.5, change.raised]]))
    formula = filled(
        NOISE["bits_nodes"],
        bits=f"{bits:,}",
        batches=f"{releases:,}",
        budget=budget(*each),
        counters=2 * change.raised,
        levels=L,
    )
    random = bits * (2 - 1 / whole)  # in a batch, for one counter, over all levels
    sizes = np.array([1, math.ceil(random)])
    if request.releases is None:
        sizes = np.diff(request.times, prepend=0)
    return Drawn(
        stream,
        together(formula, request),
        ("Chan, Shi, Song 2011", "B25 Algorithm 4", "Doroshenko et al. 2022"),
        messages(sizes, np.full(len(sizes), random), request.cells, L),
        "nodes",
        "the shuffler is trusted, keeps messages until all batches of a node are in, and every user adds their bits",
    )


def together(formula: str, request: Request) -> str:
    """If users may have several episodes, add the guarantee for all of them together to the noise formula."""
    if request.contribution == 1:
        return formula
    proved = budget(request.epsilon, request.delta)
    return filled(NOISE["bits_together"], formula=formula, budget=proved, episodes=request.contribution)


def messages(sizes: NDArray[np.int64], bits: Array, cells: int | None, copies: int = 1) -> str:
    """Describe one user's messages, given the batch sizes [M] and the random bits per counter and batch [M]. There are
    `cells` counters (None if the number varies), and `copies` messages contain the true bit."""
    each = np.ceil(bits / sizes) + copies
    low, high = int(each.min()), int(each.max())
    name = "counter" if cells is None else "counters" if copies == 1 else "nodes"
    said: dict[str, object] = {} if cells is None else {"cells": f"{cells:,}"}
    if copies > 1:
        said["copies"] = copies
    if low == high:
        return filled(SENT[name], bits=f"{low:,}", **said)
    return filled(SENT[f"{name}_range"], low=f"{low:,}", high=f"{high:,}", **said)


def paper_tau(raised: int, epsilon: float, delta: float) -> float:
    """Return tau = 96 ln(2/delta)/(epsilon/raised)^2 with raised = 3H (Bai et al. 2025, Algorithm 4, V-A)."""
    return 96 * math.log(2 / delta) / (epsilon / raised) ** 2


def guessed(raised: int, epsilon: float, delta: float) -> float:
    """Estimate the required variance of the noise by the formula for Gaussian noise."""
    return 2 * raised / gaussian_mu(epsilon, delta) ** 2


def paper_bits(users: NDArray[np.int64], tau: float) -> Array:
    """Return each batch's number of random bits and the probability of a 1 [M, 2] (Bai et al. 2025, Algorithm 4)."""
    return _bits(users, users < tau, tau, np.minimum(tau / (2.0 * users), 0.5))


def calibrated_bits(users: NDArray[np.int64], fair: int, variance: float) -> Array:
    """Return each batch's number of random bits and the probability q that a bit is 1, [M, 2]. A batch of n < max(4
    variance, fair) users has at least `fair` fair bits; a larger one has n bits with n q (1 - q) = variance."""
    share = np.minimum(variance / users, 0.25)
    # the smaller root of q (1 - q) = share, without cancellation
    q = 2 * share / (1 + np.sqrt(1 - 4 * share))
    return _bits(users, users < max(4 * variance, fair), fair, q)


def _bits(users: NDArray[np.int64], few: NDArray[np.bool_], fair: float, q: Array) -> Array:
    """Return the bits of each batch: at least `fair` fair bits where `few`, else one bit per user that is 1 w.p. q."""
    trials = np.where(few, users * np.ceil(fair / users), users)
    return np.stack([trials, np.where(few, 0.5, q)], axis=1).astype(float)


@lru_cache(maxsize=4096)
def least_bits(raised: int, epsilon: float, delta: float) -> tuple[int, float]:
    """Return the smallest number of fair bits that suffices, and the smallest sufficient variance of rarer bits.

    They suffice to prove (epsilon, delta) if `raised` counters rise by one and as many fall by one. More fair bits also
    suffice. Rarer bits need up to 2% more variance. A variance that suffices for 10^15 users also suffices for smaller
    batches, as tests check.
    """
    guess = guessed(raised, epsilon, delta)

    def fair_losses(bits: float) -> Losses:
        return (Binomial(math.ceil(bits), 0.5, raised, raised),)

    def rare_losses(variance: float) -> Losses:
        share = min(variance / MOST_USERS, 0.25)
        return (Binomial(MOST_USERS, 2 * share / (1 + math.sqrt(1 - 4 * share)), raised, raised),)

    fair = math.ceil(least_scale(fair_losses, epsilon, delta, 4 * guess))
    return fair, max(least_scale(rare_losses, epsilon, delta, guess), fair / 4)


PRIVATIZER = model(
    "shuffle",
    mechanisms=("binomial-sum", "binomial-tree"),
    prepare=prepare,
    binary_rewards=True,
    per_release=True,
    check=check,
)
