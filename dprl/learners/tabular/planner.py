"""The interface of tabular learners, which plan optimistically from released counts alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from dprl.fields import Field
from dprl.learners.learner import Learner, Problem
from dprl.learners.tabular import anytime
from dprl.mdp.structure import TYPE
from dprl.mdp.tabular import Array
from dprl.statistics.counts import FITTED, Counts

# A planner's kernel has the arguments (released, errors, possible, constants, Q, V, policy). released [H, S, A, B + 2]
# is its only data about users (mdp/counts.py). errors [H, S, A] are the bounds E of all rows, which differ only if
# releases of unchanged rows are averaged. possible lists the next states declared possible (mdp/structure.py), by
# default all S. Q [H, S, A], at first the previous optimistic values, V [H + 1, S] and policy [H, S] are overwritten.
_GIVEN = f"float64[:,:,:,::1], float64[:,:,::1], {TYPE}, float64[::1]"
SIGNATURE = f"void({_GIVEN}, float64[:,:,::1], float64[:,::1], int64[:,::1])"

# For a stochastic policy, the number of users since the last plan follows the constants, and the policy is Logits
# [H, S, A], at first the ones that these users played.
STOCHASTIC = f"void({_GIVEN}, int64, float64[:,:,::1], float64[:,::1], float64[:,:,::1])"

OWN = "own"  # name of the constants if a learner has neither a paper nor a proof


class Planner(NamedTuple):
    """A planner for one exploration bonus: the kernel `plan`, and the function that computes its array of constants."""

    plan: Callable[..., None]
    constants: Callable[[Problem], Array]


@dataclass(frozen=True, kw_only=True, repr=False)
class TabularLearner(Learner):
    """A learner that plans at every release. Raises ValueError if it has the anytime bonus but no kernel for it."""

    statistic: Counts  # NOISY, or CONSISTENT (post-processed as in Qiao, Wang 2023 (online), section 5.1)
    plan: Callable[..., None]  # the kernel, with the type SIGNATURE or STOCHASTIC
    constants: Callable[[Problem], Array]  # computes the array passed to the kernel
    anytime: Callable[..., None] | None = None  # the kernel for the anytime bonus, which uses FITTED counts
    bonuses: tuple[str, ...] = ()  # by default anytime and paper, or only OWN if `anytime` is None
    stochastic: bool = False  # True if its policy is stochastic and changes gradually

    loop = "replan"
    public = ("sizes",)
    declarable = ("structure",)

    def __post_init__(self) -> None:
        if not self.bonuses:
            object.__setattr__(self, "bonuses", ("anytime", "paper") if self.anytime else (OWN,))
        if "anytime" in self.bonuses and self.anytime is None:
            raise ValueError(
                f"bonuses: {self.key} lists anytime but has no kernel for it; give anytime=, or bonuses=('own',)"
            )

    def seen(self, bonus: str) -> Counts:
        """Return the type of counts for a bonus: FITTED for the anytime bonus, else the learner's own statistic."""
        return FITTED if bonus == "anytime" else self.statistic

    def planner(self, bonus: str) -> Planner:
        if self.anytime and bonus == "anytime":
            return Planner(self.anytime, anytime.constants)
        return Planner(self.plan, self.constants)


CAP = Field(
    "cap",
    "choice",
    "H",
    "upper limit of Q at step h: H as in the paper, or the most that can still be earned, H-h",
    choices=("H", "H-h"),
    when="not anytime",
)


def cap_slope(params: dict[str, Any]) -> float:
    """Return how much the cap on Q falls per step: 0 for the cap H, and 1 for H-h."""
    return 1.0 if params["cap"] == "H-h" else 0.0
