"""The curator of a data set: sees all trajectories, and releases sums of them with noise, for one learner.

Noise is independent from release to release. What a learner asks for may follow from what it was given before: adaptive
composition, which the accountant's losses allow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dprl.privacy.accounting import (
    Losses,
    calibrated,
    epsilon_of,
    group_epsilon,
    repeated,
    rounded_up,
    zcdp_of,
)
from dprl.privacy.guarantee import Guarantee, Reading, budget
from dprl.privacy.mechanisms import MECHANISMS, Mechanism, stream_of_releases
from dprl.privacy.privatizers.none import NOTHING_PROMISED
from dprl.privacy.privatizers.privatizer import REFERENCE_DELTA, RETURNING, SMALL_DELTAS
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from dprl.statistics.family import Family

ONCE = stream_of_releases(1)
UNIT = "one trajectory: one whole episode of one person"
ADJACENCY = "replace one trajectory of the data set by another"
TRUST = (
    "The curator sees every trajectory and is trusted; all that leaves it (the learned policy, its values, the "
    "noisy sums) is private."
)


@dataclass(frozen=True)
class Way:
    """The way that data take, as pages draw it; see `privacy.privatizers.Words`, which has the same for online runs."""

    stations: tuple[str, ...]
    raw: int
    noise: int | None
    trusted: int | None
    mixes: int | None
    alt: str


STATIONS = ("people", "curator", "learner")
NOISY_WAY = Way(
    STATIONS, 2, 1, 1, None,
    "People's trajectories go to the trusted curator, which adds noise; only what it releases, from which the learner "
    "plans, is private.",
)  # fmt: skip
RAW_WAY = Way(
    STATIONS, 3, None, None, None,
    "The learner is told raw sums, which its policy may reveal to everybody; nothing is hidden.",
)  # fmt: skip


@dataclass(frozen=True)
class Promise:
    """A notion of privacy in which a budget is stated.

    Attributes:
        key: its name in a spec.
        title, summary: in words, for menus.
        model: for a guarantee card.
        mechanism: key of the noise.
        fields: names of the numbers that make a budget.
    """

    key: str
    title: str
    summary: str
    model: str
    mechanism: str
    fields: tuple[str, ...]


PROMISES: dict[str, Promise] = {
    p.key: p
    for p in (
        Promise(
            "zcdp",
            "Zero-concentrated",
            "rho-zCDP, which composes by adding up; Gaussian noise.",
            "zCDP",
            "gaussian",
            ("rho",),
        ),
        Promise("pure", "Pure", "(epsilon, 0); Laplace noise.", "DP", "laplace", ("epsilon",)),
        Promise(
            "approximate",
            "Approximate",
            "(epsilon, delta); Gaussian noise.",
            "DP",
            "gaussian",
            ("epsilon", "delta"),
        ),
        Promise("none", "No privacy", "Raw sums: the comparison.", "none", "", ()),
    )
}


@dataclass(frozen=True)
class Budget:
    """What is promised: rho of zCDP, or epsilon, or epsilon and delta."""

    promise: Promise
    rho: float | None = None
    epsilon: float | None = None
    delta: float | None = None

    @property
    def text(self) -> str:
        """As people write it."""
        if self.rho is not None:
            return f"{self.rho:g}-zCDP"
        return f"{budget(self.epsilon or 0.0, self.delta or 0.0)}-DP"


@dataclass(frozen=True)
class CuratorNoise:
    """What a curator adds to what it releases.

    Attributes:
        mechanism: None for no noise.
        scales: of each family's noise, by name: the standard deviation of Gaussian noise, the b of Laplace(b).
        losses: what replacing one trajectory reveals, for each half of the data set that it may be in.
        guarantee: what is claimed and proved.
        times: by family and half, how many releases of it that speaks of.
    """

    mechanism: Mechanism | None
    scales: Mapping[str, float]
    losses: tuple[Losses, ...]
    guarantee: Guarantee
    times: Mapping[tuple[str, int], int]


NO_NOISE = CuratorNoise(None, {}, (), NOTHING_PROMISED, {})


def losses_of(
    mechanism: Mechanism, families: Sequence[Family], scales: Mapping[str, float], adjacency: str
) -> tuple[Losses, ...]:
    """What one neighbouring change reveals in all releases together, for each half that it may be in."""
    found = []
    for half in sorted({family.half for family in families}):
        losses: Losses = ()
        for family in families:
            if family.half == half:
                change = family.change if adjacency == REPLACE_ONE else family.blanked
                losses += repeated(mechanism.losses(change, scales[family.name], ONCE)[0], family.times)
        found.append(losses)
    return tuple(found)


def tight_scales(mechanism: Mechanism, families: Sequence[Family], asked: Budget) -> dict[str, float]:
    """The least noise, in the proportions of the families' weights, that proves a budget under replace-one."""

    def at(factor: float) -> dict[str, float]:
        return {family.name: factor * family.weight for family in families}

    unit = losses_of(mechanism, families, at(1.0), REPLACE_ONE)
    if asked.rho is not None:
        return at(rounded_up(max(math.sqrt(_zcdp(losses) / asked.rho) for losses in unit)))

    def least(half: int) -> float:
        def losses_at(factor: float) -> Losses:
            return losses_of(mechanism, families, at(factor), REPLACE_ONE)[half]

        return calibrated(losses_at, asked.epsilon or 0.0, asked.delta or 0.0)

    return at(max(least(half) for half in range(len(unit))))


