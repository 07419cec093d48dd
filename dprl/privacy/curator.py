"""A trusted curator of one data set, who sees all trajectories and gives noisy sums to one learner.

Each release has independent noise. A learner's queries may depend on earlier answers, because the accountant covers
adaptive composition. Noise on a grid (exact.py) has the same guarantee as continuous noise of the same scale, exactly
for pure and concentrated privacy, and otherwise up to the slack in `Apart`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import partial

from dprl.messages import filled
from dprl.privacy.accounting import calibrated, group_epsilon, repeated, rounded_up, zcdp_of
from dprl.privacy.exact import EXACT, SPACING, Apart
from dprl.privacy.guarantee import CARD, GRID, NOISE, Guarantee, Reading, budget
from dprl.privacy.losses import Losses
from dprl.privacy.mechanisms import MECHANISMS, Mechanism, stream_of_releases
from dprl.privacy.privatizers.none import NOTHING_PROMISED
from dprl.privacy.privatizers.privatizer import REFERENCE_DELTA, RETURNING, SMALL_DELTAS, TEXTS, Way, record
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from dprl.statistics.family import Family
from dprl.words import upward

ONCE = stream_of_releases(1)
RHO = Context(prec=12, rounding=ROUND_CEILING)
UNIT = "one trajectory (one whole episode of one user)"
ADJACENCY = "replace one trajectory of the data set by another"
NOISY_WAY, RAW_WAY = (record(Way, TEXTS["ways"][key]) for key in ("noisy", "raw"))


@dataclass(frozen=True)
class Promise:
    """A notion of differential privacy, such as zCDP, in which a privacy budget can be stated."""

    key: str  # its name in a spec
    title: str
    summary: str
    model: str  # its name in a guarantee
    mechanism: str  # the key of its noise; "" for no privacy
    fields: tuple[str, ...]  # the names of the numbers in a budget


PROMISES = {key: record(Promise, row, key=key) for key, row in TEXTS["promises"].items()}


@dataclass(frozen=True)
class Budget:
    """A privacy budget: rho (for zCDP), epsilon, or epsilon and delta."""

    promise: Promise
    rho: float | None = None
    epsilon: float | None = None
    delta: float | None = None

    @property
    def text(self) -> str:
        """Return the budget as text, such as "0.1-zCDP"."""
        if self.rho is not None:
            return f"{upward(self.rho):g}-zCDP"
        return f"{budget(self.epsilon or 0.0, self.delta or 0.0)}-DP"


@dataclass(frozen=True)
class CuratorNoise:
    """The noise that the curator adds to released sums, with its guarantee."""

    mechanism: Mechanism | None  # None without noise
    # the scale of each family's noise: a standard deviation, or the b of Laplace(b)
    scales: Mapping[str, float]
    # the losses of replacing one trajectory, for each half of the data set that it may be in
    losses: tuple[Losses, ...]
    guarantee: Guarantee
    # the number of releases that the guarantee covers, for each family and half
    times: Mapping[tuple[str, int], int]


NO_NOISE = CuratorNoise(None, {}, (), NOTHING_PROMISED, {})


def halves(families: Sequence[Family]) -> list[list[Family]]:
    """Group the families by the half of the data set that they use, in the order of the halves."""
    return [[f for f in families if f.half == half] for half in sorted({f.half for f in families})]


def losses_of(
    mechanism: Mechanism, families: Sequence[Family], scales: Mapping[str, float], adjacency: str
) -> tuple[Losses, ...]:
    """Return the privacy losses of changing one trajectory, over all releases, for each half of the data set."""
    found = []
    for half in halves(families):
        losses: Losses = ()
        for family in half:
            once = mechanism.losses(family.effect(adjacency), scales[family.name], ONCE)[0]
            losses += repeated(once, family.times)
        found.append(losses)
    return tuple(found)


def apart_of(
    mechanism: Mechanism,
    families: Sequence[Family],
    scales: Mapping[str, float],
    adjacency: str,
    size: int = 1,
) -> tuple[Apart, ...]:
    """Return the distance between noise on a grid and continuous noise, for `size` changes in each half of the data.
    Raises KeyError if the mechanism has no noise on a grid."""
    found = []
    for half in halves(families):
        up = down = 0.0
        for family in half:
            for count, shift in family.effect(adjacency).moves:
                one = EXACT[mechanism.key].apart(scales[family.name] / SPACING, size * shift / SPACING)
                cells = count * max(math.ceil(shift), 1)  # the change may be spread over this many cells
                times = family.times * cells * size
                up, down = up + times * one.up, down + times * one.down
        found.append(Apart(up, down))
    return tuple(found)


def calibrated_scales(
    mechanism: Mechanism, families: Sequence[Family], asked: Budget, exact: bool = False
) -> dict[str, float]:
    """Return the smallest noise scales, proportional to the families' weights, that stay within the budget. The budget
    covers replacing one trajectory. If `exact`, noise is drawn on a grid."""

    def at(factor: float) -> dict[str, float]:
        return {family.name: factor * family.weight for family in families}

    unit = losses_of(mechanism, families, at(1.0), REPLACE_ONE)
    if asked.rho is not None:
        return at(rounded_up(max(math.sqrt(zcdp_of(losses) / asked.rho) for losses in unit)))

    def least(half: int) -> float:
        def losses_at(factor: float) -> Losses:
            return losses_of(mechanism, families, at(factor), REPLACE_ONE)[half]

        epsilon, delta = asked.epsilon or 0.0, asked.delta or 0.0
        factor = calibrated(losses_at, epsilon, delta)
        if not exact or not delta:
            return factor
        apart = apart_of(mechanism, families, at(factor), REPLACE_ONE)[half]  # smaller with more noise
        return calibrated(losses_at, epsilon - apart.up - apart.down, apart.delta(delta))

    return at(max(least(half) for half in range(len(unit))))


def rho_of(families: Sequence[Family], scales: Mapping[str, float]) -> float:
    """Return the rho of zCDP for replacing one trajectory in the worse half of the data, rounded up to 12 digits."""

    def spent(family: Family) -> Fraction:
        squares = sum(count * Fraction(size) ** 2 for count, size in family.change.moves)
        return family.times * squares / (2 * Fraction(scales[family.name]) ** 2)

    worse = max(sum(map(spent, half), Fraction(0)) for half in halves(families))
    found = float(RHO.divide(Decimal(worse.numerator), Decimal(worse.denominator)))
    return found if Fraction(found) >= worse else math.nextafter(found, math.inf)


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
    exact: bool = False,
) -> CuratorNoise:
    """Prepare noise with these scales, and prove its guarantee for `n` trajectories. `assumptions` are those besides
    the trusted curator. If `exact`, noise is drawn on a grid. The other arguments are texts for the guarantee."""
    mechanism = MECHANISMS[asked.promise.mechanism]
    replaced = losses_of(mechanism, families, scales, REPLACE_ONE)

    def proved(adjacency: str, d: float, size: int = 1) -> float:
        """Return the epsilon that we can prove for `size` joint changes at delta = d."""
        places = losses_of(mechanism, families, scales, adjacency)
        if not exact:
            return max(group_epsilon(losses, size, d) for losses in places)
        apart = apart_of(mechanism, families, scales, adjacency, size)
        of = [partial(group_epsilon, losses, size) for losses in places]
        return max(a.epsilon(continuous, d) for a, continuous in zip(apart, of, strict=True))

    deltas = {REFERENCE_DELTA, *SMALL_DELTAS, asked.delta or 0.0}
    readings = tuple(
        Reading(adjacency, proved(adjacency, d), d, "our accountant")
        for adjacency in (REPLACE_ONE, BLANK_ONE)
        for d in sorted(deltas)
        if d > 0 or not mechanism.needs_delta
    )
    delta = asked.delta or (REFERENCE_DELTA if mechanism.needs_delta else 0.0)
    again = proved(REPLACE_ONE, delta, RETURNING)
    low, high = min(scales.values()), max(scales.values())
    scale = low if low == high else None
    said = {"formula": formula}
    if scale is None:
        said |= {"low": f"{low:.4g}", "high": f"{high:.4g}"}
    if exact:
        said["grid"] = GRID
    if len(said) > 1:
        name = "_".join(["curator", *["scales"] * (scale is None), *["exact"] * exact])
        formula = filled(NOISE[name], **said)
    return CuratorNoise(
        mechanism=mechanism,
        scales=dict(scales),
        losses=replaced,
        guarantee=Guarantee(
            model=asked.promise.model,
            trust=CARD["trust"]["curator"],
            unit=UNIT,
            adjacency=ADJACENCY,
            mechanism=f"Discrete {mechanism.title}" if exact else mechanism.title,
            where=where,
            noise_formula=formula,
            noise_scale=scale,
            noise_std=None if scale is None else scale * float(mechanism.std(ONCE)[0]),
            claimed_epsilon=asked.epsilon,
            claimed_delta=None if asked.epsilon is None else asked.delta or 0.0,
            proved_epsilon=proved(REPLACE_ONE, delta),
            proved_delta=delta,
            readings=readings,
            assumptions=("the curator is trusted", *assumptions),
            sources=sources,
            public=public,
            users=n,
            returning=(RETURNING, again) if math.isfinite(again) else None,
            claimed_rho=asked.rho,
            proved_rho=rho_of(families, scales),
        ),
        times={(family.name, family.half): family.times for family in families},
    )
