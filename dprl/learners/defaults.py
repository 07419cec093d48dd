"""The common defaults of learners: the record of a learner contains only its differences from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from dprl.fields import Field, SpecError
from dprl.mdp import Size

PlannerT = TypeVar("PlannerT")
StatisticT = TypeVar("StatisticT")
NOTHING: Mapping[str, str] = {}


class LearnerDefaults:
    """Attributes of a `Learner` as they are unless its record says otherwise."""

    fields: tuple[Field, ...] = ()
    needs: str = ""
    schedule: str = ""
    forgets: bool = False
    note: str = ""
    reconstructed: bool = False
    uncovered: str = ""

    @property
    def declarable(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    @property
    def refused(self) -> Mapping[str, str]:
        """No privacy model."""
        return NOTHING

    def refusal(self, size: Size, K: int) -> SpecError | None:
        """Return None: a problem that is too large is refused like every run."""
        return None

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        """Raise NotImplementedError, because it has no schedule of its own."""
        raise NotImplementedError

    def pace(self, private: bool) -> str:
        """Return "": a run describes its releases."""
        return ""

    def seconds(self, size: Size, K: int) -> float:
        """Nothing beyond planning once a release."""
        return 0.0


class PlannedLearner(LearnerDefaults, Generic[PlannerT, StatisticT]):
    """The same of a learner that has a planner for each set of constants.

    Attributes:
        planners: by bonus, the first is the default.
    """

    planners: Mapping[str, PlannerT]

    @property
    def bonuses(self) -> tuple[str, ...]:
        """The bonuses that have planners."""
        return tuple(self.planners)

    @property
    def statistic(self) -> StatisticT:
        """With the default bonus."""
        return self.seen(self.bonuses[0])

    def seen(self, bonus: str) -> StatisticT:
        """Return the statistic that it sees of its users with a set of constants."""
        raise NotImplementedError

    def planner(self, bonus: str) -> PlannerT:
        """Return the learner's planning with a set of constants."""
        return self.planners[bonus]
