"""Default attributes of learners; the record of a learner sets only attributes with other values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from dprl.fields import Field, SpecError
from dprl.mdp import Size

PlannerT = TypeVar("PlannerT")
StatisticT = TypeVar("StatisticT")
NOTHING: Mapping[str, str] = {}


class LearnerDefaults:
    """Default values of a `Learner`'s attributes, which its record may override."""

    fields: tuple[Field, ...] = ()
    needs: str = ""
    schedule: str = ""
    forgets: bool = False
    note: str = ""
    reconstructed: bool = False
    uncovered: str = ""

    @property
    def declarable(self) -> tuple[str, ...]:
        """The public facts that a spec may declare: none."""
        return ()

    @property
    def refused(self) -> Mapping[str, str]:
        """The privacy models that the learner does not support, each with the reason: none."""
        return NOTHING

    def refusal(self, size: Size, K: int) -> SpecError | None:
        """Return None, because the learner has no limits beyond those of every run."""
        return None

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        """Raise NotImplementedError, because this learner has no schedule of its own."""
        raise NotImplementedError

    def pace(self, private: bool) -> str:
        """Return "", because the learner has no schedule of its own."""
        return ""

    def seconds(self, size: Size, K: int) -> float:
        """Return 0, because the learner's only planning is one backward induction per release."""
        return 0.0


class PlannedLearner(LearnerDefaults, Generic[PlannerT, StatisticT]):
    """Default attributes of a learner that has one planner for each set of constants.

    Attributes:
        planners: the planners by the names of their bonuses; the first is the default.
    """

    planners: Mapping[str, PlannerT]

    @property
    def bonuses(self) -> tuple[str, ...]:
        """The names of the bonuses, the default first."""
        return tuple(self.planners)

    @property
    def statistic(self) -> StatisticT:
        """The statistic that the learner receives with its default bonus."""
        return self.seen(self.bonuses[0])

    def seen(self, bonus: str) -> StatisticT:
        """Return the statistic that the learner receives about its users if it plans with this bonus."""
        raise NotImplementedError

    def planner(self, bonus: str) -> PlannerT:
        """Return the planner for this bonus."""
        return self.planners[bonus]
