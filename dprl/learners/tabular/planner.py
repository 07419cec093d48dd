"""The interface of tabular learners, which plan optimistically at every release, from released counts alone."""

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

# kernel signature of a planner: (released, errors, possible, constants, Q, V, policy). released: [H, S, A, B + 2], see
# mdp/counts.py, the planner's only data about users; errors: [H, S, A], the E in use for each row, in counts: equal
# unless releases of unchanged rows are averaged; possible: next states declared possible, see mdp/structure.py, by
# default all S = B; constants: [..], from `TabularLearner.constants`; Q: [H, S, A], the previous optimistic values,
# overwritten; V: [H + 1, S] and policy: [H, S], overwritten.
_GIVEN = f"float64[:,:,:,::1], float64[:,:,::1], {TYPE}, float64[::1]"
SIGNATURE = f"void({_GIVEN}, float64[:,:,::1], float64[:,::1], int64[:,::1])"

# kernel signature for a stochastic policy: (released, errors, possible, constants, users, Q, V, policy). users: number
# of users since the last plan; policy: Logits [H, S, A], those that they played, overwritten.
STOCHASTIC = f"void({_GIVEN}, int64, float64[:,:,::1], float64[:,::1], float64[:,:,::1])"

OWN = "own"  # name of the constants of a learner without a paper or a proof


class Planner(NamedTuple):
    """A planner for one exploration bonus: the kernel `plan`, and the function that computes its array of constants."""

    plan: Callable[..., None]
    constants: Callable[[Problem], Array]


@dataclass(frozen=True, kw_only=True, repr=False)
class TabularLearner(Learner):
    """A learner that plans again at every release, from released counts.

    All other attributes are as in `Learner`.

    Raises:
        ValueError: the bonuses include anytime, but the learner has no kernel for it.
    """

    # `CONSISTENT` counts (post-processed, section 5.1 of Qiao, Wang 2023 (online)) or `NOISY` ones
    statistic: Counts
    plan: Callable[..., None]  # the kernel, with the type SIGNATURE or STOCHASTIC
    # constants(problem): returns the array passed to the kernel at every call
    constants: Callable[[Problem], Array]
    # the kernel for the anytime bonus (anytime.py), which uses `FITTED` counts; None if there is none
    anytime: Callable[..., None] | None = None
    # names of its sets of constants; by default anytime and paper, or only OWN if `anytime` is None
    bonuses: tuple[str, ...] = ()
    stochastic: bool = False  # whether its policy is stochastic and changes in steps

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
        """Return the planner for this exploration bonus."""
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
    """Return the amount by which the upper limit of Q falls per step: 0 for a limit of H, and 1 for H-h."""
    return 1.0 if params["cap"] == "H-h" else 0.0
