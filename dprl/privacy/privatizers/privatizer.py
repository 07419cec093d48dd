"""The record every privatizer file offers to the registry, and what it hands to the engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array
from dprl.privacy.accounting import epsilon_of
from dprl.privacy.errors import per_event
from dprl.privacy.guarantee import ADD_REMOVE, REPLACE_ONE, UNIT, Guarantee, Reading, Step
from dprl.privacy.mechanisms import Change, Mechanism, Stream

REFERENCE_DELTA = 1e-6  # every card also says what the noise proves at this delta


@dataclass(frozen=True)
class Batch:
    """Users whose data are released together, once. moved: counters that replacing one of them moves up (as many
    move down)."""

    users: int
    moved: int


@dataclass(frozen=True)
class Request:
    """What a privatizer is asked for: the run's sizes, release times [M] in users, and its budget.

    exact: solve for the least noise; otherwise approximately, for a preview that no run uses;
    batches: [M], of a learner that releases each batch by itself and then forgets it; `times` are then the ends of
    the batches, counted in users that are in one.
    """

    H: int
    S: int
    A: int
    times: NDArray[np.int64]
    mechanism: str
    calibration: str
    epsilon: float
    delta: float
    beta: float
    exact: bool = True
    batches: tuple[Batch, ...] | None = None

    @property
    def K(self) -> int:
        """Users in the whole run."""
        return int(self.times[-1])

    @property
    def cells(self) -> int:
        """Counters released each time."""
        return self.H * self.S * self.A * (self.S + 2)


@dataclass(frozen=True)
class Noise:
    """A privatizer, ready to run.

    mechanism: None for no noise; stream: see mechanisms; scales: [S + 2] multiply unit noise in the counters of one
    (h, s, a), in counts; bound: E_{eps,beta} at each release [M], std: of one counter n or m at each release [M],
    both in counts (for trees: of the worst release); card: the guarantee, which may take a moment to compute.
    """

    mechanism: Mechanism | None
    stream: Stream
    scales: Array
    bound: Array
    std: Array
    card: Callable[[], Guarantee]


@dataclass(frozen=True)
class Privatizer:
    """key: its name in a spec; trust: who sees raw data, in words; mechanisms: keys, the best first;
    prepare: from a Request to a Noise; binary_rewards: each reward is rounded at random to 0 or 1 by its user;
    check(H, calibration, epsilon, delta): raises SpecError for a budget it has no noise for."""

    key: str
    title: str
    summary: str
    trust: str
    source: str
    mechanisms: tuple[str, ...]
    prepare: Callable[[Request], Noise]
    binary_rewards: bool = False
    check: Callable[[int, str, float, float], None] | None = None


def replaced(H: int, reward: float) -> Change:
    """Replace one user's trajectory: at each of H steps one unit leaves one counter and enters another, in n, in m,
    and (at most one unit) in r, which is released in units of 1 / `reward`. L1 is 2H a family, not H."""
    return Change(((4 * H, 1.0), (2 * H, reward)))


def removed(H: int, reward: float) -> Change:
    """Add or remove one user's trajectory: at each of H steps one unit, in n, in m and in r."""
    return Change(((2 * H, 1.0), (H, reward)), one_way=True)


def proved(mechanism: Mechanism, change: Change, scale: float, stream: Stream, delta: float) -> float:
    """The least epsilon that the noise proves at `delta`, wherever in the stream the change is."""
    return max(epsilon_of(losses, delta) for losses in mechanism.losses(change, scale, stream))


def with_noise(
    request: Request,
    mechanism: Mechanism,
    stream: Stream,
    scale: float,
    reward: float,
    describe: Callable[[tuple[Reading, ...]], Guarantee],
) -> Noise:
    """Noise of `scale` on n and m, and on r released in units of 1 / `reward` (so scale / reward in counts).

    E: |n^ - n|, |m^ - m| <= E/4 and |r^ - r| <= E for all counters and releases w.p. >= 1 - beta/3; with reward 1/4
    all three are equally tight. describe: makes the card from what the noise proves.
    """
    scales = np.full(request.S + 2, scale)
    scales[-1] = scale / reward
    failure = per_event(request.beta, request.cells, len(request.times))

    def card() -> Guarantee:
        deltas = [d for d in (0.0, request.delta, REFERENCE_DELTA) if d > 0 or not mechanism.needs_delta]
        changes = (
            (REPLACE_ONE, replaced(request.H, reward)),
            (ADD_REMOVE, removed(request.H, reward)),
        )
        readings = tuple(
            Reading(name, proved(mechanism, change, scale, stream, d), d, "our accountant")
            for name, change in changes
            for d in sorted(set(deltas))
        )
        return describe(readings)

    return Noise(
        mechanism=mechanism,
        stream=stream,
        scales=scales,
        bound=4 * scale * mechanism.tail(stream, failure),
        std=scale * mechanism.std(stream),
        card=card,
    )


def guarantee(
    request: Request,
    *,
    model: str,
    trust: str,
    mechanism: Mechanism,
    where: str,
    formula: str,
    scale: float | None,
    std: float,
    claimed_delta: float,
    readings: tuple[Reading, ...],
    assumptions: tuple[str, ...],
    sources: tuple[str, ...],
    ladder: tuple[Step, ...] = (),
) -> Guarantee:
    """The card of a run with noise. What it proves is the reading under replace-one at the spec's delta."""
    ours = [r for r in readings if r.adjacency == REPLACE_ONE and r.delta == request.delta]
    return Guarantee(
        model=model,
        trust=trust,
        unit=UNIT,
        adjacency="replace one user's whole trajectory by another",
        mechanism=mechanism.title,
        where=where,
        noise_formula=formula,
        noise_scale=scale,
        noise_std=std,
        claimed_epsilon=request.epsilon,
        claimed_delta=claimed_delta,
        proved_epsilon=ours[0].epsilon if ours and math.isfinite(ours[0].epsilon) else None,
        proved_delta=request.delta if ours else None,
        readings=tuple(r for r in readings if math.isfinite(r.epsilon)),
        ladder=ladder,
        assumptions=assumptions,
        sources=sources,
    )
