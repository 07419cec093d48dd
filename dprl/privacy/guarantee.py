"""The privacy guarantee of a run, as stated and as proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dprl.messages import filled, messages
from dprl.messages.brief import tabulated
from dprl.privacy.exact import BITS
from dprl.words import upward

CARD = messages("cards")
WHERE, NOISE, SENT, ASSUMED = CARD["where"], CARD["noise"], CARD["sent"], CARD["assumed"]
UNIT = "one user: one whole episode"
SIMULATION: str = ASSUMED["simulation"]
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
GRID = f"2{str(-BITS).translate(_SUPERSCRIPT)}"
DRAWN = filled(ASSUMED["drawn"], grid=GRID)
SCOPE: list[str] = ASSUMED["scope"]  # the limits of every guarantee


def budget(epsilon: float, delta: float) -> str:
    """Return (epsilon, delta) as text, rounded up, for example (1, 10⁻⁶), (0.5, 2.5×10⁻⁸) or (2, 0.05)."""
    mantissa, _, exponent = f"{upward(delta, 3):.3g}".partition("e")
    if exponent:
        ten = f"10{str(int(exponent)).translate(_SUPERSCRIPT)}"
        mantissa = ten if mantissa == "1" else f"{mantissa}×{ten}"
    return f"({upward(epsilon):g}, {mantissa})"


@dataclass(frozen=True)
class Reading:
    """One proved guarantee, (epsilon, delta) for one definition of neighbours, with the source of its proof."""

    adjacency: str
    epsilon: float
    delta: float
    how: str


@dataclass(frozen=True)
class LadderStep:
    """One kind of noise in a series from the paper's noise down to the smallest.

    std: the standard deviation of the noise in a visit counter. idea: the change from the previous step; in the first
    step with an idea, the change from the first step.
    """

    what: str
    std: float
    epsilon: float
    delta: float
    idea: str = ""


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of a run, as stated and as proved.

    Attributes:
        model: JDP, LDP, SDP, zCDP, DP or none.
        trust: a sentence on who sees raw data and who is trusted.
        unit, where: the unit of protection, and the place where noise is added.
        noise_formula, noise_scale: the size of one draw for a counter n, in counts.
        noise_std: the standard deviation of one released counter n at the worst release, in counts.
        claimed_*: the stated guarantee; for noise as in the paper, the one that the paper states.
        proved_*: the guarantee that we prove for this noise under replace-one at the spec's delta.
        claimed_rho, proved_rho: the rho of zero-concentrated privacy, for an offline run.
        readings: further proved guarantees.
        ladder: the noise that other mechanisms would need.
        public: facts that the learner assumes to be public, which are therefore not protected.
        users, contribution: the number of users, and the largest number of episodes of one user, all of them protected.
        returning: a number of episodes, and the epsilon proved at proved_delta for a user who has that many.
        messages: a description of one user's messages, if there is more than one report.

    Numbers are None without a stated guarantee; scale and std are also None if sums have noise of different sizes.
    """

    model: str
    trust: str
    unit: str
    adjacency: str
    mechanism: str
    where: str
    noise_formula: str
    noise_scale: float | None = None
    noise_std: float | None = None
    claimed_epsilon: float | None = None
    claimed_delta: float | None = None
    proved_epsilon: float | None = None
    proved_delta: float | None = None
    readings: tuple[Reading, ...] = ()
    ladder: tuple[LadderStep, ...] = ()
    assumptions: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    users: int | None = None
    returning: tuple[int, float] | None = None
    messages: str = ""
    claimed_rho: float | None = None
    proved_rho: float | None = None
    contribution: int = 1

    def __repr__(self) -> str:
        told = [f"model {self.model}"]
        for word, rho, epsilon, delta in (
            ("claimed", self.claimed_rho, self.claimed_epsilon, self.claimed_delta),
            ("proved", self.proved_rho, self.proved_epsilon, self.proved_delta),
        ):
            if rho is not None:
                told.append(f"{word} rho {upward(rho):g}")
            if epsilon is not None:
                told.append(f"{word} (epsilon, delta) {budget(epsilon, delta or 0.0)}")
        return f"Guarantee({', '.join(told)}; noise: {self.mechanism})"

    _repr_html_ = tabulated

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as JSON data, leaving out rho if it is None and contribution if it is 1."""
        whole = asdict(self)
        if self.contribution == 1:
            del whole["contribution"]
        for name in ("claimed_rho", "proved_rho"):
            if whole[name] is None:
                del whole[name]
        return whole

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Guarantee:
        """Restore a guarantee from the output of `to_dict`. Raises TypeError if fields are missing or unknown."""
        known: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
        known["readings"] = tuple(Reading(**r) for r in known.get("readings", ()))
        known["ladder"] = tuple(LadderStep(**s) for s in known.get("ladder", ()))
        return cls(**known)
