"""The clinic that a class plays on phones. Each phone is a simulated patient who sends randomised answers.

A patient follows the advice of an algorithm that has no data yet: DP-UCBVI's policy before its first user. The phone
draws the episode and keeps it. It also draws the steps that it is asked about and, for each of them, one part: the
transition (m), the state (n), or the reward (r). An answer is a one-hot vector over the rows with the advised action.
Each bit is flipped with a fixed probability, as in the mechanism `unary` with `reports="played"`
(dprl/privacy/mechanisms/unary.py). Only these bits leave the phone.

assets/web/patient.js writes reports as GROUP-PARTBITS-PARTBITS..., such as `2-n010011`: one part for each step of the
group, in order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.mdp import TabularMDP
from dprl.metrics.curves import Array
from dprl.privacy.mechanisms.unary import asking
from dprl.rooms.response import DRAWS, flip, opposites
from dprl.statistics.counts import FITTED

ENVIRONMENT, PARAMETERS = "clinic", {"levels": 2, "doses": 3, "H": 4}
ADVISED = 0  # the initial advice is always the first action (no drug), because all actions look equal
PARTS = "mnr"
FORM = re.compile(r"[0-9](?:-[mnr][01]+)+")


class Answered(NamedTuple):
    """One answer in a report: its step, the kind of count that it contributes to, and its randomised bits."""

    step: int  # 0, 1, ...
    part: int  # 0 for m, 1 for n, 2 for r
    bits: tuple[int, ...]  # [S] or, for m, [S * S]


class Asking(NamedTuple):
    """The questions that phones are asked at a given epsilon.

    Attributes:
        groups: the number of groups of steps; a phone answers about the steps of one group.
        bit: the epsilon of one bit; two answers differ in at most two bits.
        shares: the probabilities of the parts.
    """

    groups: int
    bit: float
    shares: tuple[float, float, float]

    def steps(self, group: int, H: int) -> range:
        """Return the steps about which the phones in a group are asked."""
        return range(group, H, self.groups)

    def chance(self, part: int) -> float:
        """Return the probability that a user is asked about this part (transition, visit or reward) of a step."""
        return self.shares[part] / self.groups


@lru_cache(maxsize=1)
def world() -> TabularMDP:
    """Return the clinic's MDP."""
    return ENVIRONMENTS[ENVIRONMENT].make(**PARAMETERS)


@lru_cache(maxsize=64)
def asking_at(epsilon: float) -> Asking:
    """Return the questions that the simulator asks its users at this epsilon."""
    counts = FITTED.evened()
    weights = np.array([1.0, counts.visits**2, counts.reward**2])
    shares = (weights / weights.sum()).tolist()
    groups, bit, _ = asking(world().H, (shares[0], shares[1], shares[2]), epsilon)[0]
    return Asking(int(groups), float(bit), (shares[0], shares[1], shares[2]))


def parse_report(report: str, epsilon: float) -> list[Answered] | None:
    """Parse the answers in a report, or return None if no phone could have sent it."""
    mdp, asked = world(), asking_at(epsilon)
    if len(report) > 200 or not FORM.fullmatch(report):
        return None
    head, *parts = report.split("-")
    steps = asked.steps(int(head), mdp.H)
    if int(head) >= asked.groups or len(parts) != len(steps):
        return None
    found = [
        Answered(step, PARTS.index(text[0]), tuple(map(int, text[1:])))
        for step, text in zip(steps, parts, strict=True)
    ]
    return found if all(len(one.bits) == width(one.part) for one in found) else None


def width(part: int) -> int:
    """Return the number of bits in an answer: one for each state or, for a transition, one for each pair of states."""
    return world().S ** (2 if part == 0 else 1)


def spread_of_visits(n: int, epsilon: float) -> float:
    """Return the standard deviation of `visits_read` with n reports in the worst case, in which everybody is always in
    the same state. A phone's reports on different steps are uncorrelated, so their variances add up."""
    asked = asking_at(epsilon)
    turned = flip(asked.bit)
    noise = turned * (1 - turned) / (1 - 2 * turned) ** 2
    return math.sqrt(world().H * n * (noise + 1) / asked.chance(1))


def visits_read(reports: Iterable[str], epsilon: float) -> Array:
    """Return an unbiased estimate, from the reports, of the visits to each state [S], summed over all steps."""
    asked = asking_at(epsilon)
    turned = flip(asked.bit)
    answers = (one for report in reports for one in parse_report(report, epsilon) or ())
    bits = np.array([one.bits for one in answers if one.part == 1], dtype=float).reshape(-1, world().S)
    return np.asarray((bits - turned).sum(0) / ((1 - 2 * turned) * asked.chance(1)))


def visits_expected(n: int) -> Array:
    """Return the expected visits to each state [S], summed over all steps, for n patients who follow the advice."""
    mdp = world()
    here = n * np.asarray(mdp.d1, dtype=float)
    visits = np.zeros(mdp.S)
    for h in range(mdp.H):
        visits += here
        here = here @ mdp.P[h, :, ADVISED]
    return visits


def on_phone(epsilon: float) -> Mapping[str, Any]:
    """Return the data that a phone needs to play, in which integers up to DRAWS represent the probabilities."""
    mdp, asked = world(), asking_at(epsilon)
    return {
        "start": outcomes(mdp.d1),
        "moves": [[outcomes(row) for row in mdp.P[h, :, ADVISED]] for h in range(mdp.H)],
        "rewards": [[round(float(r) * DRAWS) for r in mdp.R[h, :, ADVISED]] for h in range(mdp.H)],
        "groups": asked.groups,
        "turned": opposites(asked.bit),
        "parts": outcomes(asked.shares),
        "states": list(mdp.state_labels),
        "advice": [[str(mdp.action_labels[ADVISED])] * mdp.S] * mdp.H,
    }


def outcomes(chances: Any) -> list[int]:
    """Divide the DRAWS outcomes among events by probability, and return where each event's range ends."""
    sums = [min(round(float(s) * DRAWS), DRAWS) for s in np.cumsum(chances)]
    last = max(i for i, chance in enumerate(chances) if chance > 0)
    return [*sums[:last], *[DRAWS] * (len(sums) - last)]
