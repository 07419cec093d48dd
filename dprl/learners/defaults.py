"""Default attributes of learners; the record of a learner sets only those that differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from dprl.fields import Field, SpecError
from dprl.mdp import Size

PlannerT = TypeVar("PlannerT")
StatisticT = TypeVar("StatisticT")
NOTHING: Mapping[str, str] = {}


class LearnerDefaults:
    """Values of a `Learner`'s attributes unless its record sets them."""

    fields: tuple[Field, ...] = ()
    needs: str = ""
    schedule: str = ""
    forgets: bool = False
    note: str = ""
    reconstructed: bool = False
    uncovered: str = ""

    @property
    def declarable(self) -> tuple[str, ...]:
        """Public facts that a spec may declare: none."""
        return ()

    @property
    def refused(self) -> Mapping[str, str]:
        """Privacy models that the learner does not support, with reasons: none."""
        return NOTHING

    def refusal(self, size: Size, K: int) -> SpecError | None:
        """Return None: the learner has no limits beyond those of every run."""
        return None

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        """Raise NotImplementedError, because this learner has no schedule of its own."""
        raise NotImplementedError

    def pace(self, private: bool) -> str:
        """Return "": the learner has no schedule of its own to describe."""
        return ""

    def seconds(self, size: Size, K: int) -> float:
        """Return 0: the learner plans nothing beyond one backward induction per release."""
        return 0.0


class PlannedLearner(LearnerDefaults, Generic[PlannerT, StatisticT]):
    """Default attributes of a learner that has one planner for each set of constants.

    Attributes:
        planners: by name of the bonus; the first is the default.
    """

    planners: Mapping[str, PlannerT]

    @property
    def bonuses(self) -> tuple[str, ...]:
        """The names of the bonuses."""
        return tuple(self.planners)

    @property
    def statistic(self) -> StatisticT:
        """The statistic that the learner receives with its default bonus."""
        return self.seen(self.bonuses[0])

    def seen(self, bonus: str) -> StatisticT:
        """Return the statistic that the learner receives about its users with this bonus."""
        raise NotImplementedError

    def planner(self, bonus: str) -> PlannerT:
        """Return the planner for this bonus."""
        return self.planners[bonus]