def _zcdp(losses: Losses) -> float:
    found = zcdp_of(losses)
    if found is None:
        raise ValueError("no bound of concentrated privacy is known for this noise")
    return found


def prepare(
    families: Sequence[Family],
    asked: Budget,
    scales: Mapping[str, float],
    *,
    n: int,
    formula: str,
    where: str,
    sources: tuple[str, ...],
    public: tuple[str, ...],
    assumptions: tuple[str, ...],
) -> CuratorNoise:
    """Noise of these scales, and what it proves.

    Args:
        families: what is released.
        asked: the budget that the noise was made for.
        scales: by family.
        n: trajectories in the data set.
        formula, where, sources: words for the card.
        public: what the learner takes as known by everybody.
        assumptions: for the card, beside the curator's being trusted.
    """
    mechanism = MECHANISMS[asked.promise.mechanism]
    replaced = losses_of(mechanism, families, scales, REPLACE_ONE)
    deltas = {REFERENCE_DELTA, *SMALL_DELTAS, asked.delta or 0.0}
    readings = tuple(
        Reading(adjacency, max(epsilon_of(losses, d) for losses in places), d, "our accountant")
        for adjacency, places in (
            (REPLACE_ONE, replaced),
            (BLANK_ONE, losses_of(mechanism, families, scales, BLANK_ONE)),
        )
        for d in sorted(deltas)
        if d > 0 or not mechanism.needs_delta
    )
    delta = asked.delta or (REFERENCE_DELTA if mechanism.needs_delta else 0.0)
    again = max(group_epsilon(losses, RETURNING, delta) for losses in replaced)
    low, high = min(scales.values()), max(scales.values())
    scale = low if low == high else None
    if scale is None:
        formula += f"; its scale in one number is {low:.4g} to {high:.4g}, by what is summed"
    return CuratorNoise(
        mechanism=mechanism,
        scales=dict(scales),
        losses=replaced,
        guarantee=Guarantee(
            model=asked.promise.model,
            trust=TRUST,
            unit=UNIT,
            adjacency=ADJACENCY,
            mechanism=mechanism.title,
            where=where,
            noise_formula=formula,
            noise_scale=scale,
            noise_std=None if scale is None else scale * float(mechanism.std(ONCE)[0]),
            claimed_epsilon=asked.epsilon,
            claimed_delta=None if asked.epsilon is None else asked.delta or 0.0,
            proved_epsilon=max(epsilon_of(losses, delta) for losses in replaced),
            proved_delta=delta,
            readings=readings,
            ladder=(),
            assumptions=("the curator is trusted", *assumptions),
            sources=sources,
            public=public,
            users=n,
            returning=(RETURNING, again) if math.isfinite(again) else None,
            claimed_rho=asked.rho,
            proved_rho=float(f"{max(_zcdp(losses) for losses in replaced):.12g}"),
        ),
        times={(family.name, family.half): family.times for family in families},
    )
