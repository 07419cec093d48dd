"""The joint guarantee of draws of noise, for replacing one person: the sum that a budget keeps.

In each reading of a file, a person is in one half, learned from or held out, and draws add up within a half. Draws of
different readings are assumed to be about the same people.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context
from typing import Any, NamedTuple

from dprl.privacy.accounting import gaussian_epsilon, zcdp_of
from dprl.privacy.exact import Apart
from dprl.privacy.guarantee import budget as pair
from dprl.privacy.losses import Gaussian, Losses
from dprl.privacy.privatizers.privatizer import REFERENCE_DELTA

FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)


@dataclass(frozen=True)
class Draw:
    """Noise that is drawn once.

    Attributes:
        key: equal exactly if the noise is the same.
        read: the reading of a file that it belongs to; half: 0 for the people learned from, 1 for those held out.
        losses: the losses of replacing one person of that half.
        apart: the distance of noise on the grid from continuous noise.
    """

    key: str
    read: str
    half: int
    losses: Losses
    apart: Apart

    def to_dict(self) -> dict[str, Any]:
        """Return the form for JSON."""
        return asdict(self) | {"losses": [asdict(loss) for loss in self.losses], "apart": list(self.apart)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Draw:
        """Read the output of `to_dict`. Raises KeyError, TypeError or ValueError for anything else."""
        losses = tuple(Gaussian(**values) for values in given["losses"])
        return cls(given["key"], given["read"], int(given["half"]), losses, Apart(*given["apart"]))


class Spent(NamedTuple):
    """The joint guarantee of draws, for replacing one person.

    Attributes:
        rho: the rho of zero-concentrated privacy, which adds up (Bun, Steinke 2016, Lemma 1.7).
        apart: the total distance of noise on the grid from continuous noise.
    """

    rho: float
    apart: Apart

    def epsilon(self, delta: float) -> float:
        """Return an epsilon for which all draws together are (epsilon, delta)-private: exactly, for Gaussian noise
        with mu^2/2 = rho (Balle, Wang 2018, Theorem 8), plus the effect of the grid."""
        if self.rho == 0:
            return 0.0
        exact = gaussian_epsilon(math.sqrt(2 * self.rho), self.apart.delta(delta))
        return min(
            self.rho + 2 * math.sqrt(self.rho * math.log(1 / delta)), exact + self.apart.up + self.apart.down
        )

    @property
    def text(self) -> str:
        """Return the guarantee as one number."""
        return f"ρ = {rounded(self.rho):g}"

    @property
    def implies(self) -> str:
        """Return the pair (epsilon, delta) that rho implies."""
        return pair(rounded(self.epsilon(REFERENCE_DELTA)), REFERENCE_DELTA)


def rounded(value: float) -> float:
    """Round up to four digits, so that the written number is proved; errors beyond nine digits are dropped first."""
    return float(FOUR_DIGITS.create_decimal(f"{value:.9g}"))


def together(draws: Iterable[Draw]) -> Spent:
    """Return the joint guarantee of draws; a repeated draw counts once."""
    once = {draw.key: draw for draw in draws}
    reads: defaultdict[str, defaultdict[int, list[Draw]]] = defaultdict(lambda: defaultdict(list))
    for draw in once.values():
        reads[draw.read][draw.half].append(draw)
    rho = up = down = 0.0
    for halves in reads.values():
        composed = [tuple(loss for draw in half for loss in draw.losses) for half in halves.values()]
        rho += max(map(zcdp_of, composed))
        up += max(sum(draw.apart.up for draw in half) for half in halves.values())
        down += max(sum(draw.apart.down for draw in half) for half in halves.values())
    return Spent(rho, Apart(up, down))
